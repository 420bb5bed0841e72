import type { Level, Tile } from '../../levels/domain/level.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { chartOf, numberOfTile } from './chart.js';
import { closureOf, type Closure, type Departure, type DoorOpening } from './closure.js';
import { sufficesFor } from './hit-points.js';
import { type Manner, regionsInSlices, regionsOf } from './regions.js';
import { type KeyKinds, keyKindsOf } from './key-kinds.js';
import { beginWorld, isRunOver, type World } from './world.js';

/** How many ways to spend items one search follows; beyond that the answer is unknown. */
export const REACH_STATES = 500;
/**
 * The total number of looks in all searches of one question (closure.ts); beyond that, the answer is also unknown. They are some milliseconds: a
 * player asks within a step, which does not yield.
 */
export const REACH_LOOKS = 50_000;

/** The remaining looks. */
export type LooksLeft = { left: number };

export type Reachable = 'yes' | 'no' | 'unknown';

/** The result of a search over the ways to spend items. */
type ReachSearch = {
  /** Goals that can be reached in one way or another, by position. */
  readonly goals: ReadonlySet<number>;
  /** The way that reaches most of them, spending the fewest items. */
  readonly best: Closure;
  /** Whether every way was followed, or enough of them. */
  readonly exact: boolean;
};

export const departureOf = ({ at, opened, held, spent }: World): Departure => ({
  at,
  opened,
  openings: [],
  held,
  spent,
});

/** Spending one key of a kind is as good as spending another. */
const keyOf = ({ ofItem }: KeyKinds, { opened, spent }: Departure): string => {
  const counts = new Map<number | undefined, number>();
  for (const item of spent) counts.set(ofItem[item], (counts.get(ofItem[item]) ?? 0) + 1);
  const spentKinds = [...counts].map(([kind, count]) => `${String(kind)}:${count}`).sort();
  return `${[...opened].sort((a, b) => a - b).join(' ')}/${spentKinds.join(' ')}`;
};

const choose = ({ departure }: Closure, { door, item }: DoorOpening): Departure => ({
  at: departure.at,
  opened: [...departure.opened, door],
  openings: [...departure.openings, { door, item }],
  held: departure.held.filter((one) => one !== item),
  spent: item === null ? departure.spent : [...departure.spent, item],
});

/**
 * Follows the ways to spend items, those that spend the fewest first.
 * @param until `each`: find out for each goal whether some way leads to it; `together`: find the best way as well
 * @param budget the remaining looks, which it reduces
 */
export const searchReach = (
  level: Level,
  manner: Manner,
  from: Departure,
  until: 'each' | 'together',
  budget: LooksLeft = { left: REACH_LOOKS },
): ReachSearch => {
  const kinds = keyKindsOf(level);
  const follow = (departure: Departure): Closure => {
    const closure = closureOf(level, manner, departure, { most: budget.left });
    // The items to choose from, and the key of the state.
    budget.left -= closure.looks + closure.departure.opened.length + closure.departure.spent.length;
    return closure;
  };
  const first = follow(from);
  const goals = new Set(first.goals);
  const waiting: Closure[] = [first];
  const known = new Set([keyOf(kinds, first.departure)]);
  let best = first;
  let exact = first.whole;
  const isEnough = (): boolean => (until === 'each' ? goals : best.goals).size === level.goals.length;
  for (let next = 0; exact && next < waiting.length && !isEnough(); next += 1) {
    const here = waiting[next] ?? first;
    for (const choice of here.choices) {
      exact = known.size < REACH_STATES && budget.left > 0;
      if (!exact) break;
      const there = follow(choose(here, choice));
      exact = there.whole;
      const key = keyOf(kinds, there.departure);
      if (known.has(key)) continue;
      known.add(key);
      waiting.push(there);
      for (const goal of there.goals) goals.add(goal);
      if (there.goals.size > best.goals.size) best = there;
    }
  }
  return { goals, best, exact };
};

/**
 * Whether no way to a goal can use up the hit points: there is a leg to each item and each door that it needs, and one to the goal, and no leg has to
 * enter a tile twice.
 */
const canAfford = (level: Level, { hp }: World): boolean =>
  (2 * level.doors.length + 1) * level.hazards.reduce((sum, { harm }) => sum + harm, 0) < hp;

