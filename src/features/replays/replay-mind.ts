import { CURRENT_LOGIC, type Logic, logics } from '../turns/domain/decision/logic.js';
import { npcEvents, type NpcEvent } from '../npcs/domain/events.js';
import type { DifferenceKind, SkipReason } from './domain/difference-kinds.js';
import { evolveSummary, initialSummary, type MindSummary } from '../npcs/domain/state.js';
import { heldPatterns } from '../turns/domain/decision/observation-line.js';
import type { Sliced } from '../../kernel/base/sliced.js';
import type { DirectiveRuleSet, RulesetUsed } from '../rules/domain/ruleset.js';
import { defined } from '../../kernel/base/defined.js';
import type { JsonObject } from '../../kernel/base/json.js';
import { turn as turnProcess } from '../../../workflows/turn/turn.js';
import { besidesVerdict, verdictEvents } from '../../../workflows/turn/turn-events.js';
import type { OpenedTurn } from '../../../workflows/turn/turn-state.js';
import type { RecordedEvent } from '../../ports/event-store.js';
import {
  decideAgain,
  type DecisionEvent,
  isDecision,
  type DecisionOutcome,
  outcomeOf,
  type RedecisionBasis,
  restsOn,
} from './decide-again.js';
import { differenceOf, isSame } from './differences.js';

/** A replayed decision. `turnId` is absent for a check of the bridge. */
export type DecidedAgain = {
  readonly type: NpcEvent['type'];
  readonly revision: number;
  readonly turnId?: string;
  /** The rules in force at the time. */
  readonly ruleset: RulesetUsed | null;
  readonly was: DecisionOutcome;
  /** Only in a trial: the outcome under the current logic by the rules in force at the time. */
  readonly then?: DecisionOutcome;
  /** Null if it could not be replayed; `skipped` gives the reason. */
  readonly would: DecisionOutcome | null;
  /** How `would` differs from the record, or in a trial from `then`. */
  readonly difference: DifferenceKind | null;
  /** Only in a trial: how `then` differs from the record. */
  readonly byLogic?: DifferenceKind | null;
  readonly skipped?: SkipReason;
};

type Consequence = { readonly type: string; readonly data: JsonObject };

/**
 * The rules by which a decision is replayed: those in force at the time, as they were registered (null: the version is lost), or in a trial others.
 * `then`: those in force at the time, in a trial.
 */
export type RulesAgain =
  | { readonly trial: false; readonly rules: DirectiveRuleSet | null }
  | { readonly trial: true; readonly rules: DirectiveRuleSet | null; readonly then: DirectiveRuleSet | null };

/** The logics that are known here, by number, and the number of the current one. */
export type KnownLogics = { readonly all: Readonly<Record<number, Logic>>; readonly current: number };

const ownLogics: KnownLogics = { all: logics, current: CURRENT_LOGIC };

/** A decision to repeat, with what was recorded before it. */
type Repeated = {
  readonly event: DecisionEvent;
  readonly revision: number;
  readonly turn: OpenedTurn | undefined;
  /** The rules and the observation that it rests on. */
  readonly on: ReturnType<typeof restsOn>;
  readonly was: DecisionOutcome;
  /** A different text of the model, for a verdict. */
  readonly output: string | undefined;
};

/** Replays one mind's stream, starting with its first event. */
export type MindReplay = {
  /** The version of the rules that decided the next event; undefined for an event that is not a decision. */
  rulesOf(recorded: RecordedEvent): RulesetUsed | null | undefined;
  /**
   * Takes the next event, in slices.
   * @param output a different text of the model, for a verdict
   * @returns the replayed decisions: none, the event itself, or also an event that an earlier verdict should have recorded and did not
   */
  take(recorded: RecordedEvent, again: RulesAgain, output?: string): Sliced<readonly DecidedAgain[]>;
  /** Takes the next event without deciding anything. The events recorded alongside it are then not compared with anything. */
  pass(recorded: RecordedEvent): void;
};

