import { promisify } from 'node:util';
import { deflate } from 'node:zlib';

import { pngOf } from '../../kernel/crypto/png.js';
import type { Raster } from './domain/raster.js';

const BIT_DEPTH = 8;
const INDEXED = 3;

const header = ({ width, height }: Raster): Buffer => {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([BIT_DEPTH, INDEXED], 8);
  return data;
};

/** A raster as a PNG with a palette (W3C PNG, section 11.2). Compressed outside the event loop. */
export const pngPicture = async (raster: Raster): Promise<Buffer> =>
  pngOf([
    { type: 'IHDR', data: header(raster) },
    { type: 'PLTE', data: Buffer.from(raster.palette.map((colour) => colour.slice(1)).join(''), 'hex') },
    { type: 'IDAT', data: await promisify(deflate)(raster.rows) },
    { type: 'IEND', data: Buffer.alloc(0) },
  ]);