/**
 * Which goals can still be reached from a world, by position, whatever items were spent before, in slices. `yes` only for ways that a ghost survives;
 * `no` if even an invulnerable ghost could not reach the goal, or if every way costs more hit points than there are; `unknown` for anything in
 * between, or beyond the limit of a search. With infinite hit points and a studied level (study.ts) a caller may run it without yielding.
 * @param budget the looks for all searches of ways to spend items together, which it reduces
 */
export function* canStillReach(
  level: Level,
  world: World,
  budget: LooksLeft = { left: REACH_LOOKS },
): Sliced<readonly Reachable[]> {
  const dead = isRunOver(world);
  const search = function* (manner: Manner, looks: number): Sliced<ReachSearch> {
    yield* regionsInSlices(level, manner);
    const part = { left: looks };
    const found = searchReach(level, manner, departureOf(world), 'each', part);
    yield looks - part.left;
    budget.left -= looks - part.left;
    return found;
  };
  // Each of the two searches has its share.
  const safe = yield* search('careful', Math.floor(budget.left / 2));
  const isSettled = dead || safe.goals.size === level.goals.length;
  const bold = isSettled ? safe : yield* search('bold', budget.left);
  const judged = level.goals.map((_, goal): Reachable => {
    if (world.reached.includes(goal)) return 'yes';
    if (dead) return 'no';
    if (safe.goals.has(goal) || (bold.goals.has(goal) && canAfford(level, world))) return 'yes';
    return bold.exact && !bold.goals.has(goal) ? 'no' : 'unknown';
  });
  const open = judged.flatMap((one, goal) => (one === 'unknown' && bold.goals.has(goal) ? [goal] : []));
  if (open.length === 0) return judged;
  const suffices = yield* sufficesFor(level, departureOf(world), world.hp, open);
  return judged.map((one, goal) => suffices.get(goal) ?? one);
}

const fromStart = {
  harmed: new WeakMap<Level, readonly Reachable[]>(),
  unharmed: new WeakMap<Level, readonly Reachable[]>(),
};

/**
 * Which goals can be reached from the start, in slices: computed once for the lifetime of a level.
 * @param who `unharmed`: a ghost with infinite hit points. All other unreachable goals are unreachable because of hazards.
 */
export function* reachFromStart(level: Level, who: keyof typeof fromStart): Sliced<readonly Reachable[]> {
  const known = fromStart[who].get(level);
  if (known !== undefined) return known;
  const start = beginWorld(level);
  const goals = yield* canStillReach(level, who === 'harmed' ? start : { ...start, hp: Infinity });
  fromStart[who].set(level, goals);
  return goals;
}

type ReachableTiles = { readonly count: number; readonly has: (tile: Tile) => boolean };
const reachable = new WeakMap<Level, { readonly all: Closure; readonly tiles: ReachableTiles }>();

const reachOf = (level: Level): { readonly all: Closure; readonly tiles: ReachableTiles } => {
  const known = reachable.get(level);
  if (known !== undefined) return known;
  const { of, sizes } = regionsOf(level, 'bold');
  const all = closureOf(level, 'bold', departureOf(beginWorld(level)), { assumption: 'lasting' });
  const made = {
    all,
    tiles: {
      count: sizes.reduce((sum, size, region) => sum + (all.reached[region] === 1 ? size : 0), 0),
      has: (tile: Tile) => all.reached[of[numberOfTile(level, tile)] ?? -1] === 1,
    },
  };
  reachable.set(level, made);
  return made;
};

/**
 * The tiles that can be reached from the start with everything that can be opened. If one item can be spent on either of two doors, the tiles behind
 * both count; hazards count unless they kill immediately.
 */
export const reachableTiles = (level: Level): ReachableTiles => reachOf(level).tiles;

/** The items that cannot be used, with a sentence that explains why. */
export const unusableItems = (level: Level): readonly { readonly id: string; readonly why: string }[] => {
  const { all } = reachOf(level);
  const { opens } = chartOf(level);
  const opened = new Set(all.departure.opened);
  return level.items.flatMap(({ id, heals }, item) => {
    const locked = (opens[item] ?? []).filter((door) => level.doors[door]?.locked === true);
    if (!all.items.has(item)) return [{ id, why: 'The item is unreachable.' }];
    if (heals > 0 || locked.some((door) => opened.has(door))) return [];
    const why =
      locked.length > 0
        ? 'The item opens only doors that are unreachable.'
        : 'The item neither opens a locked door of the level nor heals.';
    return [{ id, why }];
  });
};
