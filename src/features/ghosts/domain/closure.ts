import type { Level, Tile } from '../../levels/domain/level.js';
import { isOnMap, numberOfTile } from './chart.js';
import { keyKindsOf } from './key-kinds.js';
import { regionsAround, regionsOf, type Manner, type Regions } from './regions.js';

/** A door and the item that opens it, both by position; null if it needs none. */
export type DoorOpening = { readonly door: number; readonly item: number | null };

/** Where a search starts, and with which items. Every state of a search is one. */
export type Departure = {
  readonly at: Tile;
  /** Open doors, and how the last of them were opened in this search. */
  readonly opened: readonly number[];
  readonly openings: readonly DoorOpening[];
  readonly held: readonly number[];
  readonly spent: readonly number[];
};

/** Everything that can be reached without spending anything that could be needed elsewhere. */
export type Closure = {
  /** By region: 1 if it can be reached. */
  readonly reached: Uint8Array;
  readonly items: ReadonlySet<number>;
  readonly goals: ReadonlySet<number>;
  readonly departure: Departure;
  /** Shut doors that were reached, each with one available item of each kind that opens it and is consumed. */
  readonly choices: readonly DoorOpening[];
  /** How many regions, doors, items and kinds of items were looked at. */
  readonly looks: number;
  /** Whether nothing is left to look at. */
  readonly whole: boolean;
};

/** How to plan with keys: `lasting` assumes that every item survives its use, so nothing has to be chosen. */
export type Assumption = 'exact' | 'lasting';

/** The regions of a position: the tile's own or, on a hazard that counts as a wall, the open ones around it. */
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
 * Walks everywhere, takes every item, and opens every door that costs nothing: doors without a lock, doors with an item that is not consumed, and
 * doors with items of which there are as many as shut doors that they open. The remaining choice is which of the other doors to spend an item on.
 * @param most the maximum number of looks; beyond that the result is incomplete
 */
export const closureOf = (
  level: Level,
  manner: Manner,
  from: Departure,
  { assumption = 'exact', most = Infinity }: { readonly assumption?: Assumption; readonly most?: number } = {},
): Closure => {
  const regions = regionsOf(level, manner);
  const { kinds, ofItem, ofDoor } = keyKindsOf(level);
  const reached = new Uint8Array(regions.count);
  const opened = new Set<number>();
  const spent = new Set(from.spent);
  const openings = [...from.openings];
  const items = new Set<number>();
  const goals = new Set<number>();
  const doorsSeen = new Set<number>();
  /**
   * By kind of key: the available ones, how many of its doors are shut, and whether its doors cost nothing. The last stays true whatever is opened
   * later.
   */
  const hand: number[][] = kinds.map(() => []);
  const shut = kinds.map(({ doors }) => doors.length);
  const free = new Uint8Array(kinds.length);
  /** Doors that may open now. */
  const due: number[] = [];
  let looks = kinds.length + from.spent.length + from.openings.length;

  const lasts = (kind: number): boolean => assumption === 'lasting' || kinds[kind]?.lasts === true;
  const count = (kind: number): void => {
    const held = hand[kind]?.length ?? 0;
    if (free[kind] === 1 || held === 0 || (!lasts(kind) && held < (shut[kind] ?? 0))) return;
    free[kind] = 1;
    const { doors = [] } = kinds[kind] ?? {};
    looks += doors.length;
    for (const door of doors) if (doorsSeen.has(door) && !opened.has(door)) due.push(door);
  };
  const open = (door: number): void => {
    opened.add(door);
    const openedBy = ofDoor[door] ?? [];
    looks += openedBy.length + 1;
    for (const kind of openedBy) {
      shut[kind] = (shut[kind] ?? 0) - 1;
      count(kind);
    }
  };
  const take = (item: number): void => {
    looks += 1;
    if (spent.has(item) || items.has(item)) return;
    items.add(item);
    const kind = ofItem[item];
    if (kind === undefined) return;
    hand[kind]?.push(item);
    count(kind);
  };
  const see = (door: number): void => {
    looks += 1;
    if (doorsSeen.has(door) || opened.has(door)) return;
    doorsSeen.add(door);
    due.push(door);
  };
  const isOpen = (region: number): boolean => {
    const doors = regions.doors[region] ?? [];
    looks += doors.length + 1;
    return doors.every((door) => opened.has(door));
  };
  const walk = (start: number): void => {
    const waiting = [start];
    for (let region = waiting.pop(); region !== undefined && looks <= most; region = waiting.pop()) {
      looks += 1;
      if (reached[region] === 1) continue;
      reached[region] = 1;
      for (const item of regions.items[region] ?? []) take(item);
      for (const goal of regions.goals[region] ?? []) goals.add(goal);
      looks += regions.goals[region]?.length ?? 0;
      for (const next of regions.links[region] ?? []) {
        if (isOpen(next)) waiting.push(next);
        else for (const door of regions.doors[next] ?? []) see(door);
      }
    }
  };
  /** How a door opens without a choice; undefined if it does not. */
  const freely = (door: number): DoorOpening | undefined => {
    if (level.doors[door]?.locked === false) return { door, item: null };
    const openedBy = ofDoor[door] ?? [];
    looks += openedBy.length;
    const kind = openedBy.find((one) => free[one] === 1 && lasts(one)) ?? openedBy.find((one) => free[one] === 1);
    if (kind === undefined) return undefined;
    const [item = null] = hand[kind] ?? [];
    if (item !== null && !lasts(kind)) {
      hand[kind]?.shift();
      items.delete(item);
      spent.add(item);
    }
    return { door, item };
  };

  for (const door of from.opened) open(door);
  for (const item of from.held) take(item);
  for (const start of startsOf(level, regions, from.at, opened)) walk(start);
  for (let at = 0; at < due.length && looks <= most; at += 1) {
    const door = due[at] ?? -1;
    const opening = opened.has(door) ? undefined : freely(door);
    if (opening === undefined) continue;
    open(door);
    openings.push(opening);
    const region = regions.of[numberOfTile(level, level.doors[door]?.at ?? from.at)] ?? -1;
    if (region !== -1 && isOpen(region)) walk(region);
  }
  const choices: DoorOpening[] = [];
  for (const door of doorsSeen) {
    if (opened.has(door) || looks > most) continue;
    looks += ofDoor[door]?.length ?? 0;
    for (const kind of ofDoor[door] ?? [])
      for (const item of hand[kind]?.slice(0, 1) ?? []) choices.push({ door, item });
  }
  const departure = { at: from.at, opened: [...opened], openings, held: [...items], spent: [...spent] };
  return { reached, items, goals, departure, choices, looks, whole: looks <= most };
};
