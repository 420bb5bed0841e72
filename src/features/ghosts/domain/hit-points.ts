import type { Level, Tile } from '../../levels/domain/level.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { chartOf, isOnMap, neighboursOf, numberOfTile, tileOfNumber } from './chart.js';
import { closureOf, type Departure } from './closure.js';
import { FAR, leastHarm, type LeastHarm } from './least-harm.js';

/** How many tiles are looked at while planning and trying paths through doors, for all goals together; beyond that the answer is unknown. */
const TRIED_TILES = 50_000;
/** The fixed cost of one search, however short its path, as a fraction of the level's tiles: it initialises an array of all of them. */
const SHEET_PART = 64;

/** How many more tiles may be looked at. */
type Budget = { left: number };

/** The tiles from which an object on a tile can be touched. */
const around = (level: Level, at: Tile): ReadonlySet<number> => {
  if (!isOnMap(level, at)) return new Set();
  const tile = numberOfTile(level, at);
  return new Set([tile, ...neighboursOf(chartOf(level), tile)]);
};

/** The most hit points that a ghost could lose from here and survive, including those of every reachable healing item. */
const mostToLose = (level: Level, from: Departure, hp: number): number => {
  const { items } = closureOf(level, 'bold', from, { assumption: 'lasting' });
  return [...items].reduce((sum, item) => {
    const { heals = 0, consumed = true } = level.items[item] ?? {};
    return heals > 0 && !consumed ? FAR : Math.min(FAR, sum + heals);
  }, hp);
};

/** An object to touch on the way: an item to take, a door to open with its item, or the goal. */
type Errand = { readonly at: Tile; readonly door?: number; readonly item?: number };

/**
 * The errands that lead to a tile, in an order that works: for each shut door on the way its key, and how to get there. Null if the budget ran out.
 */
const errandsTo = (
  level: Level,
  from: Departure,
  { before, openers, taken }: LeastHarm,
  tile: number,
  budget: Budget,
): readonly Errand[] | null => {
  const errands: Errand[] = [];
  const opened = new Set(from.opened);
  const done = new Set<string>();
  const comeTo = (end: number): void => {
    const doors: number[] = [];
    for (let at = end; at !== -1 && budget.left > 0; at = before[at] ?? -1) {
      const here = chartOf(level).doors.get(at) ?? [];
      budget.left -= 1 + here.length;
      const shut = here.filter((door) => !opened.has(door));
      doors.push(...shut);
    }
    for (const door of doors.reverse()) {
      if (done.has(`door ${door}`)) continue;
      done.add(`door ${door}`);
      const { at, locked } = level.doors[door] ?? { at: from.at, locked: false };
      const item = locked ? openers.get(door) : undefined;
      if (item !== undefined && !from.held.includes(item) && !done.has(`item ${item}`)) {
        done.add(`item ${item}`);
        comeTo(taken.get(item) ?? end);
        errands.push({ at: level.items[item]?.at ?? at });
      }
      errands.push(item === undefined ? { at, door } : { at, door, item });
    }
  };
  comeTo(tile);
  return budget.left > 0 ? errands : null;
};

/** Whether a ghost survives some errands, each by its cheapest path, without healing. Also false if the budget ran out. */
function* survives(
  level: Level,
  from: Departure,
  hp: number,
  { errands, budget }: { readonly errands: readonly Errand[]; readonly budget: Budget },
): Sliced<boolean> {
  let at = from.at;
  let left = hp;
  const sheet = (level.width * level.height) / SHEET_PART;
  const opened = [...from.opened];
  const used = new Set<number>();
  for (const { at: place, door, item } of errands) {
    const { costs, end, ...leg } = yield* leastHarm(
      level,
      { at, opened, held: [], spent: [] },
      { most: left, doors: 'open', until: around(level, place) },
    );
    budget.left -= leg.looks + sheet;
    if (end === null || budget.left <= 0 || (item !== undefined && used.has(item))) return false;
    left -= costs[end] ?? 0;
    at = tileOfNumber(level, end);
    if (door !== undefined) opened.push(door);
    if (item !== undefined && level.items[item]?.consumed === true) used.add(item);
  }
  return true;
}

/**
 * Whether the hit points suffice to reach goals across hazards, by position, in slices. `no` means even if each key opened all of its doors and no
 * one ever went back; `yes` means that a complete path was simulated.
 */
export function* sufficesFor(
  level: Level,
  from: Departure,
  hp: number,
  goals: readonly number[],
): Sliced<ReadonlyMap<number, 'yes' | 'no' | 'unknown'>> {
  const least = yield* leastHarm(level, from, { most: mostToLose(level, from, hp), doors: 'openable' });
  const budget: Budget = { left: TRIED_TILES };
  const judge = function* (goal: number): Sliced<'yes' | 'no' | 'unknown'> {
    const place = level.goals[goal]?.at ?? from.at;
    const cost = (tile: number): number => least.costs[tile] ?? FAR;
    const [nearest] = [...around(level, place)].sort((one, other) => cost(one) - cost(other));
    if (nearest === undefined || cost(nearest) === FAR) return 'no';
    const before = budget.left;
    const errands = budget.left > 0 ? errandsTo(level, from, least, nearest, budget) : null;
    yield before - budget.left;
    if (errands === null) return 'unknown';
    if (errands.length === 0) return cost(nearest) < hp ? 'yes' : 'unknown';
    return (yield* survives(level, from, hp, { errands: [...errands, { at: place }], budget })) ? 'yes' : 'unknown';
  };
  const judged = new Map<number, 'yes' | 'no' | 'unknown'>();
  for (const goal of goals) judged.set(goal, yield* judge(goal));
  return judged;
}
