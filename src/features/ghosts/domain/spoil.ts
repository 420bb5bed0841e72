import type { Level } from '../../levels/domain/level.js';
import { drained } from '../../../kernel/base/sliced.js';
import { keyKindsOf } from './key-kinds.js';
import { canStillReach, REACH_LOOKS, type Reachable } from './reach.js';
import type { World } from './world.js';

/** How many ways to waste something are thought through in one step: each is a search of its own. */
const TRIED_WASTES = 3;

/** A door, and the item that opens it. */
export type Spoiling = { readonly door: number; readonly item: number };

/**
 * A use of what the ghost has that would leave a goal out of reach which can be reached now: who hunts bugs does just that. Null when there is none.
 * Only what is used up on one of several doors can be wasted.
 * Of many ways to waste something the first few are looked at, and all of them have one budget.
 */
export const spoilingOf = (level: Level, hurt: World): Spoiling | null => {
  // As soft locks are judged (tally.ts).
  const world = { ...hurt, hp: Infinity };
  const budget = { left: REACH_LOOKS };
  const goalsOf = (from: World): readonly Reachable[] => drained(canStillReach(level, from, budget));
  const { kinds, ofItem } = keyKindsOf(level);
  const opened = new Set(world.opened);
  const seen = new Set<number>();
  let now: readonly Reachable[] | null = null;
  let tried = 0;
  for (const item of world.held) {
    const kind = ofItem[item];
    if (kind === undefined || seen.has(kind)) continue;
    seen.add(kind);
    const { doors = [], lasts = true } = kinds[kind] ?? {};
    const shut = doors.filter((door) => !opened.has(door));
    if (lasts || shut.length < 2) continue;
    now ??= goalsOf(world);
    for (const door of shut) {
      if ((tried += 1) > TRIED_WASTES) return null;
      const wasted = {
        ...world,
        opened: [...world.opened, door],
        held: world.held.filter((one) => one !== item),
        spent: [...world.spent, item],
      };
      const next = goalsOf(wasted);
      if (now.some((goal, position) => goal === 'yes' && next[position] === 'no')) return { door, item };
    }
  }
  return null;
};
