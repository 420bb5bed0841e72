import type { Action } from '../../rules/domain/bridge/action.js';
import type { Level } from '../../levels/domain/level.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { act } from './act.js';
import { beginWorld, type World } from './world.js';

/** The number of steps between two yields: less than a millisecond. */
const SLICE_STEPS = 25;

/** The part of a world that a loop must leave unchanged: everything except where the ghost has been and its news. */
const standingOf = ({ visited: _visited, entered: _entered, news: _news, ...standing }: World): string =>
  JSON.stringify(standing);

/**
 * Removes every loop of a walk (loop erasure): the steps between two moments with the same state of the world, and so each step that changed nothing.
 * The minds' memories of the steps are lost with them, so a caller that wants to reproduce something must try the remaining steps. In slices.
 * @param actions the actions of all steps; null for a step without one
 * @returns the positions of the remaining steps, in order
 */
export function* withoutLoops(level: Level, actions: readonly (Action | null)[]): Sliced<readonly number[]> {
  let world = beginWorld(level);
  /** How many of the remaining steps lead to each state of the world. */
  const stepsTo = new Map([[standingOf(world), 0]]);
  const left: { readonly position: number; readonly standing: string }[] = [];
  for (const [position, action] of actions.entries()) {
    if (position % SLICE_STEPS === 0) yield SLICE_STEPS;
    if (action === null) continue;
    ({ world } = act(level, world, action));
    const standing = standingOf(world);
    const steps = stepsTo.get(standing);
    if (steps === undefined) stepsTo.set(standing, left.push({ position, standing }));
    else for (const gone of left.splice(steps)) stepsTo.delete(gone.standing);
  }
  return left.map(({ position }) => position);
}