/**
 * A replay of one mind. It folds persona, data and open turns as the live server does, and repeats the recorded decisions. It holds the mind and its
 * open turns, however long the stream is.
 */
export const createMindReplay = (npcId: string, { all, current }: KnownLogics = ownLogics): MindReplay => {
  let mind: MindSummary = initialSummary;
  const turns = new Map<string, OpenedTurn>();
  /** The patterns that match under the logic of a trial, for open turns: those of its rules, and those of the rules in force at the time. */
  const patternsHeld = { trial: new Map<string, readonly string[]>(), then: new Map<string, readonly string[]>() };
  /** The events that must accompany the last verdict; null while unknown. */
  let awaited: readonly Consequence[] | null = [];

  const turnOf = (event: { readonly data: object }): OpenedTurn | undefined => {
    const { turnId } = event.data as { readonly turnId?: string };
    return turnId === undefined ? undefined : turns.get(turnId);
  };

  const pass = (recorded: RecordedEvent): void => {
    mind = evolveSummary(mind, recorded);
    const turnId = recorded.data['turnId'];
    if (typeof turnId !== 'string') return;
    const after = turnProcess.evolve(turns.get(turnId) ?? turnProcess.initial, recorded);
    if (after.name === 'new') return;
    if (!turnProcess.over(after)) turns.set(turnId, after);
    else {
      turns.delete(turnId);
      patternsHeld.trial.delete(turnId);
      patternsHeld.then.delete(turnId);
    }
  };

  /** The patterns that match what a logic shows of the observation; the recorded ones matched what the recorded logic showed. */
  function* patternsFor(
    { event, on }: Repeated,
    { texts }: Logic,
    rules: DirectiveRuleSet | null,
    heldInTurn: Map<string, readonly string[]>,
  ) {
    const turnId = turnIdOf(event);
    const known = turnId === undefined ? undefined : heldInTurn.get(turnId);
    if (known !== undefined) return known;
    const held = yield* heldPatterns(rules, on.observation, texts);
    if (turnId !== undefined && (event.type === 'TurnOpened' || turns.has(turnId))) heldInTurn.set(turnId, held);
    return held;
  }

  const decideWith = (
    { event, turn }: Repeated,
    by: Pick<RedecisionBasis, 'logic' | 'rules' | 'patternsHeld' | 'output'>,
  ): DecisionOutcome => decideAgain({ npcId, mind, turn, ...by }, event);

  /**
   * Decides under one logic by the rules in force at the time, on the recorded text, and by the rules on trial.
   * @param areLost the rules of the time are not available, so the record stands for their decision
   */
  function* tried(
    repeated: Repeated,
    logic: Logic,
    { rules, then: rulesThen, areLost }: Extract<RulesAgain, { trial: true }> & { readonly areLost: boolean },
  ) {
    const { event, was, output } = repeated;
    const then = areLost
      ? was
      : decideWith(repeated, {
          ...{ logic, rules: rulesThen, output: undefined },
          patternsHeld: yield* patternsFor(repeated, logic, rulesThen, patternsHeld.then),
        });
    const compared = { then, byLogic: differenceOf(event, was, then) };
    if (rules === rulesThen && !areLost && output === undefined) return { ...compared, would: then, difference: null };
    // Other work may wait for one decision, not for two.
    yield 1;
    const held = yield* patternsFor(repeated, logic, rules, patternsHeld.trial);
    const would = decideWith(repeated, { logic, rules, patternsHeld: held, output });
    return { ...compared, would, difference: differenceOf(event, then, would) };
  }

  function* decide(repeated: Repeated, again: RulesAgain): Sliced<DecidedAgain> {
    const { event, revision, turn, on, was, output } = repeated;
    const { ruleset } = on;
    const turnId = turnIdOf(event);
    const seen = { type: event.type, revision, ...defined({ turnId }), ruleset, was };
    awaited = null;
    const areLost = ruleset !== null && (again.trial ? again.then : again.rules) === null;
    // What the current logic recorded is what it decides by rules that are lost.
    const needsLost = areLost && !(again.trial && event.data.logic === current);
    const logic = all[again.trial ? current : event.data.logic];
    const skipped = skipReason(repeated, all, needsLost);
    if (skipped !== null || logic === undefined)
      return { ...seen, would: null, difference: null, skipped: skipped ?? 'logic' };
    if (again.trial) return { ...seen, ...(yield* tried(repeated, logic, { ...again, areLost })) };
    const would = decideWith(repeated, { logic, rules: again.rules, patternsHeld: undefined, output });
    if (output === undefined) awaited = consequencesOf(event, would, turn, mind);
    return { ...seen, would, difference: differenceOf(event, was, would) };
  }

  /** Compares the events alongside a verdict with the expected ones; a verdict's append is either complete or absent. */
  const besides = ({ type, data, revision }: RecordedEvent): readonly DecidedAgain[] => {
    if (awaited === null) {
      if (!besidesVerdict.has(type)) awaited = [];
      return [];
    }
    const [next, ...rest] = awaited;
    if (next === undefined && type !== 'StateChanged') return [];
    const was = { type, data };
    awaited = rest;
    if (next !== undefined && isSame(was, next)) return [];
    awaited = [];
    const { turnId } = next?.data ?? data;
    return [
      {
        ...{ type: 'StateChanged', revision, ...(typeof turnId === 'string' ? { turnId } : {}), ruleset: null },
        ...{ was, would: next ?? null, difference: 'otherState' },
      },
    ];
  };

  return {
    pass: (recorded) => {
      awaited = null;
      pass(recorded);
    },
    rulesOf: (recorded) => {
      const event = npcEvents.decode(recorded);
      return isDecision(event) ? restsOn(event, turnOf(event)).ruleset : undefined;
    },
    *take(recorded, again, output) {
      const event = npcEvents.decode(recorded);
      const beside = besides(recorded);
      if (!isDecision(event)) {
        pass(recorded);
        return beside;
      }
      const turn = turnOf(event);
      const { revision } = recorded;
      const repeated = { event, revision, turn, on: restsOn(event, turn), was: outcomeOf(event), output };
      const decided = yield* decide(repeated, again);
      pass(recorded);
      return [...beside, decided];
    },
  };
};

