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

/** The bounds of a session's budget, in steps. */
const LEAST_STEPS = 100;
const MOST_STEPS = 20_000;
/** The steps in the budget for each reachable tile: an explorer walks parts of the way twice; a bug hunter probes on the way. */
const STEPS_PER_TILE: Readonly<Record<GhostGoal, number>> = {
  maximize_exploration: 4,
  complete_level: 4,
  find_bugs: 6,
  collect_metrics: 2,
};
/** The steps for each object, in addition to the way to it. */
const STEPS_PER_THING = 4;

/** How many steps a session may take; depends only on its goal and the size of its level. */
export const budgetOf = (goal: GhostGoal, level: Level): number => {
  const things = level.goals.length + level.items.length + level.doors.length + level.npcs.length;
  const steps = STEPS_PER_TILE[goal] * reachableTiles(level).count + STEPS_PER_THING * things;
  return Math.min(MOST_STEPS, Math.max(LEAST_STEPS, steps));
};

/**
 * Whether a session has completed its goal, or can do nothing more: the ghost is dead, or its plan has nothing left. Otherwise bug hunting and
 * gathering metrics continue to the end of the budget.
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
