import type { Action } from '../../rules/domain/bridge/action.js';
import type { Level, Tile } from '../../levels/domain/level.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { act } from './act.js';
import { DIRECTIONS, numberOfTile } from './chart.js';
import { findPath } from './find-path.js';
import { textOf } from './policy.js';
import type { ScriptedText } from './scripted.js';
import { beginWorld, type World } from './world.js';

/** The number of steps between two yields: less than a millisecond. */
const SLICE_STEPS = 25;

/** A ghost's text, and the action that its mind allowed; null if there was none. */
export type SaidAndDone = ScriptedText & { readonly action: Action | null };
/** The same, with the tile where the ghost was. */
export type DoneThere = SaidAndDone & { readonly at: Tile };

/** The part of the world that walking alone neither changes nor undoes. */
const lastingOf = ({ held, spent, opened, reached, noticed, hits }: World): string =>
  JSON.stringify([held, spent, opened, reached, noticed, hits]);

/** The steps of a ghost that changed more than its position and its hit points, and the last step. In slices. */
export function* lastingSteps(level: Level, steps: readonly SaidAndDone[]): Sliced<readonly DoneThere[]> {
  let world = beginWorld(level);
  let before = lastingOf(world);
  const lasting: DoneThere[] = [];
  for (const [position, step] of steps.entries()) {
    if (position % SLICE_STEPS === 0) yield SLICE_STEPS;
    const { at } = world;
    if (step.action !== null) ({ world } = act(level, world, step.action));
    const after = lastingOf(world);
    if (after !== before || position === steps.length - 1) lasting.push({ ...step, at });
    before = after;
  }
  return lasting;
}

/** The texts with which a ghost goes from one of these steps to the next by the shortest path, if there is one, and repeats it. In slices. */
export function* byShortestWays(level: Level, steps: readonly DoneThere[]): Sliced<readonly ScriptedText[]> {
  let world = beginWorld(level);
  const texts: ScriptedText[] = [];
  for (const { at, action, ...text } of steps) {
    yield SLICE_STEPS;
    const end = numberOfTile(level, at);
    const path = findPath(level, world, { accepts: (tile) => tile === end, towards: at, shunned: [] }) ?? '';
    for (const letter of path) {
      const way = DIRECTIONS.find(({ name }) => name === letter) ?? { x: 0, y: 0 };
      const move = { type: 'MOVE', payload: { x: world.at.x + way.x, y: world.at.y + way.y } };
      ({ world } = act(level, world, move));
      texts.push({ text: textOf(move) });
    }
    if (action !== null) ({ world } = act(level, world, action));
    texts.push(text);
  }
  return texts;
}
