import type { Level, Tile } from '../../levels/domain/level.js';
import { escapeXml } from '../../../kernel/base/xml.js';
import { cutText } from '../../../kernel/base/text.js';
import { COLOURS, legendOf, SHADES } from './picture-legend.js';
import { tileShades } from './tile-shades.js';

/** The side of a tile, in units of the picture. */
const SIDE = 10;
/** The space between the level and the legend. */
const GAP = 4;
/** How many positions of the path are drawn, counted from its end: a longer path would cover itself. */
export const PATH_PLACES = 4_000;
const NAME_CHARS = 40;

/** Runs of tiles in a row, as one path: a picture of 256 × 256 tiles stays below 1 MiB. */
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

type Marked = 'hazard' | 'door' | 'item' | 'character' | 'goal' | 'spawn';
const mark = (kind: Marked, { id, at }: { readonly id: string; readonly at: Tile }): string =>
  `<circle cx="${middle(at.x)}" cy="${middle(at.y)}" r="${String(SIDE / 2 - 1)}" fill="${COLOURS[kind]}"><title>${kind} ${escapeXml(cutText(id, NAME_CHARS))}</title></circle>`;

/** The positions of a session, step by step, and where findings began. */
export type Journey = {
  readonly places: readonly Tile[];
  readonly findings: readonly {
    readonly n: number;
    readonly kind: string;
    readonly subject: string;
    readonly at: Tile;
  }[];
};

/** A level as SVG, with the path of a ghost through it, how often each tile was entered, and where findings began. */
export const pictureOf = (level: Level, { places, findings }: Journey): string => {
  const shadeAt = tileShades(level, places);
  const isShade = (shade: number) => (x: number, y: number) => shadeAt(x, y) === shade;
  const path = places.slice(-PATH_PLACES).map(({ x, y }) => `${middle(x)},${middle(y)}`);
  const legend = legendOf(level.width * SIDE);
  const whole = { width: String(legend.width), height: String(level.height * SIDE + GAP + legend.height) };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${whole.width} ${whole.height}" width="${whole.width}" height="${whole.height}">`,
    `<title>${escapeXml(level.name)}</title>`,
    `<rect width="${whole.width}" height="${whole.height}" fill="#ffffff"/>`,
    filled(
      runs(level, (x, y) => level.rows[y]?.[x] === '#'),
      COLOURS.wall,
    ),
    ...SHADES.map((colour, shade) => filled(runs(level, isShade(shade)), colour)),
    path.length < 2
      ? ''
      : `<polyline points="${path.join(' ')}" fill="none" stroke="${COLOURS.way}" stroke-width="0.6"/>`,
    ...level.hazards.map((thing) => mark('hazard', thing)),
    ...level.doors.map((thing) => mark('door', thing)),
    ...level.items.map((thing) => mark('item', thing)),
    ...level.npcs.map((thing) => mark('character', thing)),
    ...level.goals.map((thing) => mark('goal', thing)),
    mark('spawn', { id: '', at: level.spawn }),
    ...findings.map(
      ({ n, kind, subject, at }) =>
        `<g><rect x="${String(at.x * SIDE)}" y="${String(at.y * SIDE)}" width="${String(SIDE)}" height="${String(SIDE)}" fill="none" stroke="${COLOURS.finding}" stroke-width="1.5"/><title>${String(n)}. ${kind} ${escapeXml(cutText(subject, NAME_CHARS))}</title></g>`,
    ),
    `<g transform="translate(0 ${String(level.height * SIDE + GAP)})">${legend.svg}</g>`,
    '</svg>',
    '',
  ]
    .filter((line, index, lines) => line !== '' || index === lines.length - 1)
    .join('\n');
};
