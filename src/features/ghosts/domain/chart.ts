import type { Level, Tile } from '../../levels/domain/level.js';

/** An object of a level by its kind and its position in the level's list of that kind. */
export type Placed = {
  readonly kind: 'goal' | 'item' | 'door' | 'hazard' | 'npc';
  readonly position: number;
  readonly id: string;
  readonly at: Tile;
};

/** The lookup tables of a level that every step needs, made once. Tiles are numbered row by row from 0. */
export type Chart = {
  readonly level: Level;
  readonly tiles: number;
  /** By tile: 1 where no one can ever stand. */
  readonly walls: Uint8Array;
  /** By tile: its cost on entering, in hit points. */
  readonly harms: ReadonlyMap<number, number>;
  /** By tile: its doors, by position. */
  readonly doors: ReadonlyMap<number, readonly number[]>;
  readonly things: ReadonlyMap<number, readonly Placed[]>;
  readonly byId: ReadonlyMap<string, Placed>;
  /** By item: the doors that it opens, by position. */
  readonly opens: readonly (readonly number[])[];
};

/** Levels are immutable, so the chart stays valid for the lifetime of its level. */
const charts = new WeakMap<Level, Chart>();

const KINDS = [
  ['goal', 'goals'],
  ['item', 'items'],
  ['door', 'doors'],
  ['hazard', 'hazards'],
  ['npc', 'npcs'],
] as const;

const into = <Value>(map: Map<number, Value[]>, key: number, value: Value): void => {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
};

const make = (level: Level): Chart => {
  const { width, height, rows } = level;
  const walls = new Uint8Array(width * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) walls[y * width + x] = rows[y]?.[x] === '.' ? 0 : 1;
  }
  const things = new Map<number, Placed[]>();
  const byId = new Map<string, Placed>();
  for (const [kind, list] of KINDS) {
    level[list].forEach(({ id, at }, position) => {
      const placed: Placed = { kind, position, id, at };
      into(things, at.y * width + at.x, placed);
      byId.set(id, placed);
    });
  }
  const doors = new Map<number, number[]>();
  level.doors.forEach(({ at }, door) => into(doors, at.y * width + at.x, door));
  const harms = new Map<number, number>();
  for (const { at, harm } of level.hazards) {
    const tile = at.y * width + at.x;
    harms.set(tile, (harms.get(tile) ?? 0) + harm);
  }
  const opens = level.items.map((item) => {
    const opened: number[] = [];
    for (const id of item.opens) {
      const placed = byId.get(id);
      if (placed?.kind === 'door') opened.push(placed.position);
    }
    return opened;
  });
  return { level, tiles: width * height, walls, harms, doors, things, byId, opens };
};

export const chartOf = (level: Level): Chart => {
  const known = charts.get(level);
  if (known !== undefined) return known;
  const chart = make(level);
  charts.set(level, chart);
  return chart;
};

/** The four ways out of a tile, in the order in which they are tried. */
export const DIRECTIONS = [
  { name: 'N', word: 'north', x: 0, y: -1 },
  { name: 'E', word: 'east', x: 1, y: 0 },
  { name: 'S', word: 'south', x: 0, y: 1 },
  { name: 'W', word: 'west', x: -1, y: 0 },
] as const;

export const isOnMap = ({ width, height }: Level, { x, y }: Tile): boolean =>
  x >= 0 && x < width && y >= 0 && y < height;
export const numberOfTile = ({ width }: Level, { x, y }: Tile): number => y * width + x;
export const tileOfNumber = ({ width }: Level, tile: number): Tile => ({
  x: tile % width,
  y: Math.floor(tile / width),
});
/** The number of moves between two tiles if nothing is in the way. */
export const distance = (from: Tile, to: Tile): number => Math.abs(from.x - to.x) + Math.abs(from.y - to.y);
/** Whether objects on one tile are in reach from the other: the same tile, or one of its four neighbours. */
export const isInReach = (from: Tile, to: Tile): boolean => distance(from, to) <= 1;

/** The neighbours of a tile that are on the map and not walls, by number. */
export const neighboursOf = ({ level, walls }: Chart, tile: number): readonly number[] => {
  const { x, y } = tileOfNumber(level, tile);
  const found: number[] = [];
  for (const way of DIRECTIONS) {
    const next = { x: x + way.x, y: y + way.y };
    const number = numberOfTile(level, next);
    if (isOnMap(level, next) && walls[number] === 0) found.push(number);
  }
  return found;
};
