import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';

import { Rejection } from '../../kernel/base/rejection.js';
import { cardTooLarge } from './card-too-large.js';

/** What the card in a CHARX is called (chara_card_v3, CHARX). */
const CARD_FILE = 'card.json';
/** How many files in a CHARX are looked through: the card, and its assets. */
const MAX_FILES = 4_096;
const ZIP_STARTS = ['504b0304', '504b0506'];
const START_BYTES = 4;

/** Whether bytes begin as a zip does. */
export const beginsAsZip = (bytes: Uint8Array): boolean =>
  ZIP_STARTS.includes(Buffer.from(bytes.subarray(0, START_BYTES)).toString('hex'));

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
 * The JSON of the card in a CHARX, as unparsed bytes. Nothing else in it is decompressed.
 * @param maxBytes of the JSON
 * @throws Rejection CHARX_INVALID, CARD_MISSING, BODY_TOO_LARGE
 */
export const cardInCharx = async (bytes: Buffer, maxBytes: number): Promise<Buffer> => {
  try {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true });
    return await readCardFile(zip, await cardFile(zip), maxBytes);
  } catch (thrown) {
    if (thrown instanceof Rejection) throw thrown;
    throw refuseCharx('The zip is damaged or encrypted.');
  }
};
