import type { EventDraft } from '../../kernel/base/event-draft.js';
import type { DirectiveRuleSet } from '../rules/domain/ruleset.js';
import type { Sliced } from '../../kernel/base/sliced.js';
import { currentVersion } from '../../kernel/base/decoder.js';
import { npcEvents, type Instruction, type Verdict, type VerdictGrounds } from '../npcs/domain/events.js';
import { heldPatterns } from '../turns/domain/decision/observation-line.js';
import type { TurnFacts } from '../turns/domain/decision/turn-facts.js';
import type { ProtocolProbe } from './domain/policy.js';
import type { PlayedTurn } from './domain/events.js';
import type { Json, JsonObject } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { transitionOf } from '../../kernel/processes/state-machine.js';
import { turn } from '../../../workflows/turn/turn.js';
import type { TurnInput, TurnState } from '../../../workflows/turn/turn-state.js';
import { recallByWords } from './recall-by-words.js';
import type { SessionMind } from './session-mind.js';

/** The input of one turn of a mind in a session. */
export type TurnToBegin = {
  readonly npcId: string;
  readonly turnId: string;
  readonly mind: SessionMind;
  /** What the world has told the mind before the turn. */
  readonly report: PlayedTurn['events'];
  readonly persona: string;
  readonly ruleset: DirectiveRuleSet | null;
  readonly observation: string;
  readonly context: JsonObject;
  readonly npcState: JsonObject;
};

/** The text of its model. */
export type SpokenText = {
  readonly text: string;
  /** What is probed of the protocol in addition to the turn. */
  readonly probe?: ProtocolProbe;
};

/** The request to a model: the turn's instruction. */
export type SessionTurnPrompt = {
  readonly prompt: string;
  readonly constraints: JsonObject;
};

/** A turn that only lacks its model's text. It is finished once. */
export type BegunTurn = { readonly asked: SessionTurnPrompt; readonly finish: (said: SpokenText) => TurnOutcome };

export type TurnOutcome = {
  readonly played: PlayedTurn;
  readonly verdict: Verdict;
  readonly grounds: VerdictGrounds;
  /** The violation of the protocol that was found; null if there was none. */
  readonly broken: string | null;
};

/**
 * The violations of the protocol that probes can find. Each text is also the subject of an `engine_error` finding, which recorded sessions and
 * reproductions are compared by: with another text, the same finding would count as a new one. So the texts never change.
 */
export const protocolViolations = {
  staleStep: 'A result for an earlier round was recorded again.',
  contradictingTape: 'A contradiction was not noticed exactly once.',
  repeatedStep: 'A repeated result was recorded twice.',
} as const;

/** Sessions sign nothing, and their turns never expire. */
const ISSUER = { kid: 'ghost', iss: 'ghost' };
const NEVER = '9999-12-31T23:59:59.999Z';

/**
 * Begins a turn with the state machine that serves every body, in slices: opened, identified, recalled by words. The model's text then decides it.
 * Reads and writes nothing; the caller records the events.
 */
export function* beginSessionTurn(toBegin: TurnToBegin): Sliced<BegunTurn> {
  const { npcId, turnId, mind, report, ruleset, observation, context, npcState, persona } = toBegin;
  const held = yield* heldPatterns(ruleset, observation);
  const facts: TurnFacts = {
    npcId,
    mind: { persona: mind.persona, data: mind.data, facts: mind.facts ?? {}, revision: mind.revision },
    ruleset,
    rulesetRef: ruleset === null ? null : { rulesetId: ruleset.rulesetId, version: ruleset.version },
    ...(held.length === 0 ? {} : { patternsHeld: held }),
    issuer: ISSUER,
  };
  const events: EventDraft[] = [];
  let state = turn.initial;
  const take = (input: TurnInput): number => {
    const transition = transitionOf(turn, state, input);
    if (transition === 'ignore') return 0;
    if ('reject' in transition) throw new Rejection(transition.reject);
    const emitted = transition.emit(state, input, facts);
    for (const event of emitted) {
      state = turn.evolve(state, {
        ...event,
        revision: events.length,
        meta: { at: '', commandId: turnId, schemaVersion: currentVersion(npcEvents, event.type) },
      });
      events.push(event);
    }
    return emitted.length;
  };
  take({ type: 'open', turnId, observation, context, npcState, deadlineAt: NEVER });
  take({ type: 'actor', actor: { npcId, persona, data: {} } });
  const asksFor = instructionOf(state);
  const memories = asksFor?.type === 'QueryVector' ? recallByWords(mind.memories, asksFor) : [];
  take({ type: 'memories', memories });
  const asked = instructionOf(state);
  if (asked?.type !== 'ExecuteInference') throw new Error(`a turn of a session asks for no text in ${state.name}`);
  const { prompt, constraints } = asked;
  const finish = ({ text, probe }: SpokenText): TurnOutcome => {
    const broken: string[] = [];
    if (probe === 'stale_step' && take({ type: 'actor', actor: { npcId, persona, data: { stale: true } } }) > 0)
      broken.push(protocolViolations.staleStep);
    if (probe === 'contradicting_tape') {
      const member = { member: 'observation', recorded: observation, received: `${observation} Or not.` };
      const noticed = take({ type: 'mismatch', round: 2, members: [member] });
      const again = take({ type: 'mismatch', round: 2, members: [member] });
      if (noticed !== 1 || again !== 0) broken.push(protocolViolations.contradictingTape);
    }
    take({ type: 'output', generatedOutput: text });
    if (probe === 'repeat_step' && take({ type: 'output', generatedOutput: text }) > 0)
      broken.push(protocolViolations.repeatedStep);
    if (state.name !== 'ended' || state.verdict === undefined)
      throw new Error(`a turn of a session ended as ${state.name}`);
    const { verdict, grounds } = state.verdict;
    return {
      played: { npcId, events: [...report, ...events.map(compact)] },
      verdict,
      grounds,
      broken: broken.length === 0 ? null : broken.join(' '),
    };
  };
  return { asked: { prompt, constraints }, finish };
}

/** Plays a complete turn, for a model's text that is known beforehand. */
export function* playSessionTurn(toBegin: TurnToBegin, said: SpokenText): Sliced<TurnOutcome> {
  return (yield* beginSessionTurn(toBegin)).finish(said);
}

const instructionOf = (state: TurnState): Instruction | undefined => {
  const last = state.name === 'new' ? undefined : state.rounds.at(-1)?.instruction;
  return last === undefined || last.type === 'Finalize' ? undefined : last;
};

/** Derived values are computed again on demand: a million prompts would fill a disk. */
export const compact = ({ type, data }: EventDraft): PlayedTurn['events'][number] => {
  const { instruction: _instruction, deadlineAt: _deadline, ...kept } = data as Readonly<Record<string, Json>>;
  return { type, version: currentVersion(npcEvents, type), data: kept };
};
