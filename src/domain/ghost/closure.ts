import type { Level, Tile } from '../level/level.js';
import { chartOf, isOnMap, numberOfTile, type Chart } from './chart.js';
import { regionsAround, regionsOf, type Manner, type Regions } from './regions.js';

/** A door and the item that opens it, both by position; null: it needs none. */
export type DoorOpening = { readonly door: number; readonly item: number | null };

/** From where somebody sets out, and with what. Every state of a search is one. */
export type Departure = {
  readonly at: Tile;
  /** Doors that are open, and how the last of them were opened in this search. */
  readonly opened: readonly number[];
  readonly openings: readonly DoorOpening[];
  readonly held: readonly number[];
  readonly spent: readonly number[];
};

/** How far somebody comes without giving anything away that could be needed elsewhere. */
export type Closure = {
  /** By region: 1 where one can be. */
  readonly reached: Uint8Array;
  readonly items: ReadonlySet<number>;
  readonly goals: ReadonlySet<number>;
  readonly departure: Departure;
  /** Shut doors that were come to, each with items at hand that open it and are gone then. */
  readonly choices: readonly DoorOpening[];
  /** How many regions, doors and items were looked at. */
  readonly looks: number;
};

/** Who plans with keys: `lasting` takes every item for one that stays after its use, so nothing has to be chosen. */
export type Assumption = 'exact' | 'lasting';

/** By item, the doors that it still could open; by door, the items that open it. */
const keysOf = ({ level, opens }: Chart): readonly (readonly number[])[] => {
  const keys: number[][] = level.doors.map(() => []);
  opens.forEach((doors, item) => doors.forEach((door) => keys[door]?.push(item)));
  return keys;
};
const keysByLevel = new WeakMap<Level, readonly (readonly number[])[]>();
const keysFor = (level: Level): readonly (readonly number[])[] => {
  const keys = keysByLevel.get(level) ?? keysOf(chartOf(level));
  keysByLevel.set(level, keys);
  return keys;
};

/** The regions in which somebody is who stands on a tile: its own or, on a hazard that counts as a wall, the open ones around it. */
export const startsOf = (
  level: Level,
  { of, doors }: Regions,
  at: Tile,
  opened: ReadonlySet<number>,
): readonly number[] => {
  const own = isOnMap(level, at) ? (of[numberOfTile(level, at)] ?? -1) : -1;
  if (own !== -1) return [own];
  return regionsAround(level, of, at).filter((region) => doors[region]?.every((door) => opened.has(door)));
};

/**
 * Walks everywhere, takes every item, and opens every door that costs nothing: those without a lock, those of an item that stays, and those of an item
 * that opens no other shut door. What is left to choose from is which of the other doors an item is spent on.
 */
export const closureOf = (level: Level, manner: Manner, from: Departure, assumption: Assumption = 'exact'): Closure => {
  const regions = regionsOf(level, manner);
  const { opens } = chartOf(level);
  const keys = keysFor(level);
  const reached = new Uint8Array(regions.count);
  const opened = new Set(from.opened);
  const spent = new Set(from.spent);
  const openings = [...from.openings];
  const items = new Set(from.held);
  const goals = new Set<number>();
  const doorsSeen = new Set<number>();
  let looks = 0;

  const isOpen = (region: number): boolean => (regions.doors[region] ?? []).every((door) => opened.has(door));
  const walk = (starts: readonly number[]): void => {
    const open = [...starts];
    for (let region = open.pop(); region !== undefined; region = open.pop()) {
      looks += 1;
      if (reached[region] === 1) continue;
      reached[region] = 1;
      for (const item of regions.items[region] ?? []) if (!spent.has(item)) items.add(item);
      for (const goal of regions.goals[region] ?? []) goals.add(goal);
      for (const next of regions.links[region] ?? []) {
        looks += 1;
        if (isOpen(next)) open.push(next);
        else for (const door of regions.doors[next] ?? []) doorsSeen.add(door);
      }
    }
  };
  const lasts = (item: number): boolean => assumption === 'lasting' || level.items[item]?.consumed === false;
  const opensOneOnly = (item: number): boolean => (opens[item] ?? []).filter((door) => !opened.has(door)).length === 1;
  /** How a door opens without a choice; undefined when it does not. */
  const freely = (door: number): DoorOpening | undefined => {
    if (level.doors[door]?.locked === false) return { door, item: null };
    const owned = (keys[door] ?? []).filter((item) => items.has(item));
    looks += (keys[door] ?? []).length + 1;
    const item = owned.find(lasts) ?? owned.find(opensOneOnly);
    // Each of them is asked which doors it still opens.
    looks += owned.reduce((sum, one) => sum + (opens[one] ?? []).length, 0);
    return item === undefined ? undefined : { door, item };
  };

  walk(startsOf(level, regions, from.at, opened));
  for (let progress = true; progress;) {
    progress = false;
    for (const door of doorsSeen) {
      if (opened.has(door)) continue;
      const opening = freely(door);
      if (opening === undefined) continue;
      opened.add(door);
      openings.push(opening);
      if (opening.item !== null && !lasts(opening.item)) {
        items.delete(opening.item);
        spent.add(opening.item);
      }
      progress = true;
      const { at } = level.doors[door] ?? from;
      const region = regions.of[numberOfTile(level, at)] ?? -1;
      if (region !== -1 && isOpen(region)) walk([region]);
    }
  }
  const choices = [...doorsSeen]
    .filter((door) => !opened.has(door))
    .flatMap((door) => (keys[door] ?? []).filter((item) => items.has(item)).map((item) => ({ door, item })));
  const held = [...items];
  return {
    reached,
    items,
    goals,
    departure: { at: from.at, opened: [...opened], openings, held, spent: [...spent] },
    choices,
    looks,
  };
};
