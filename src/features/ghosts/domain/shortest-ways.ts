import type { Action } from '../../rules/domain/bridge/action.js';
import type { Level, Tile } from '../../levels/domain/level.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { act } from './act.js';
import { DIRECTIONS, numberOfTile } from './chart.js';
import { findPath } from './find-path.js';
import { textOf } from './policy.js';
import type { ScriptedText } from './scripted.js';
import { beginWorld, type World } from './world.js';

/** After how many steps others get their turn: less than a millisecond. */
const SLICE_STEPS = 25;

/** What a ghost said, and the action that its mind allowed; null of one without any. */
export type SaidAndDone = ScriptedText & { readonly action: Action | null };
/** The same, with the tile where the ghost stood. */
export type DoneThere = SaidAndDone & { readonly at: Tile };

/** What walking alone does not change, and does not undo. */
const lastingOf = ({ held, spent, opened, reached, noticed, hits }: World): string =>
  JSON.stringify([held, spent, opened, reached, noticed, hits]);

/** Of the steps of a ghost those that changed more than where it is and how it fares, and the last one. In slices. */
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

/** The texts with which a ghost goes from one of these steps to the next by the shortest ways, where there is one, and takes it. In slices. */
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
