import TinyQueue from 'tinyqueue';
import type { Level, Tile } from '../../levels/domain/level.js';
import { chartOf, DIRECTIONS, distance, isOnMap, numberOfTile, tileOfNumber } from './chart.js';
import type { World } from './world.js';

/** How many moves of detour it is worth to avoid a hazard. */
const HAZARD_COST = 25;
/** More than any distance on a map, so that among equal costs the tile nearer to its end comes first. */
const AHEADS = 1_024;
const FAR = 0x7fff_ffff;

/** The destination of a path: the nearest tile that it accepts. */
type Destination = {
  readonly accepts: (tile: number) => boolean;
  /**
   * Only this tile and its neighbours are accepted: the search goes towards it (A*; Hart, Nilsson and Raphael 1968). Without it, the search goes
   * everywhere.
   */
  readonly towards?: Tile;
  /** Tiles that the path must avoid. */
  readonly shunned: readonly number[];
};

/**
 * The cheapest path through everything that is open now, as letters of DIRECTIONS, avoiding hazards if the detour is acceptable, and never through
 * one that would kill. Empty if the ghost is already there; null if there is no path.
 */
export const findPath = (level: Level, world: World, { accepts, towards, shunned }: Destination): string | null => {
  const { tiles, walls, harms, doors } = chartOf(level);
  const start = numberOfTile(level, world.at);
  if (accepts(start)) return '';
  const opened = new Set(world.opened);
  const barred = new Set(shunned);
  const costs = new Int32Array(tiles).fill(FAR);
  const ways = new Uint8Array(tiles);
  const settled = new Uint8Array(tiles);
  // One number for a tile and its cost, so the tile breaks the remaining ties.
  const queue = new TinyQueue<number>([start]);
  costs[start] = 0;
  for (let first = queue.pop(); first !== undefined; first = queue.pop()) {
    const here = first % tiles;
    if (settled[here] === 1) continue;
    settled[here] = 1;
    if (accepts(here)) return trace(level, ways, start, here);
    const at = tileOfNumber(level, here);
    for (const [direction, way] of DIRECTIONS.entries()) {
      const next = { x: at.x + way.x, y: at.y + way.y };
      const tile = numberOfTile(level, next);
      if (!isOnMap(level, next) || walls[tile] === 1 || barred.has(tile)) continue;
      if (doors.get(tile)?.some((door) => !opened.has(door)) === true) continue;
      const harm = harms.get(tile) ?? 0;
      if (harm >= world.hp) continue;
      const cost = (costs[here] ?? FAR) + (harm > 0 ? HAZARD_COST : 1);
      if (cost >= (costs[tile] ?? 0)) continue;
      costs[tile] = cost;
      ways[tile] = direction;
      const ahead = towards === undefined ? 0 : Math.max(0, distance(next, towards) - 1);
      queue.push(((cost + ahead) * AHEADS + ahead) * tiles + tile);
    }
  }
  return null;
};

const trace = (level: Level, ways: Uint8Array, start: number, end: number): string => {
  const letters: string[] = [];
  for (let tile = end; tile !== start;) {
    const way = DIRECTIONS[ways[tile] as 0 | 1 | 2 | 3];
    letters.push(way.name);
    tile -= way.y * level.width + way.x;
  }
  return letters.reverse().join('');
};