/** The turn of a decision; undefined for a check of the bridge. */
const turnIdOf = ({ data }: DecisionEvent): string | undefined => ('turnId' in data ? data.turnId : undefined);

/** @param needsLost whether it needs rules that are not available */
const skipReason = ({ event, turn }: Repeated, all: KnownLogics['all'], needsLost: boolean): SkipReason | null => {
  if (all[event.data.logic] === undefined) return 'logic';
  const begins = event.type === 'ActorIdentified' || event.type === 'MemoriesRecalled' || isVerdictOfTurn(event);
  if (begins && turn === undefined) return 'turn';
  return needsLost ? 'rules' : null;
};

/** Whether it ends a turn of several rounds; otherwise it has its own inputs. */
const isVerdictOfTurn = (event: DecisionEvent): boolean =>
  (event.type === 'VerdictReached' || event.type === 'VerdictRefused') && event.data.asked === undefined;

/** The events that must accompany a verdict: its state change and its memories. */
const consequencesOf = (
  event: DecisionEvent,
  would: DecisionOutcome,
  turn: OpenedTurn | undefined,
  mind: MindSummary,
): readonly Consequence[] => {
  if (event.type !== 'VerdictReached' && event.type !== 'VerdictRefused') return [];
  const decided = would as unknown as Pick<typeof event.data, 'verdict' | 'grounds'>;
  const { turnId, asked } = event.data;
  const of = { turnId, ...defined({ player: (asked ?? turn)?.player }) };
  const [, ...rest] = verdictEvents(
    of,
    { ...event.data, ...decided },
    { issuer: { kid: '', iss: '' }, facts: mind.facts },
  );
  return rest.map(({ type, data }) => ({ type, data }));
};
