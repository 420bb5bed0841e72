import { promisify } from 'node:util';
import { inflate } from 'node:zlib';

import { Rejection } from '../../kernel/base/rejection.js';
import type { PngChunk } from '../../kernel/crypto/png.js';

/** The kinds of chunks with a text (W3C PNG, section 11.3.3), those that need no decompression first. */
export const TEXT_TYPES = ['tEXt', 'iTXt', 'zTXt'] as const;

/** A keyword has at most 79 bytes and ends with a zero. */
const KEYWORD_BYTES = 80;
const DEFLATE = 0;

const inflated = promisify(inflate);

const endOf = (data: Uint8Array, from: number): number => data.indexOf(0, from);

/** The keyword of a chunk in lower case, since readers of cards ignore its case; undefined if it has no text. */
export const keywordOf = ({ type, data }: PngChunk): string | undefined => {
  if (!TEXT_TYPES.some((known) => known === type)) return undefined;
  const end = endOf(data.subarray(0, KEYWORD_BYTES), 0);
  return Buffer.from(data.subarray(0, Math.max(0, end)))
    .toString('latin1')
    .toLowerCase();
};

const refuse = (reason: string): Rejection => new Rejection('PNG_INVALID', { details: { reason } });

/** Where the text of a chunk begins, and whether it is compressed. @throws Rejection PNG_INVALID */
const textAt = ({ type, data }: PngChunk): { readonly at: number; readonly isCompressed: boolean } => {
  const after = endOf(data, 0) + 1;
  if (type === 'tEXt') return { at: after, isCompressed: false };
  const isCompressed = type === 'zTXt' || data[after] === 1;
  const method = type === 'zTXt' ? data[after] : data[after + 1];
  if (isCompressed && method !== DEFLATE) throw refuse(`A ${type} chunk is compressed with an unknown method.`);
  if (type === 'zTXt') return { at: after + 1, isCompressed };
  const language = endOf(data, after + 2);
  const translated = language < 0 ? -1 : endOf(data, language + 1);
  if (translated < 0) throw refuse('An iTXt chunk ends before its text.');
  return { at: translated + 1, isCompressed };
};

/**
 * The text of a chunk, decompressed if it is compressed; nothing beyond the limit is decompressed.
 * @returns undefined if the text has more than `maxBytes` bytes
 * @throws Rejection PNG_INVALID
 */
export const textOfChunk = async (chunk: PngChunk, maxBytes: number): Promise<Buffer | undefined> => {
  const { at, isCompressed } = textAt(chunk);
  const bytes = Buffer.from(chunk.data.subarray(at));
  if (!isCompressed) return bytes.length > maxBytes ? undefined : bytes;
  try {
    return await inflated(bytes, { maxOutputLength: maxBytes });
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined;
    throw refuse(`The text of a ${chunk.type} chunk cannot be decompressed.`);
  }
};
