import TinyQueue from 'tinyqueue';
import type { Level } from '../../levels/domain/level.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { chartOf, DIRECTIONS, isOnMap, neighboursOf, numberOfTile, tileOfNumber } from './chart.js';
import type { Departure } from './closure.js';

type HarmSearch = {
  /** Paths that cost this many hit points or more are not followed. */
  readonly most: number;
  /**
   * `openable`: each door opens once one of its keys is reachable, even if the key may be needed elsewhere, and the detour may cost more. So the cost
   * is a lower bound. `open`: only doors that are open now.
   */
  readonly doors: 'openable' | 'open';
  /** The search ends at the first of these tiles; without them, when everything has been found. */
  readonly until?: ReadonlySet<number>;
};

/** The costs of paths in hit points, by tile. */
export type LeastHarm = {
  /** FAR if it cannot be reached. */
  readonly costs: Int32Array;
  /** By tile, the previous one on the path. */
  readonly before: Int32Array;
  /** By door, the item that opens it; by item, the tile from which it can be taken. */
  readonly openers: ReadonlyMap<number, number>;
  readonly taken: ReadonlyMap<number, number>;
  /** The first tile of `until` that was reached. */
  readonly end: number | null;
  /** How many tiles were looked at. */
  readonly looks: number;
};

export const FAR = 0x7fff_ffff;

/** The number of tiles between two yields: some milliseconds. */
const SLICE_TILES = 2_048;

/** The paths that cost the fewest hit points from a position (Dijkstra 1959), in slices. */
export function* leastHarm(
  level: Level,
  { at, opened, held, spent }: Pick<Departure, 'at' | 'opened' | 'held' | 'spent'>,
  { most, doors, until }: HarmSearch,
): Sliced<LeastHarm> {
  const chart = chartOf(level);
  const { tiles, harms, things, opens } = chart;
  const open = new Set(opened);
  const gone = new Set([...held, ...spent]);
  const costs = new Int32Array(tiles).fill(FAR);
  const before = new Int32Array(tiles).fill(-1);
  const settled = new Uint8Array(tiles);
  const openers = new Map<number, number>();
  const taken = new Map<number, number>();
  /** Shut door tiles that were reached, each with the tile before it. */
  const waiting = new Map<number, number>();
  // One number for a tile and its cost.
  const queue = new TinyQueue<number>();
  let looks = 0;
  let end: number | null = null;

  const isOpen = (door: number): boolean =>
    open.has(door) || (doors === 'openable' && (openers.has(door) || level.doors[door]?.locked === false));
  const enter = (tile: number, from: number, sofar: number): void => {
    const harm = harms.get(tile) ?? 0;
    const cost = sofar + harm;
    // A ghost never has more hit points than at the beginning.
    if (cost >= most || harm >= level.hp || cost >= (costs[tile] ?? 0)) return;
    costs[tile] = cost;
    before[tile] = from;
    queue.push(cost * tiles + tile);
  };
  const take = (item: number, tile: number, cost: number): void => {
    taken.set(item, tile);
    for (const door of opens[item] ?? []) {
      if (openers.has(door)) continue;
      openers.set(door, item);
      const place = numberOfTile(level, level.doors[door]?.at ?? at);
      const from = waiting.get(place);
      if (from !== undefined && (chart.doors.get(place) ?? []).every(isOpen)) enter(place, from, cost);
    }
  };
  const lookAround = (tile: number, cost: number): void => {
    const { x, y } = tileOfNumber(level, tile);
    for (const way of [{ x: 0, y: 0 }, ...DIRECTIONS]) {
      const near = { x: x + way.x, y: y + way.y };
      if (!isOnMap(level, near)) continue;
      for (const { kind, position } of things.get(numberOfTile(level, near)) ?? [])
        if (kind === 'item' && !gone.has(position) && !taken.has(position)) take(position, tile, cost);
    }
  };

  const start = numberOfTile(level, at);
  costs[start] = 0;
  queue.push(start);
  if (doors === 'openable') for (const item of held) take(item, start, 0);
  for (let first = queue.pop(); first !== undefined; first = queue.pop()) {
    const tile = first % tiles;
    if (settled[tile] === 1) continue;
    settled[tile] = 1;
    looks += 1;
    if (looks % SLICE_TILES === 0) yield SLICE_TILES;
    if (until?.has(tile) === true) {
      end = tile;
      break;
    }
    const cost = costs[tile] ?? FAR;
    if (doors === 'openable') lookAround(tile, cost);
    for (const next of neighboursOf(chart, tile)) {
      if ((chart.doors.get(next) ?? []).every(isOpen)) enter(next, tile, cost);
      else if (!waiting.has(next)) waiting.set(next, tile);
    }
  }
  yield looks % SLICE_TILES;
  return { costs, before, openers, taken, end, looks };
}
