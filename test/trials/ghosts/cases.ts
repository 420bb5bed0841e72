import type { GhostGoal } from '../../../src/features/ghosts/domain/policy.js';
import type { Draw } from '../../simulation/draw.js';

/** A session to play: the same one plays the same, step for step. */
export type Case = { readonly goal: GhostGoal; readonly level: string; readonly seed: number; readonly steps: number };

const GOALS: readonly GhostGoal[] = ['find_bugs', 'maximize_exploration', 'collect_metrics', 'complete_level'];
const SEEDS = 1_000_000;

/** Each goal in each bundled level and in one that is made up. @param steps how many steps each may take */
export const casesFrom = (draw: Draw, steps: number): readonly Case[] => {
  const levels = ['market', 'cellar', 'faulty', `a place of ${String(draw.int(0, SEEDS))}`];
  return levels.flatMap((level) => GOALS.map((goal) => ({ goal, level, seed: draw.int(0, SEEDS), steps })));
};
