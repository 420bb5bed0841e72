import type { Level, Tile } from '../level/level.js';
import { escapeXml } from '../shared/xml.js';
import { cutText } from '../shared/text.js';

/** The side of a tile, in units of the picture. */
const SIDE = 10;
/** Tiles are as warm as they were entered often: in so many shades. */
const SHADES = ['#dbeafe', '#93c5fd', '#60a5fa', '#f59e0b', '#ef4444'] as const;
/** How many places of the path are drawn, the last ones: a longer one hides itself. */
const PATH_PLACES = 4_000;
const NAME_CHARS = 40;

/** Runs of tiles of one row, as one path: a picture of 256 × 256 tiles stays below 1 MiB. */
const runs = (level: Level, isIn: (x: number, y: number) => boolean): string => {
  const parts: string[] = [];
  for (let y = 0; y < level.height; y += 1) {
    for (let x = 0; x < level.width; x += 1) {
      if (!isIn(x, y)) continue;
      const from = x;
      while (x + 1 < level.width && isIn(x + 1, y)) x += 1;
      parts.push(
        `M${String(from * SIDE)} ${String(y * SIDE)}h${String((x - from + 1) * SIDE)}v${String(SIDE)}H${String(from * SIDE)}z`,
      );
    }
  }
  return parts.join('');
};

const filled = (path: string, colour: string): string => (path === '' ? '' : `<path d="${path}" fill="${colour}"/>`);
const middle = (place: number): string => String(place * SIDE + SIDE / 2);

const mark = (kind: string, colour: string, { id, at }: { readonly id: string; readonly at: Tile }): string =>
  `<circle cx="${middle(at.x)}" cy="${middle(at.y)}" r="${String(SIDE / 2 - 1)}" fill="${colour}"><title>${kind} ${escapeXml(cutText(id, NAME_CHARS))}</title></circle>`;

/** Which shade a tile has that was entered so often, of tiles entered `most` often at most. */
const shadeOf = (times: number, most: number): number =>
  Math.min(SHADES.length - 1, Math.floor((Math.log(times) / Math.log(most + 1)) * SHADES.length));

/** Where a session went, step by step, and where findings began. */
export type Journey = {
  readonly places: readonly Tile[];
  readonly findings: readonly {
    readonly n: number;
    readonly kind: string;
    readonly subject: string;
    readonly at: Tile;
  }[];
};

/** A level with the way of a ghost through it as SVG: how often each tile was entered, the path, and where findings began (contract 9.12). */
export const pictureOf = (level: Level, { places, findings }: Journey): string => {
  const times = new Map<number, number>();
  for (const { x, y } of places) times.set(y * level.width + x, (times.get(y * level.width + x) ?? 0) + 1);
  let most = 1;
  for (const count of times.values()) most = Math.max(most, count);
  const isShade = (shade: number) => (x: number, y: number) => {
    const count = times.get(y * level.width + x);
    return count !== undefined && shadeOf(count, most) === shade;
  };
  const path = places.slice(-PATH_PLACES).map(({ x, y }) => `${middle(x)},${middle(y)}`);
  const { width, height } = { width: String(level.width * SIDE), height: String(level.height * SIDE) };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<title>${escapeXml(level.name)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    filled(
      runs(level, (x, y) => level.rows[y]?.[x] === '#'),
      '#374151',
    ),
    ...SHADES.map((colour, shade) => filled(runs(level, isShade(shade)), colour)),
    path.length < 2 ? '' : `<polyline points="${path.join(' ')}" fill="none" stroke="#1f2937" stroke-width="0.6"/>`,
    ...level.hazards.map((thing) => mark('hazard', '#dc2626', thing)),
    ...level.doors.map((thing) => mark('door', '#92400e', thing)),
    ...level.items.map((thing) => mark('item', '#d97706', thing)),
    ...level.npcs.map((thing) => mark('character', '#7c3aed', thing)),
    ...level.goals.map((thing) => mark('goal', '#16a34a', thing)),
    mark('spawn', '#2563eb', { id: '', at: level.spawn }),
    ...findings.map(
      ({ n, kind, subject, at }) =>
        `<g><rect x="${String(at.x * SIDE)}" y="${String(at.y * SIDE)}" width="${String(SIDE)}" height="${String(SIDE)}" fill="none" stroke="#be185d" stroke-width="1.5"/><title>${String(n)}. ${kind} ${escapeXml(cutText(subject, NAME_CHARS))}</title></g>`,
    ),
    '</svg>',
    '',
  ]
    .filter((line, index, lines) => line !== '' || index === lines.length - 1)
    .join('\n');
};
