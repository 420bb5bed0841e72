import type { Level, Tile } from '../../levels/domain/level.js';
import { COLOURS, SHADES } from './picture-legend.js';
import { type Journey, PATH_PLACES } from './picture.js';
import { tileShades } from './tile-shades.js';

/** The longer side of a raster, in pixels, unless that would make its tiles too small. */
const LONGER_SIDE = 1_024;
const LARGEST_TILE = 16;
const SMALLEST_TILE = 3;
/** The radius of a mark, as a fraction of its tile. */
const MARK_RADIUS = 0.4;

const PAPER = '#ffffff';
const PALETTE = [PAPER, ...SHADES, ...Object.values(COLOURS)] as const;

/** A picture of palette indices. `rows`: for each row the filter 0, and then one byte for each pixel, as PNG requires (W3C PNG, section 9.2). */
export type Raster = {
  readonly width: number;
  readonly height: number;
  readonly palette: readonly string[];
  readonly rows: Uint8Array;
};

/** The same as `pictureOf`, in pixels and without the legend, so that no fonts are needed. */
export const rasterOf = (level: Level, { places, findings }: Journey): Raster => {
  const fitting = Math.floor(LONGER_SIDE / Math.max(level.width, level.height));
  const side = Math.max(SMALLEST_TILE, Math.min(LARGEST_TILE, fitting));
  const [width, height] = [level.width * side, level.height * side];
  const rows = new Uint8Array((width + 1) * height);

  const paint = (x: number, y: number, colour: number): void => {
    if (x >= 0 && y >= 0 && x < width && y < height) rows[y * (width + 1) + 1 + x] = colour;
  };
  const paintTile = ({ x, y }: Tile, isPainted: (dx: number, dy: number) => boolean, colour: string): void => {
    const place = PALETTE.indexOf(colour as (typeof PALETTE)[number]);
    for (let dy = 0; dy < side; dy += 1)
      for (let dx = 0; dx < side; dx += 1) if (isPainted(dx, dy)) paint(x * side + dx, y * side + dy, place);
  };
  const whole = (): boolean => true;
  const centre = (side - 1) / 2;
  const round = (dx: number, dy: number): boolean => Math.hypot(dx - centre, dy - centre) <= side * MARK_RADIUS;
  const edge = (dx: number, dy: number): boolean => Math.min(dx, dy, side - 1 - dx, side - 1 - dy) === 0;
  const paintWay = (from: Tile, to: Tile): void => {
    const middle = Math.floor(centre);
    const pixels = Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y)) * side;
    for (let at = 0; at <= pixels; at += 1) {
      const part = pixels === 0 ? 0 : at / pixels;
      const along = (one: number, other: number): number => Math.round((one + (other - one) * part) * side) + middle;
      paint(along(from.x, to.x), along(from.y, to.y), PALETTE.indexOf(COLOURS.way));
    }
  };

  const shadeAt = tileShades(level, places);
  for (let y = 0; y < level.height; y += 1)
    for (let x = 0; x < level.width; x += 1) {
      if (level.rows[y]?.[x] === '#') paintTile({ x, y }, whole, COLOURS.wall);
      const shade = SHADES[shadeAt(x, y) ?? SHADES.length];
      if (shade !== undefined) paintTile({ x, y }, whole, shade);
    }
  const path = places.slice(-PATH_PLACES);
  for (const [index, to] of path.entries()) paintWay(path[index - 1] ?? to, to);
  for (const [kind, things] of [
    ['hazard', level.hazards],
    ['door', level.doors],
    ['item', level.items],
    ['character', level.npcs],
    ['goal', level.goals],
    ['spawn', [{ at: level.spawn }]],
  ] as const)
    for (const { at } of things) paintTile(at, round, COLOURS[kind]);
  for (const { at } of findings) paintTile(at, edge, COLOURS.finding);
  return { width, height, palette: PALETTE, rows };
};
