import type { Action } from '../../rules/domain/bridge/action.js';
import type { Level } from '../../levels/domain/level.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { act } from './act.js';
import { beginWorld, type World } from './world.js';

/** After how many steps others get their turn: less than a millisecond. */
const SLICE_STEPS = 25;

/** What of a world a loop must leave as it was: all but where the ghost has been and what it was told. */
const standingOf = ({ visited: _visited, entered: _entered, news: _news, ...standing }: World): string =>
  JSON.stringify(standing);

/**
 * Leaves out every loop of a walk (loop erasure): the steps between two moments at which the world stood the same, and so each step that changed
 * nothing. What the minds remember of them goes with them, so whoever wants something to come about again tries what is left. In slices.
 * @param actions of all steps; null of one without any
 * @returns the positions of the steps that are left, in their order
 */
export function* withoutLoops(level: Level, actions: readonly (Action | null)[]): Sliced<readonly number[]> {
  let world = beginWorld(level);
  /** How many steps lead to each standing of the world, by the steps that are left. */
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
