import { inflateSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { pngPicture } from '../../../src/features/ghosts/png-picture.js';
import { pngChunks } from '../../../src/kernel/crypto/png.js';
import { COLOURS, SHADES } from '../../../src/features/ghosts/domain/picture-legend.js';
import { rasterOf } from '../../../src/features/ghosts/domain/raster.js';
import { drawnLevel } from './domain/drawn-level.js';

const level = drawnLevel(['#####', '#@aG#', '#####']);
const places = [1, 2, 3, 2, 3].map((x) => ({ x, y: 1 }));
const findings = [{ n: 1, kind: 'soft_lock', subject: 'a', at: { x: 2, y: 1 } }];

/** Reads a PNG with a palette as a viewer does: the colour of each pixel. */
const colours = (
  png: Uint8Array,
): { readonly width: number; readonly height: number; at(x: number, y: number): string } => {
  const chunks = pngChunks(png);
  const dataOf = (wanted: string): Buffer => Buffer.from(chunks.find(({ type }) => type === wanted)?.data ?? []);
  const [header, palette, rows] = [dataOf('IHDR'), dataOf('PLTE'), inflateSync(dataOf('IDAT'))];
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  expect([...header.subarray(8)]).toEqual([8, 3, 0, 0, 0]);
  expect(rows).toHaveLength((width + 1) * height);
  for (let y = 0; y < height; y += 1) expect(rows[y * (width + 1)]).toBe(0);
  const at = (x: number, y: number): string => {
    const place = rows[y * (width + 1) + 1 + x] ?? 255;
    return `#${palette.subarray(place * 3, place * 3 + 3).toString('hex')}`;
  };
  return { width, height, at };
};

describe('the picture of a session as PNG', () => {
  it('shows walls, things, how often tiles were entered, the way, and where findings began [9.12b]', async () => {
    const png = colours(await pngPicture(rasterOf(level, { places, findings })));
    expect([png.width, png.height]).toEqual([80, 48]);
    expect(png.at(0, 0)).toBe(COLOURS.wall);
    expect(png.at(24, 24)).toBe(COLOURS.spawn);
    expect(png.at(17, 17)).toBe(SHADES[Math.floor((Math.log(1) / Math.log(3)) * SHADES.length)]);
    expect(png.at(40, 24)).toBe(COLOURS.item);
    expect(png.at(32, 20)).toBe(COLOURS.finding);
    expect(png.at(49, 17)).toBe(SHADES[Math.floor((Math.log(2) / Math.log(3)) * SHADES.length)]);
    expect(png.at(47, 23)).toBe(COLOURS.finding);
    expect(png.at(49, 23)).toBe(COLOURS.way);
    expect(png.at(56, 24)).toBe(COLOURS.goal);
  });

  it.each([
    [256, 256, 4],
    [1, 1, 16],
    [500, 2, 3],
  ])('of %i × %i tiles has %i pixels for each side of one [9.12b]', (width, height, side) => {
    const rows = Array.from({ length: height }, () => '.'.repeat(width));
    const raster = rasterOf({ ...level, width, height, rows }, { places: [], findings: [] });
    expect([raster.width, raster.height]).toEqual([width * side, height * side]);
  });
});
