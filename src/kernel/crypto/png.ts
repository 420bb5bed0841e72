import { crc32 } from 'node:zlib';

import { Rejection } from '../base/rejection.js';

/**
 * The chunks of a PNG (W3C PNG, section 5). Pixels are never read and nothing is decompressed here, so a picture costs no more than its length. Why no
 * library does this: docs/adr/0020-png-chunks.md.
 */
export type PngChunk = { readonly type: string; readonly data: Uint8Array };

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** A picture of 16 MiB in the smallest chunks that encoders write has several thousand. */
const MAX_CHUNKS = 16_384;
/** Length, type and CRC, in bytes. */
const AROUND_DATA = 12;
const TYPE = /^[A-Za-z]{4}$/;
const HEADER_BYTES = 13;

/** Whether bytes begin with the signature of a PNG. */
export const beginsAsPng = (bytes: Uint8Array): boolean => SIGNATURE.equals(bytes.subarray(0, SIGNATURE.length));

const refusePng = (reason: string): Rejection => new Rejection('PNG_INVALID', { details: { reason } });

/**
 * The chunks of a PNG up to its end, IEND included; bytes after it are ignored.
 * @throws Rejection PNG_INVALID, with the reason in its details, for anything that is truncated or damaged
 */
export const pngChunks = (bytes: Uint8Array): readonly PngChunk[] => {
  if (!beginsAsPng(bytes)) throw refusePng('The file does not begin with the PNG signature.');
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const chunks: PngChunk[] = [];
  for (let at = SIGNATURE.length; ;) {
    if (chunks.length === MAX_CHUNKS) throw refusePng(`The PNG has more than ${String(MAX_CHUNKS)} chunks.`);
    const length = at + AROUND_DATA > buffer.length ? Infinity : buffer.readUInt32BE(at);
    const end = at + AROUND_DATA + length;
    if (end > buffer.length) throw refusePng('The PNG ends in the middle of a chunk.');
    const type = buffer.toString('latin1', at + 4, at + 8);
    if (!TYPE.test(type)) throw refusePng('A chunk has an invalid type.');
    if (crc32(buffer.subarray(at + 4, end - 4)) !== buffer.readUInt32BE(end - 4)) {
      throw refusePng(`The CRC of a ${type} chunk is wrong.`);
    }
    const isHeader = type === 'IHDR' && length === HEADER_BYTES;
    if (isHeader !== (chunks.length === 0))
      throw refusePng('The PNG does not start with exactly one valid IHDR chunk.');
    chunks.push({ type, data: buffer.subarray(at + 8, end - 4) });
    if (type === 'IEND') return chunks;
    at = end;
  }
};

const chunkBytes = ({ type, data }: PngChunk): Buffer => {
  const bytes = Buffer.alloc(AROUND_DATA + data.length);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, bytes.length - 4)), bytes.length - 4);
  return bytes;
};

/** Builds a PNG from these chunks. */
export const pngOf = (chunks: readonly PngChunk[]): Buffer => Buffer.concat([SIGNATURE, ...chunks.map(chunkBytes)]);
