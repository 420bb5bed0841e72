import type { Level } from '../../levels/domain/level.js';
import { drained } from '../../../kernel/base/sliced.js';
import { keyKindsOf } from './key-kinds.js';
import { canStillReach, REACH_LOOKS, type Reachable } from './reach.js';
import type { World } from './world.js';

/** How many ways to waste something are examined in one step: each needs its own search. */
const TRIED_WASTES = 3;

/** A door, and the item that opens it. */
export type Spoiling = { readonly door: number; readonly item: number };

/**
 * A use of a held item that would put a goal that is reachable now out of reach: bug hunters do exactly that. Null if there is none. Only an item
 * that is used up on one of several doors can be wasted. Of many ways to waste something the first few are examined, with one budget for all of them.
 */
export const spoilingOf = (level: Level, hurt: World): Spoiling | null => {
  // In the same way as soft locks are judged (tally.ts).
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
