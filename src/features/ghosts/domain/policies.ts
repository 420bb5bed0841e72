import type { Level } from '../../levels/domain/level.js';
import { exploration } from './explore.js';
import { metricsGathering } from './gather-metrics.js';
import { bugHunting } from './hunt-bugs.js';
import type { GhostGoal, Plan, Policy } from './policy.js';
import { reachableTiles } from './reach.js';
import { goalSeeking } from './seek-goals.js';
import { isRunOver, type World } from './world.js';

export const policies: Readonly<Record<GhostGoal, Policy>> = {
  maximize_exploration: exploration,
  complete_level: goalSeeking,
  find_bugs: bugHunting,
  collect_metrics: metricsGathering,
};

/** A session's budget is within these bounds, in steps. */
const LEAST_STEPS = 100;
const MOST_STEPS = 20_000;
/** What the budget counts for each tile that can be reached: who explores walks some of the way twice; who hunts bugs probes on the way. */
const STEPS_PER_TILE: Readonly<Record<GhostGoal, number>> = {
  maximize_exploration: 4,
  complete_level: 4,
  find_bugs: 6,
  collect_metrics: 2,
};
/** And for each thing, which takes some steps besides the way to it. */
const STEPS_PER_THING = 4;

/** How many steps a session may take: by its goal and the size of its level alone. */
export const budgetOf = (goal: GhostGoal, level: Level): number => {
  const things = level.goals.length + level.items.length + level.doors.length + level.npcs.length;
  const steps = STEPS_PER_TILE[goal] * reachableTiles(level).count + STEPS_PER_THING * things;
  return Math.min(MOST_STEPS, Math.max(LEAST_STEPS, steps));
};

/**
 * Whether a session has done what it is for, or can do nothing more: the ghost is dead, or its plan has nothing left. Hunting bugs and gathering
 * figures otherwise go on to the budget.
 */
export const isDone = (goal: GhostGoal, level: Level, world: World, plan: Plan): boolean => {
  if (isRunOver(world)) return true;
  switch (goal) {
    case 'maximize_exploration':
      return plan.stuck || world.entered >= reachableTiles(level).count;
    case 'complete_level':
      return plan.stuck || world.reached.length === level.goals.length;
    case 'find_bugs':
    case 'collect_metrics':
      return false;
  }
};
