import type { GhostGoal } from './policy.js';

const goalOfSuite: Readonly<Record<string, GhostGoal>> = {
  exploration: 'maximize_exploration',
  pathfinding: 'complete_level',
  full: 'complete_level',
  combat: 'find_bugs',
  dialogue: 'find_bugs',
  smoke: 'find_bugs',
};

/** The goal of a test suite. */
export const goalOf = (suite: string): GhostGoal =>
  Object.hasOwn(goalOfSuite, suite) ? (goalOfSuite[suite] ?? 'collect_metrics') : 'collect_metrics';
