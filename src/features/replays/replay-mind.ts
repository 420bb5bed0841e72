import { logics } from '../turns/domain/decision/logic.js';
import { npcEvents, type NpcEvent } from '../npcs/domain/events.js';
import type { DifferenceKind, SkipReason } from './domain/difference-kinds.js';
import { evolveSummary, initialSummary, type MindSummary } from '../npcs/domain/state.js';
import { heldPatterns } from '../turns/domain/decision/observation-line.js';
import type { Sliced } from '../../kernel/base/sliced.js';
import type { DirectiveRuleSet, RulesetRef } from '../rules/domain/ruleset.js';
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
  restsOn,
} from './decide-again.js';
import { differenceOf, isSame } from './differences.js';

/** A replayed decision. `turnId` is absent for a check of the bridge. */
export type DecidedAgain = {
  readonly type: NpcEvent['type'];
  readonly revision: number;
  readonly turnId?: string;
  /** The rules in force at the time. */
  readonly ruleset: RulesetRef | null;
  readonly was: DecisionOutcome;
  /** Null if it could not be replayed; `skipped` gives the reason. */
  readonly would: DecisionOutcome | null;
  readonly difference: DifferenceKind | null;
  readonly skipped?: SkipReason;
};

type Consequence = { readonly type: string; readonly data: JsonObject };

/** The rules by which a decision is replayed: those in force at the time, as they were registered (null: the version is lost), or others. */
export type RulesAgain =
  | { readonly trial: false; readonly rules: DirectiveRuleSet | null }
  | { readonly trial: true; readonly rules: DirectiveRuleSet | null };

/** Replays one mind's stream, starting with its first event. */
export type MindReplay = {
  /** The version of the rules that decided the next event; undefined for an event that is not a decision. */
  rulesOf(recorded: RecordedEvent): RulesetRef | null | undefined;
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
export const createMindReplay = (npcId: string): MindReplay => {
  let mind: MindSummary = initialSummary;
  const turns = new Map<string, OpenedTurn>();
  /** The patterns of a trial's rules that matched, for open turns. */
  const trialPatterns = new Map<string, readonly string[]>();
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
      trialPatterns.delete(turnId);
    }
  };

  function* patternsFor(
    {
      event,
      turnId,
      observation,
    }: { readonly event: DecisionEvent; readonly turnId?: string; readonly observation: string },
    rules: DirectiveRuleSet | null,
  ) {
    const known = turnId === undefined ? undefined : trialPatterns.get(turnId);
    if (known !== undefined) return known;
    const held = yield* heldPatterns(rules, observation);
    if (turnId !== undefined && (event.type === 'TurnOpened' || turns.has(turnId))) trialPatterns.set(turnId, held);
    return held;
  }

  function* decide(
    event: DecisionEvent,
    { revision }: RecordedEvent,
    { trial, rules }: RulesAgain,
    output: string | undefined,
  ): Sliced<DecidedAgain> {
    const turn = turnOf(event);
    const { ruleset, observation } = restsOn(event, turn);
    const turnId = 'turnId' in event.data ? event.data.turnId : undefined;
    const seen = { type: event.type, revision, ...defined({ turnId }), ruleset, was: outcomeOf(event) };
    const areRulesLost = !trial && rules === null && ruleset !== null;
    const skipped = skipReason(event, turn, areRulesLost);
    awaited = null;
    if (skipped !== null) return { ...seen, would: null, difference: null, skipped };
    const patterns = trial ? yield* patternsFor({ event, observation, ...defined({ turnId }) }, rules) : undefined;
    const would = decideAgain({ npcId, mind, turn, rules, trialPatterns: patterns, output }, event);
    if (!trial && output === undefined) awaited = consequencesOf(event, would);
    return { ...seen, would, difference: differenceOf(event, seen.was, would) };
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
      const replayed = isDecision(event) ? [...beside, yield* decide(event, recorded, again, output)] : beside;
      pass(recorded);
      return replayed;
    },
  };
};

const skipReason = (event: DecisionEvent, turn: OpenedTurn | undefined, areRulesLost: boolean): SkipReason | null => {
  if (logics[event.data.logic] === undefined) return 'logic';
  const begins = event.type === 'ActorIdentified' || event.type === 'MemoriesRecalled' || isVerdictOfTurn(event);
  if (begins && turn === undefined) return 'turn';
  return areRulesLost ? 'rules' : null;
};

/** Whether it ends a turn of several rounds; otherwise it has its own inputs. */
const isVerdictOfTurn = (event: DecisionEvent): boolean =>
  (event.type === 'VerdictReached' || event.type === 'VerdictRefused') && event.data.asked === undefined;

/** The events that must accompany a verdict: its state change and its memories. */
const consequencesOf = (event: DecisionEvent, would: DecisionOutcome): readonly Consequence[] => {
  if (event.type !== 'VerdictReached' && event.type !== 'VerdictRefused') return [];
  const decided = would as unknown as Pick<typeof event.data, 'verdict' | 'grounds'>;
  const [, ...rest] = verdictEvents(event.data.turnId, { ...event.data, ...decided }, { issuer: { kid: '', iss: '' } });
  return rest.map(({ type, data }) => ({ type, data }));
};
