import type { Level, Tile } from '../../levels/domain/level.js';
import { drained, type Sliced } from '../../../kernel/base/sliced.js';
import { chartOf, isOnMap, neighboursOf, numberOfTile, type Chart } from './chart.js';

/**
 * A level as regions: tiles between which nothing but hazards is in the way, and each tile with doors as its own region. Reachability is computed on
 * the few regions instead of the tiles.
 */
export type Regions = {
  readonly count: number;
  /** By tile: its region, -1 if no one can stand on it. */
  readonly of: Int32Array;
  /** By region: its number of tiles. */
  readonly sizes: readonly number[];
  /** By region: its doors, by position; none in most. */
  readonly doors: readonly (readonly number[])[];
  /** By region: its neighbours. */
  readonly links: readonly (readonly number[])[];
  /** By region: the items and goals that can be reached from it, by position. */
  readonly items: readonly (readonly number[])[];
  readonly goals: readonly (readonly number[])[];
};

/** `careful`: all hazards count as walls. `bold`: only those that kill immediately do. */
export type Manner = 'careful' | 'bold';

const made: Readonly<Record<Manner, WeakMap<Level, Regions>>> = { careful: new WeakMap(), bold: new WeakMap() };

const isBarred = ({ level, walls, harms }: Chart, tile: number, manner: Manner): boolean => {
  const harm = harms.get(tile) ?? 0;
  return walls[tile] !== 0 || (manner === 'careful' ? harm > 0 : harm >= level.hp);
};

/** The number of tiles between two yields: some milliseconds. */
const SLICE_TILES = 4_096;

/** Numbers the region of each tile, row by row. */
function* label(chart: Chart, manner: Manner): Sliced<{ readonly of: Int32Array; readonly sizes: readonly number[] }> {
  const of = new Int32Array(chart.tiles).fill(-1);
  const sizes: number[] = [];
  let looks = 0;
  for (let tile = 0; tile < chart.tiles; tile += 1) {
    if ((looks += 1) % SLICE_TILES === 0) yield SLICE_TILES;
    if (of[tile] !== -1 || isBarred(chart, tile, manner)) continue;
    const region = sizes.push(1) - 1;
    of[tile] = region;
    const open = chart.doors.has(tile) ? [] : [tile];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if ((looks += 1) % SLICE_TILES === 0) yield SLICE_TILES;
      for (const next of neighboursOf(chart, at)) {
        if (of[next] !== -1 || chart.doors.has(next) || isBarred(chart, next, manner)) continue;
        of[next] = region;
        sizes[region] = (sizes[region] ?? 0) + 1;
        open.push(next);
      }
    }
  }
  return { of, sizes };
}

/** The regions from which an object on this tile can be reached. */
export const regionsAround = (level: Level, of: Int32Array, tile: Tile): readonly number[] => {
  if (!isOnMap(level, tile)) return [];
  const number = numberOfTile(level, tile);
  const around = [number, ...neighboursOf(chartOf(level), number)].map((one) => of[one] ?? -1);
  return [...new Set(around)].filter((region) => region !== -1);
};

function* make(level: Level, manner: Manner): Sliced<Regions> {
  const chart = chartOf(level);
  yield chart.tiles;
  const { of, sizes } = yield* label(chart, manner);
  const empty = <Value>(): Value[][] => sizes.map(() => []);
  const links = sizes.map(() => new Set<number>());
  const doors = empty<number>();
  for (const [tile, there] of chart.doors) {
    const region = of[tile] ?? -1;
    if (region === -1) continue;
    doors[region] = [...there];
    for (const next of neighboursOf(chart, tile)) {
      const other = of[next] ?? -1;
      if (other === -1) continue;
      links[region]?.add(other);
      links[other]?.add(region);
    }
  }
  const reachedFrom = (things: readonly { readonly at: Tile }[]): readonly (readonly number[])[] => {
    const lists = empty<number>();
    things.forEach(({ at }, position) => {
      for (const region of regionsAround(level, of, at)) lists[region]?.push(position);
    });
    return lists;
  };
  return {
    count: sizes.length,
    of,
    sizes,
    doors,
    links: links.map((set) => [...set]),
    items: reachedFrom(level.items),
    goals: reachedFrom(level.goals),
  };
}

/** The regions of a level, made once for its lifetime, in slices. */
export function* regionsInSlices(level: Level, manner: Manner): Sliced<Regions> {
  const regions = made[manner].get(level) ?? (yield* make(level, manner));
  made[manner].set(level, regions);
  return regions;
}

/** The regions of a level: immediate if the level was studied (study.ts). */
export const regionsOf = (level: Level, manner: Manner): Regions => drained(regionsInSlices(level, manner));
