import type { Level, Tile } from '../../levels/domain/level.js';
import { SHADES } from './picture-legend.js';

/** The shade of a tile by how often it was entered, if the most visited tile was entered `most` times. */
const shadeOf = (times: number, most: number): number =>
  Math.min(SHADES.length - 1, Math.floor((Math.log(times) / Math.log(most + 1)) * SHADES.length));

/** The shade of each tile by how often it was entered, undefined if it never was. */
export const tileShades = (
  { width }: Pick<Level, 'width'>,
  places: readonly Tile[],
): ((x: number, y: number) => number | undefined) => {
  const times = new Map<number, number>();
  for (const { x, y } of places) times.set(y * width + x, (times.get(y * width + x) ?? 0) + 1);
  let most = 1;
  for (const count of times.values()) most = Math.max(most, count);
  return (x, y) => {
    const count = times.get(y * width + x);
    return count === undefined ? undefined : shadeOf(count, most);
  };
};
