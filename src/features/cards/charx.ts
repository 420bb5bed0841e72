import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';

import { Rejection } from '../../kernel/base/rejection.js';
import { cardTooLarge } from './card-too-large.js';

/** What the card in a CHARX is called (chara_card_v3, CHARX). */
const CARD_FILE = 'card.json';
/** How many files in a CHARX are looked through: the card, and its assets. */
const MAX_FILES = 4_096;
const ZIP_STARTS = ['504b0304', '504b0506'];
const START_BYTES = 4;
const JPEG_START = 'ffd8ff';

/** Whether bytes begin as a JPEG does. */
export const beginsAsJpeg = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, START_BYTES)).toString('hex').startsWith(JPEG_START);

/** Whether bytes begin as a zip does, or as a JPEG does: RisuAI puts the zip behind a picture. */
export const beginsAsCharx = (bytes: Uint8Array): boolean => {
  const start = Buffer.from(bytes.subarray(0, START_BYTES)).toString('hex');
  return ZIP_STARTS.includes(start) || beginsAsJpeg(bytes);
};

/** The record at the end of a zip (in the ZIP specification, 4.3.16): its signature, its bytes without the comment, and the most bytes of a comment. */
const END_RECORD = Buffer.from('504b0506', 'hex');
const END_BYTES = 22;
const COMMENT_BYTES = 65_535;

/**
 * A zip without what stands before it. The places that it names count from its own beginning, or from that of the file; both are in use.
 * @throws Rejection CARD_MISSING for a JPEG with nothing behind it
 */
const withoutPicture = (bytes: Buffer): Buffer => {
  if (!beginsAsJpeg(bytes)) return bytes;
  const from = Math.max(0, bytes.length - END_BYTES - COMMENT_BYTES);
  for (let at = bytes.length - END_BYTES; at >= from; at -= 1) {
    at = bytes.lastIndexOf(END_RECORD, at);
    if (at < from) break;
    const isEnd = at + END_BYTES + bytes.readUInt16LE(at + 20) === bytes.length;
    const start = at - bytes.readUInt32LE(at + 12) - bytes.readUInt32LE(at + 16);
    if (isEnd && start >= 0) return bytes.subarray(start);
  }
  throw new Rejection('CARD_MISSING');
};

const refuseCharx = (reason: string): Rejection => new Rejection('CHARX_INVALID', { details: { reason } });

const cardFile = async (zip: ZipFile): Promise<Entry> => {
  let files = 0;
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName === CARD_FILE) return entry;
    files += 1;
    if (files === MAX_FILES) throw refuseCharx(`The zip has no card.json among its first ${String(MAX_FILES)} files.`);
  }
  throw new Rejection('CARD_MISSING');
};

/** @throws Rejection BODY_TOO_LARGE; Error if the file is damaged */
const readCardFile = async (zip: ZipFile, entry: Entry, maxBytes: number): Promise<Buffer> => {
  // The stream fails if there are more bytes than the entry says.
  if (entry.uncompressedSize > maxBytes) throw cardTooLarge('CHARX', maxBytes);
  const chunks: Buffer[] = [];
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

/**
 * The JSON of the card in a CHARX, alone or behind a JPEG, as unparsed bytes. Nothing else in it is decompressed.
 * @param maxBytes of the JSON
 * @throws Rejection CHARX_INVALID, CARD_MISSING, BODY_TOO_LARGE
 */
export const cardInCharx = async (bytes: Buffer, maxBytes: number): Promise<Buffer> => {
  try {
    const zip = await fromBufferPromise(withoutPicture(bytes), { lazyEntries: true });
    return await readCardFile(zip, await cardFile(zip), maxBytes);
  } catch (thrown) {
    if (thrown instanceof Rejection) throw thrown;
    throw refuseCharx('The zip is damaged or encrypted.');
  }
};
