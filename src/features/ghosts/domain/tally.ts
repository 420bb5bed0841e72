import type { Action } from '../../rules/domain/bridge/action.js';
import type { Level } from '../../levels/domain/level.js';
import type { DirectiveRuleSet } from '../../rules/domain/ruleset.js';
import { bitmapWith, emptyBitmap } from './bitmap.js';
import type { Outcome } from './deed.js';
import { merged, type MergedFinding, type Noticed } from './finding-kinds.js';
import { canStillReach, type Reachable, reachFromStart } from './reach.js';
import { drained } from '../../../kernel/base/sliced.js';
import type { StepTimes } from './step-times.js';
import type { ToldOutcome } from './told-world.js';
import { isRunOver, shortId, type World } from './world.js';

/** How often each name occurred. */
export type Counts = Readonly<Record<string, number>>;

/** The observations of a session so far: plain JSON of bounded size, part of a checkpoint. */
export type Tally = {
  readonly steps: number;
  readonly found: readonly MergedFinding[];
  /** By goal, whether it could be reached from the start, and whether it can now. */
  readonly goals: readonly Reachable[];
  readonly goalsNow: readonly Reachable[];
  /** By the rulesets of the level (rulesetsOf): how many decisions were made with each, and which of its rules have matched (bitmap.ts). */
  readonly decisions: readonly number[];
  readonly fired: readonly string[];
  /** Steps by the type of their action, and among them those that the world carried out. */
  readonly actions: Counts;
  readonly done: Counts;
  readonly mindRefusals: Counts;
  readonly worldRefusals: Counts;
  /** Absent before the first step, and in sessions that began before steps were timed. */
  readonly times?: StepTimes;
};

/** The rulesets of a level, the ghost's first, each once by its id. */
export const rulesetsOf = (level: Level): readonly DirectiveRuleSet[] => {
  const sets = [level.ruleset, ...level.npcs.map(({ ruleset }) => ruleset)].filter((set) => set !== null);
  return [...new Map(sets.toReversed().map((set) => [set.rulesetId, set])).values()].toReversed();
};

export const beginTally = (level: Level): Tally => {
  const goals = drained(reachFromStart(level, 'harmed'));
  const sets = rulesetsOf(level);
  return {
    steps: 0,
    found: [],
    goals,
    goalsNow: goals,
    decisions: sets.map(() => 0),
    fired: sets.map(({ rulesetRules }) => emptyBitmap(rulesetRules.length)),
    actions: {},
    done: {},
    mindRefusals: {},
    worldRefusals: {},
  };
};

/** The facts of one step. */
export type StepFacts = {
  /** Counts from 1. */
  readonly step: number;
  /** The revision of the event that records its outcome. */
  readonly revision: number;
  readonly before: World;
  readonly after: World;
  /** The action of the verdict or, if it was refused, the refused action. */
  readonly action: Action | null;
  readonly verdictValid: boolean;
  /** The code of a refused verdict. */
  readonly refusalCode: string | null;
  /** The effect on the world; null if the mind refused, or none was reported. */
  readonly outcome: Outcome | ToldOutcome | null;
  /** The effect that the refused action would have had on the world. */
  readonly outcomeIfAllowed?: Outcome | null;
  /** The verdicts of this step, the ghost's and those of NPCs, each with its ruleset and the ids of the rules that matched. */
  readonly verdicts: readonly { readonly rulesetId: string | null; readonly matched: readonly string[] }[];
  /** A defect or an engine's failure, as a sentence. */
  readonly error?: string;
};

/** How many names are counted individually; others are counted together. */
const COUNTED = 100;
const OTHERS = 'OTHERS';
const counted = (counts: Counts, name: string | null | undefined): Counts => {
  if (name === null || name === undefined) return counts;
  const known = Object.hasOwn(counts, name);
  const key = known || Object.keys(counts).length < COUNTED ? name : OTHERS;
  return { ...counts, [key]: (Object.hasOwn(counts, key) ? (counts[key] ?? 0) : 0) + 1 };
};

