import { open } from 'node:fs/promises';

import {
  BundleBroken,
  type BundleEvent,
  type BundleHeader,
  type Culprit,
  readEnd,
  readEvent,
  readHeader,
} from '../read-bundle.js';
import { checkProof, type Proven, type Trust } from '../verify-bundle.js';

/** The longest accepted line in bytes: an event has at most 900,000, plus its envelope. */
const LINE_BYTES = 2 * 1024 * 1024;
const READ_BYTES = 256 * 1024;

const NEWLINE = 0x0a;

/** The bundle is invalid; `line` is the first line that shows it (counted from 1). */
export class LineBroken extends Error {
  readonly line: number;
  /** The revision of the broken event; null for lines that are not events. */
  readonly revision: number | null;
  readonly culprit: Culprit;

  constructor(line: number, revision: number | null, reason: string, culprit: Culprit = 'bundle') {
    super(reason);
    this.culprit = culprit;
    this.line = line;
    this.revision = revision;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const decoded = (bytes: Uint8Array, line: number): string => {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new LineBroken(line, null, 'it is not UTF-8');
  }
};

const tooLong = (line: number): LineBroken => new LineBroken(line, null, 'it is longer than any line of a bundle');

/** The lines of a file; the last one must end with a newline too. @throws LineBroken */
async function* linesOf(file: string): AsyncGenerator<string, void> {
  const handle = await open(file, 'r');
  try {
    let line = 1;
    let waiting = Buffer.alloc(0);
    for await (const piece of handle.createReadStream({ highWaterMark: READ_BYTES, autoClose: false })) {
      let begin = 0;
      const bytes = Buffer.concat([waiting, piece as Buffer]);
      for (let end = bytes.indexOf(NEWLINE, waiting.length); end >= 0; end = bytes.indexOf(NEWLINE, begin)) {
        if (end - begin >= LINE_BYTES) throw tooLong(line);
        yield decoded(bytes.subarray(begin, end), line);
        begin = end + 1;
        line += 1;
      }
      waiting = bytes.subarray(begin);
      if (waiting.length >= LINE_BYTES) throw tooLong(line);
    }
    if (waiting.length > 0) {
      const what =
        line === 1 ? 'the file is not a history bundle, or it is truncated' : 'it is incomplete: the file is truncated';
      throw new LineBroken(line, null, what);
    }
  } finally {
    await handle.close();
  }
}

/** The revision of the leaf within the bundle that the last line names, if any, so that its event can be kept. The line itself is checked when it is reached. */
const coveredRevision = async (file: string): Promise<number | null> => {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, READ_BYTES);
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    const text = buffer.toString('utf8').trimEnd();
    return readEnd(text.slice(text.lastIndexOf('\n') + 1), 1).proof?.leaf.revision ?? null;
  } catch (error) {
    if (error instanceof BundleBroken) return null;
    throw error;
  } finally {
    await handle.close();
  }
};

/** A valid bundle. */
export type WholeBundle = Proven & { readonly header: BundleHeader; readonly last: BundleEvent };

/**
 * Checks a bundle line by line, in constant memory.
 * @throws LineBroken at the first invalid line; errors of the file system
 */
export const verifyBundleFile = async (file: string, trust: Trust): Promise<WholeBundle> => {
  const wanted = await coveredRevision(file);
  let header: BundleHeader | null = null;
  let last: BundleEvent | null = null;
  let covered: BundleEvent | null = null;
  let whole: WholeBundle | null = null;
  let line = 0;
  for await (const text of linesOf(file)) {
    line += 1;
    try {
      if (header === null) {
        header = readHeader(text);
        last = { revision: header.from - 1, hash: header.prevHash, at: '' };
      } else if (last === null || whole !== null) throw new BundleBroken('the bundle ends before it');
      else if (last.revision < header.to) {
        last = readEvent(text, header, last);
        if (last.revision === wanted) covered = last;
      } else whole = endOf(text, { header, last, covered }, trust);
    } catch (error) {
      if (!(error instanceof BundleBroken)) throw error;
      const isEvent = header !== null && last !== null && line > 1 && last.revision < header.to;
      throw new LineBroken(line, isEvent ? (last?.revision ?? 0) + 1 : null, error.message, error.culprit);
    }
  }
  if (whole === null) throw new LineBroken(line + 1, null, 'it is missing: the file is truncated');
  return whole;
};

const endOf = (
  text: string,
  { header, last, covered }: { header: BundleHeader; last: BundleEvent; covered: BundleEvent | null },
  trust: Trust,
): WholeBundle => {
  const end = readEnd(text, header.version);
  const { events, head } = end;
  if (events !== header.to - header.from + 1 || head.revision !== last.revision || head.hash !== last.hash)
    throw new BundleBroken('it does not match the events before it');
  return { header, last, ...checkProof(header, end, covered, trust) };
};
