import type { Level } from '../level/level.js';
import type { DirectiveRuleSet } from '../rules/ruleset.js';
import { emptyBitmap } from './bitmap.js';
import type { MergedFinding } from './found.js';
import { canStillReach, type Reachable } from './reach.js';
import type { StepTimes } from './step-times.js';
import { beginWorld } from './world.js';

/** How often something happened, by name. */
export type Counts = Readonly<Record<string, number>>;

/** What a session has seen so far: plain JSON of bounded size, part of a checkpoint. */
export type Tally = {
  readonly steps: number;
  readonly found: readonly MergedFinding[];
  /** By goal, whether it could be reached from the start, and whether it can now. */
  readonly goals: readonly Reachable[];
  readonly goalsNow: readonly Reachable[];
  /** By the rule sets of the level (rulesetsOf): how many decisions were made with each, and which of its rules have matched (bitmap.ts). */
  readonly decisions: readonly number[];
  readonly fired: readonly string[];
  /** Steps by the type of their action, and of those the ones that the world carried out. */
  readonly actions: Counts;
  readonly done: Counts;
  readonly mindRefusals: Counts;
  readonly worldRefusals: Counts;
  /** Absent before the first step, and in sessions that began before steps were timed. */
  readonly times?: StepTimes;
};

/** The rule sets of a level, the ghost's first, each once by its id. */
export const rulesetsOf = (level: Level): readonly DirectiveRuleSet[] => {
  const sets = [level.ruleset, ...level.npcs.map(({ ruleset }) => ruleset)].filter((set) => set !== null);
  return [...new Map(sets.toReversed().map((set) => [set.rulesetId, set])).values()].toReversed();
};

const reachable = new WeakMap<Level, Tally['goals']>();

/** Which goals can be reached from the start: looked for once, however often a session is read. */
const goalsOf = (level: Level): Tally['goals'] => {
  const goals = reachable.get(level) ?? canStillReach(level, beginWorld(level));
  reachable.set(level, goals);
  return goals;
};

export const beginTally = (level: Level): Tally => {
  const goals = goalsOf(level);
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