/** Goals that could be reached from the start and no longer can: what a step spent was needed. */
const lostGoals = (
  level: Level,
  goals: readonly Reachable[],
  now: readonly Reachable[],
  next: readonly Reachable[],
): readonly Noticed[] =>
  level.goals.flatMap(({ id }, goal) =>
    goals[goal] === 'yes' && now[goal] !== 'no' && next[goal] === 'no'
      ? [
          {
            kind: 'soft_lock',
            subject: shortId(id),
            detail: 'The goal was reachable at first, but an item needed on the way has since been used up.',
          },
        ]
      : [],
  );

const seenIn = (facts: StepFacts): readonly Noticed[] => {
  const { action, verdictValid, refusalCode, outcome, outcomeIfAllowed, error } = facts;
  const type = action?.type ?? 'NONE';
  const seen: Noticed[] = [];
  if (verdictValid && outcome?.ok === false) {
    seen.push({
      kind: 'mind_allowed_world_refused',
      subject: `${type}/${outcome.code}`,
      detail: `The mind allowed ${type}, but the world refused it: ${outcome.reason}`,
    });
  }
  if (!verdictValid && outcomeIfAllowed?.ok === true) {
    seen.push({
      kind: 'mind_refused_world_allows',
      subject: `${type}/${refusalCode ?? ''}`,
      detail: `The mind refused ${type} (${refusalCode ?? 'not valid'}), but the world would have allowed it.`,
    });
  }
  if (error !== undefined) seen.push({ kind: 'engine_error', subject: error, detail: error });
  return seen;
};

const positions = new WeakMap<DirectiveRuleSet, ReadonlyMap<string, number>>();
const positionsOf = (set: DirectiveRuleSet): ReadonlyMap<string, number> => {
  const known = positions.get(set) ?? new Map(set.rulesetRules.map(({ drRuleId }, position) => [drRuleId, position]));
  positions.set(set, known);
  return known;
};

const withVerdicts = (
  level: Level,
  tally: Tally,
  verdicts: StepFacts['verdicts'],
): Pick<Tally, 'decisions' | 'fired'> => {
  const decisions = [...tally.decisions];
  const fired = [...tally.fired];
  const sets = rulesetsOf(level);
  for (const { rulesetId, matched } of verdicts) {
    const at = sets.findIndex((set) => set.rulesetId === rulesetId);
    const set = sets[at];
    if (set === undefined) continue;
    decisions[at] = (decisions[at] ?? 0) + 1;
    for (const id of matched) {
      const position = positionsOf(set).get(id);
      if (position !== undefined) fired[at] = bitmapWith(fired[at] ?? '', position);
    }
  }
  return { decisions, fired };
};

/** The tally after a step. */
export const noteStep = (level: Level, tally: Tally, facts: StepFacts): Tally => {
  const { step, revision, before, after, action, verdictValid, outcome } = facts;
  const isSpent = after.spent.length !== before.spent.length && !isRunOver(after);
  // A soft lock is caused by spent items; hit points that were lost, or would be lost on the way back, are not a fault of the level.
  const goalsNow = isSpent ? drained(canStillReach(level, { ...after, hp: Infinity })) : tally.goalsNow;
  const seen = [...seenIn(facts), ...lostGoals(level, tally.goals, tally.goalsNow, goalsNow)];
  return {
    ...tally,
    ...withVerdicts(level, tally, facts.verdicts),
    steps: tally.steps + 1,
    found: seen.reduce((found, one) => merged(found, one, step, revision), tally.found),
    goalsNow,
    actions: counted(tally.actions, action?.type ?? 'NONE'),
    done: outcome?.ok === true ? counted(tally.done, action?.type) : tally.done,
    mindRefusals: verdictValid ? tally.mindRefusals : counted(tally.mindRefusals, facts.refusalCode ?? 'NONE'),
    worldRefusals: outcome?.ok === false ? counted(tally.worldRefusals, outcome.code) : tally.worldRefusals,
  };
};
