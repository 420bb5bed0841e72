import type { Verdict } from '../../npcs/domain/events.js';
import { followTurn } from '../follow-turn.js';
import { createPushed, interleaved } from '../interleaved.js';
import type { Listening } from '../listening.js';
import { createSpeech, type Speech, type SpeechEvent } from '../speech.js';
import {
  type AgentDeps,
  type AgentOutcome,
  noVerdictYet,
  streamEndInTime,
  TurnExpired,
  TurnFailed,
} from '../process-input.js';
import { type AgentInput, retryKey } from '../take-input.js';
import { abortWith } from '../../../kernel/concurrency/abort-with.js';
import { whenDown } from '../when-down.js';
import { isRejectionCode, Rejection, type RejectionCode } from '../../../kernel/base/rejection.js';
import type { CortexEngine } from '../../../ports/cortex.js';
import { errorBody, refusalOf } from '../../../kernel/http/on-error.js';
import { defined } from '../../../kernel/base/defined.js';
import type { Call } from '../../../kernel/http/route.js';

const toldOf = (memories: AgentOutcome['memories'], isPlayer: boolean): readonly string[] =>
  isPlayer ? [] : memories.map(({ text }) => text);

/**
 * The response for a turn that has ended.
 * @param isPlayer whether a player gets it, who is told nothing of the mind
 * @throws Rejection the code of the refusal, when the verdict was none
 */
const answerOf = ({ turnId, verdict, memories }: Omit<AgentOutcome, 'revision' | 'position'>, isPlayer: boolean) => {
  if (!verdict.valid) throw isPlayer ? refusedToPlayer(verdict) : refused(verdict);
  return {
    dialogue: verdict.dialogue,
    action: verdict.action ?? { type: 'SPEAK' },
    stateChanges: isPlayer ? {} : verdict.stateDelta,
    memoriesRecalled: toldOf(memories, isPlayer),
    turnId,
  };
};

/** What the player hears when a verdict is not valid: those of grammar 2 tell it apart from the reason. */
const heardInstead = ({ dialogue, reason }: Verdict): string => (reason === undefined ? '' : dialogue);
/** The same for a player: without a line of its own, the dialogue is the reason. */
const heardByPlayer = ({ dialogue, reason }: Verdict): string =>
  reason === undefined || dialogue === reason ? '' : dialogue;

const ended = (speech: Speech, verdict: Verdict, isPlayer: boolean): readonly SpeechEvent[] =>
  verdict.valid
    ? speech.decided(verdict.dialogue)
    : speech.withdrawn(isPlayer ? heardByPlayer(verdict) : heardInstead(verdict));

const refused = ({ code = 'RULE_REFUSED', dialogue, reason, details }: AgentOutcome['verdict']): Rejection => {
  const known: RejectionCode = isRejectionCode(code) ? code : 'RULE_REFUSED';
  // The verdicts of grammar 2 tell apart what the player hears and why.
  const told = reason === undefined ? details : { ...details, dialogue };
  return new Rejection(known, { message: reason ?? dialogue, ...defined({ details: told }) });
};

/** What a player gets to know of a refusal: what the player hears. Why tells of the rules and of the mind. */
const refusedToPlayer = (verdict: Verdict): Rejection => {
  const { code = 'RULE_REFUSED' } = verdict;
  const known: RejectionCode = isRejectionCode(code) ? code : 'RULE_REFUSED';
  return new Rejection(known, { message: 'The NPC does not do that.', details: { dialogue: heardByPlayer(verdict) } });
};

/** The same for an engine that is down or gives no answer: which it is, and what ails it, is not for players. */
export const shownError = (error: Rejection, isPlayer: boolean): Rejection => {
  const { turnId, cortexId, reason } = error.details;
  if (!isPlayer || (cortexId === undefined && reason === undefined)) return error;
  return new Rejection(error.code, { details: defined({ turnId }), ...defined({ retryAfter: error.retryAfter }) });
};

/** An answer or a refusal: both have written, so both tell the revision. */
export const answered = (
  outcome: AgentOutcome,
  requestId: string,
  isPlayer: boolean,
): { readonly status?: number; readonly body: unknown } => {
  try {
    return { body: answerOf(outcome, isPlayer) };
  } catch (refusal) {
    if (!(refusal instanceof Rejection)) throw refusal;
    const { status, body } = refusalOf(refusal, requestId, false);
    return { status, body };
  }
};

