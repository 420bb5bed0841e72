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

/**
 * The response for a turn that has ended.
 * @throws Rejection the code of the refusal, when the verdict was none
 */
const answerOf = ({ turnId, verdict, memories }: Omit<AgentOutcome, 'revision' | 'position'>) => {
  if (!verdict.valid) throw refused(verdict);
  return {
    dialogue: verdict.dialogue,
    action: verdict.action ?? { type: 'SPEAK' },
    stateChanges: verdict.stateDelta,
    memoriesRecalled: memories.map(({ text }) => text),
    turnId,
  };
};

/** What the player hears when a verdict is not valid: those of grammar 2 tell it apart from the reason. */
const heardInstead = ({ dialogue, reason }: Verdict): string => (reason === undefined ? '' : dialogue);

const ended = (speech: Speech, verdict: Verdict): readonly SpeechEvent[] =>
  verdict.valid ? speech.decided(verdict.dialogue) : speech.withdrawn(heardInstead(verdict));

const refused = ({ code = 'RULE_REFUSED', dialogue, reason, details }: AgentOutcome['verdict']): Rejection => {
  const known: RejectionCode = isRejectionCode(code) ? code : 'RULE_REFUSED';
  // The verdicts of grammar 2 tell apart what the player hears and why.
  const told = reason === undefined ? details : { ...details, dialogue };
  return new Rejection(known, { message: reason ?? dialogue, ...defined({ details: told }) });
};

/** An answer or a refusal: both have written, so both tell the revision. */
export const answered = (
  outcome: AgentOutcome,
  requestId: string,
): { readonly status?: number; readonly body: unknown } => {
  try {
    return { body: answerOf(outcome) };
  } catch (refusal) {
    if (!(refusal instanceof Rejection)) throw refusal;
    const { status, body } = refusalOf(refusal, requestId, false);
    return { status, body };
  }
};

const eventOf = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const spokenEvents = (events: readonly SpeechEvent[]): readonly string[] =>
  events.map(({ event, data }) => eventOf(event, data));

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
};

/** The phases of a turn as Server-Sent Events. */
export const phasesOf = async function* (
  deps: AgentDeps,
  { asked, turnId, requestId, untilMs, noteWritten, cortex, retry, listening }: Following,
  left: AbortSignal,
): AsyncGenerator<string> {
  let hasEnded = false;
  const speech = createSpeech(turnId);
  const heard = createPushed<SpeechEvent>();
  listening?.begin(turnId, (text) => {
    heard.push(speech.writing(text));
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
      if ('other' in next) {
        yield* spokenEvents([next.other]);
        continue;
      }
      const phase = next.one;
      switch (phase.phase) {
        case 'recalled':
          hasRecalled = true;
          yield eventOf('recalled', { turnId, memories: phase.memories.map(({ text }) => text) });
          yield eventOf('thinking', { turnId });
          break;
        case 'ended': {
          const { revision, position } = await streamEndInTime(deps, asked.stream, turnId, untilMs);
          noteWritten(position);
          hasEnded = true;
          yield* spokenEvents([...heard.taken(), ...ended(speech, phase.verdict)]);
          yield eventOf('verdict', { ...answerOf({ turnId, ...phase }), revision });
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
    yield eventOf('error', errorBody(error, requestId));
    if (hasEnded) retry.answered();
  } finally {
    retry.expected();
    cancel();
    letGo();
    ends.abort();
    down.stop();
  }
};
