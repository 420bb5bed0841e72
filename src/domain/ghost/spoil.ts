import type { Level } from '../level/level.js';
import { canStillReach } from './reach.js';
import type { World } from './world.js';

/** How many ways to waste something are thought through in one step: each is a search of its own. */
const TRIED_WASTES = 3;

/** A door, and the item that opens it. */
export type Spoiling = { readonly door: number; readonly item: number };

/** Doors that an item could still be used up on. */
const choicesOf = (level: Level, world: World, item: number): readonly number[] => {
  const { consumed = false, opens = [] } = level.items[item] ?? {};
  if (!consumed) return [];
  return level.doors.flatMap(({ id, locked }, door) =>
    locked && opens.includes(id) && !world.opened.includes(door) ? [door] : [],
  );
};

/**
 * A use of what the ghost has that would leave a goal out of reach which can be reached now: who hunts bugs does just that. Null when there is none.
 * Only what is used up on one of several doors can be wasted.
 * Of many ways to waste something the first few are looked at.
 */
export const spoilingOf = (level: Level, hurt: World): Spoiling | null => {
  // As soft locks are judged (tally.ts).
  const world = { ...hurt, hp: Infinity };
  let now: ReturnType<typeof canStillReach> | null = null;
  let tried = 0;
  for (const item of world.held) {
    const doors = choicesOf(level, world, item);
    if (doors.length < 2) continue;
    now ??= canStillReach(level, world);
    for (const door of doors) {
      if ((tried += 1) > TRIED_WASTES) return null;
      const wasted = {
        ...world,
        opened: [...world.opened, door],
        held: world.held.filter((one) => one !== item),
        spent: [...world.spent, item],
      };
      const next = canStillReach(level, wasted);
      if (now.some((goal, position) => goal === 'yes' && next[position] === 'no')) return { door, item };
    }
  }
  return null;
};
