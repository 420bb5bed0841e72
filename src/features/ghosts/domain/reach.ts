import type { Level, Tile } from '../../levels/domain/level.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { chartOf, numberOfTile } from './chart.js';
import { closureOf, type Closure, type Departure, type DoorOpening } from './closure.js';
import { sufficesFor } from './hit-points.js';
import { type Manner, regionsInSlices, regionsOf } from './regions.js';
import { type KeyKinds, keyKindsOf } from './key-kinds.js';
import { beginWorld, isRunOver, type World } from './world.js';

/** How many ways to spend items one search follows; beyond that it does not know. */
export const REACH_STATES = 500;
/**
 * How many looks all searches of one question take together (closure.ts); beyond that, it is not known either. They are some milliseconds: who plays
 * asks within a step, which is one piece.
 */
export const REACH_LOOKS = 50_000;

/** How many looks are left. */
export type LooksLeft = { left: number };

export type Reachable = 'yes' | 'no' | 'unknown';

/** What a search over the ways to spend items found. */
type ReachSearch = {
  /** Goals that can be reached in one way or another, by their positions. */
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

/** Spending one key of a kind is as good as another. */
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
 * @param until `each`: it is enough to know for each goal whether some way leads to it; `together`: the best way is wanted as well
 * @param budget what it may take, and takes from
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
    // What was chosen from, and the key of the state.
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
 * Which goals can still be reached from a world, by position, whatever items were spent before, in slices. `yes` is only said of ways that one survives;
 * `no` where even somebody whom nothing harms would not come there, or where every way costs more hit points than there are; `unknown` is what lies
 * between, or beyond the bound of a search. Who has hit points without end and a level that was studied (study.ts) may well do it in one piece.
 * @param budget what the searches of ways to spend items may take together, and take from
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
  // Both searches have their share.
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
 * Which goals can be reached from the start, in slices: found once while a level is held.
 * @param who `unharmed`: somebody who has hit points without end. What else is out of reach is so for the hazards.
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
 * The tiles that can be reached from the start with everything that can be opened. Where one item is to be spent on one of two doors, what is behind
 * both counts; hazards count unless they kill at once.
 */
export const reachableTiles = (level: Level): ReachableTiles => reachOf(level).tiles;

/** The items that nobody can use, with a sentence that says why. */
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