const eventOf = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
/** All events in one chunk; none if there are none. */
const spokenEvents = (events: readonly SpeechEvent[]): readonly string[] =>
  events.length === 0 ? [] : [events.map(({ event, data }) => eventOf(event, data)).join('')];

/** Expects the retry of a request once, unless it was answered before. Its client may leave before anything is sent, so its end is heard of twice. */
export const retryOf = ({ retries }: AgentDeps, asked: AgentInput, turnId: string): Retry => {
  let isSettled = false;
  return {
    answered: () => {
      isSettled = true;
    },
    expected: () => {
      if (!isSettled) retries.expect(retryKey(asked), turnId);
      isSettled = true;
    },
  };
};
type Retry = { readonly answered: () => void; readonly expected: () => void };

type Following = {
  readonly asked: AgentInput;
  readonly turnId: string;
  readonly requestId: string;
  /** When the answer must be there, on the monotonic clock. */
  readonly untilMs: number;
  readonly noteWritten: Call['noteWritten'];
  readonly cortex: CortexEngine;
  readonly retry: Retry;
  /** Hears what the engine writes; null if the dialogue is sent with the verdict. */
  readonly listening: Listening | null;
  readonly isPlayer: boolean;
};

/** The phases of a turn as Server-Sent Events. */
export const phasesOf = async function* (
  deps: AgentDeps,
  { asked, turnId, requestId, untilMs, noteWritten, cortex, retry, listening, isPlayer }: Following,
  left: AbortSignal,
): AsyncGenerator<string> {
  let hasEnded = false;
  const speech = createSpeech(turnId, deps.sentences);
  const heard = createPushed<SpeechEvent>();
  listening?.begin(turnId, (sentences) => {
    heard.push(speech.writing(sentences));
  });
  const ends = new AbortController();
  let hasRecalled = false;
  const notYet = (): Rejection => noVerdictYet(turnId, cortex, deps.embedder, hasRecalled);
  const down = whenDown(deps.clock, cortex, notYet);
  const cancel = deps.clock.after(Math.max(untilMs - deps.clock.monotonicMs(), 0), () => ends.abort());
  const letGo = abortWith(ends, left, down.signal);
  try {
    yield eventOf('opened', { turnId, stream: listening === null ? 'verified' : 'provisional' });
    const turn = followTurn(deps.events, asked.stream, turnId, ends.signal);
    for await (const next of interleaved(turn, heard)) {
      if ('others' in next) {
        yield* spokenEvents(next.others);
        continue;
      }
      const phase = next.one;
      switch (phase.phase) {
        case 'recalled':
          hasRecalled = true;
          yield eventOf('recalled', { turnId, memories: toldOf(phase.memories, isPlayer) });
          yield eventOf('thinking', { turnId });
          break;
        case 'ended': {
          const { revision, position } = await streamEndInTime(deps, asked.stream, turnId, untilMs);
          noteWritten(position);
          hasEnded = true;
          yield* spokenEvents([...heard.taken(), ...ended(speech, phase.verdict, isPlayer)]);
          yield eventOf('verdict', { ...answerOf({ turnId, ...phase }, isPlayer), revision });
          // Asked for more, so its client took this.
          retry.answered();
          return;
        }
        case 'failed':
          throw new TurnFailed(turnId, cortex, phase.reason);
        case 'expired':
          throw new TurnExpired(turnId, cortex, hasRecalled);
      }
    }
    if (!left.aborted) throw notYet();
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    yield* spokenEvents([...heard.taken(), ...speech.withdrawn('')]);
    // Its client may come again as soon as it reads this.
    if (error instanceof TurnExpired || error instanceof TurnFailed) retry.answered();
    else if (!hasEnded) retry.expected();
    yield eventOf('error', errorBody(shownError(error, isPlayer), requestId));
    if (hasEnded) retry.answered();
  } finally {
    retry.expected();
    cancel();
    letGo();
    ends.abort();
    down.stop();
  }
};
