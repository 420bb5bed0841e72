import type { Level, Tile } from '../level/level.js';
import { chartOf, numberOfTile } from './chart.js';
import { closureOf, type Closure, type Departure, type DoorOpening } from './closure.js';
import { sufficesFor } from './hit-points.js';
import { regionsOf, type Manner } from './regions.js';
import { beginWorld, isRunOver, type World } from './world.js';

/** How many ways to spend items one search follows, and how many regions, doors and items it looks at; beyond that it does not know. */
export const REACH_STATES = 500;
const REACH_LOOKS = 20_000;

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

const keyOf = ({ opened, spent }: Departure): string =>
  `${[...opened].sort((a, b) => a - b).join(' ')}/${[...spent].sort((a, b) => a - b).join(' ')}`;

const choose = ({ departure }: Closure, { door, item }: DoorOpening): Departure => ({
  at: departure.at,
  opened: [...departure.opened, door],
  openings: [...departure.openings, { door, item }],
  held: departure.held.filter((one) => one !== item),
  spent: item === null ? departure.spent : [...departure.spent, item],
});

/** Items that open the same doors are alike: spending one of them is as good as another. */
const unlike = (level: Level, choices: readonly DoorOpening[]): readonly DoorOpening[] => {
  const { opens } = chartOf(level);
  const seen = new Set<string>();
  return choices.filter(({ door, item }) => {
    const key = `${door}/${(item === null ? [] : (opens[item] ?? [])).join(' ')}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
};

/**
 * Follows the ways to spend items, those that spend the fewest first.
 * @param until `each`: it is enough to know for each goal whether some way leads to it; `together`: the best way is wanted as well
 */
export const searchReach = (level: Level, manner: Manner, from: Departure, until: 'each' | 'together'): ReachSearch => {
  const first = closureOf(level, manner, from);
  const goals = new Set(first.goals);
  const waiting: Closure[] = [first];
  const known = new Set([keyOf(first.departure)]);
  let best = first;
  let looks = first.looks;
  const isEnough = (): boolean => (until === 'each' ? goals : best.goals).size === level.goals.length;
  for (let next = 0; next < waiting.length && !isEnough(); next += 1) {
    const here = waiting[next] ?? first;
    for (const choice of unlike(level, here.choices)) {
      if (known.size >= REACH_STATES || looks > REACH_LOOKS) return { goals, best, exact: false };
      const there = closureOf(level, manner, choose(here, choice));
      looks += there.looks + there.choices.length;
      const key = keyOf(there.departure);
      if (known.has(key)) continue;
      known.add(key);
      waiting.push(there);
      for (const goal of there.goals) goals.add(goal);
      if (there.goals.size > best.goals.size) best = there;
    }
  }
  return { goals, best, exact: true };
};

/**
 * Whether no way to a goal can use up the hit points: there is a leg to each item and each door that it needs, and one to the goal, and no leg has to
 * enter a tile twice.
 */
const canAfford = (level: Level, { hp }: World): boolean =>
  (2 * level.doors.length + 1) * level.hazards.reduce((sum, { harm }) => sum + harm, 0) < hp;

/**
 * Which goals can still be reached from a world, by position, whatever items were spent before. `yes` is only said of ways that one survives; `no` where
 * even somebody whom nothing harms would not come there, or where every way costs more hit points than there are; `unknown` is what lies between, or
 * beyond the bound of a search.
 */
export const canStillReach = (level: Level, world: World): readonly Reachable[] => {
  const dead = isRunOver(world);
  const safe = searchReach(level, 'careful', departureOf(world), 'each');
  const isSettled = dead || safe.goals.size === level.goals.length;
  const bold = isSettled ? safe : searchReach(level, 'bold', departureOf(world), 'each');
  const judged = level.goals.map((_, goal): Reachable => {
    if (world.reached.includes(goal)) return 'yes';
    if (dead) return 'no';
    if (safe.goals.has(goal) || (bold.goals.has(goal) && canAfford(level, world))) return 'yes';
    return bold.exact && !bold.goals.has(goal) ? 'no' : 'unknown';
  });
  const open = judged.flatMap((one, goal) => (one === 'unknown' && bold.goals.has(goal) ? [goal] : []));
  if (open.length === 0) return judged;
  const suffices = sufficesFor(level, departureOf(world), world.hp, open);
  return judged.map((one, goal) => suffices.get(goal) ?? one);
};

const unharmed = new WeakMap<Level, readonly Reachable[]>();

/** Which goals somebody could reach from the start who has hit points without end: what else is out of reach is so for its hazards. */
export const reachableUnharmed = (level: Level): readonly Reachable[] => {
  const known = unharmed.get(level) ?? canStillReach(level, { ...beginWorld(level), hp: Infinity });
  unharmed.set(level, known);
  return known;
};

type ReachableTiles = { readonly count: number; readonly has: (tile: Tile) => boolean };
const reachable = new WeakMap<Level, { readonly all: Closure; readonly tiles: ReachableTiles }>();

const reachOf = (level: Level): { readonly all: Closure; readonly tiles: ReachableTiles } => {
  const known = reachable.get(level);
  if (known !== undefined) return known;
  const { of, sizes } = regionsOf(level, 'bold');
  const all = closureOf(level, 'bold', departureOf(beginWorld(level)), 'lasting');
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
  return level.items.flatMap(({ id, heals }, item) => {
    const locked = (opens[item] ?? []).filter((door) => level.doors[door]?.locked === true);
    if (!all.items.has(item)) return [{ id, why: 'It cannot be reached.' }];
    if (heals > 0 || locked.some((door) => all.departure.opened.includes(door))) return [];
    const why =
      locked.length > 0
        ? 'It opens only doors that cannot be reached.'
        : 'It opens no locked door of the level and heals nobody.';
    return [{ id, why }];
  });
};
