import type { Level, Tile } from '../../../../src/features/levels/domain/level.js';

const keyOf = ({ x, y }: Tile): string => `${String(x)} ${String(y)}`;

/** The tiles that can be reached on foot from the spawn while these doors are shut. */
export const reachable = (level: Level, shut: readonly string[]): ((tile: Tile) => boolean) => {
  const closed = new Set(level.doors.filter(({ id }) => shut.includes(id)).map(({ at }) => keyOf(at)));
  const seen = new Set<string>();
  const waiting: Tile[] = [level.spawn];
  for (let tile = waiting.pop(); tile !== undefined; tile = waiting.pop()) {
    const { x, y } = tile;
    if (level.rows[y]?.[x] !== '.' || closed.has(keyOf(tile)) || seen.has(keyOf(tile))) continue;
    seen.add(keyOf(tile));
    waiting.push({ x: x + 1, y }, { x: x - 1, y }, { x, y: y + 1 }, { x, y: y - 1 });
  }
  return (tile) => seen.has(keyOf(tile));
};
