import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

import type { CheckpointReceiver, KeptCheckpoint } from '../../ports/checkpoint-receiver.js';

/** How much of a file is read at a time, in bytes. */
const BLOCK_BYTES = 256 * 1024;
/** The longest line that can be a note, in bytes. */
const LINE_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

type NameCount = Parameters<CheckpointReceiver['lastKept']>[0];
type Found = KeptCheckpoint & { readonly count: number };

/** The checkpoint in a line `{"note"}` if it is of this log; null for any other line. */
const checkpointIn = (line: string, nameCount: NameCount): Found | null => {
  try {
    const { note } = JSON.parse(line) as { readonly note: string };
    const [origin = '', size = '', root = ''] = note.split('\n', 3);
    const count = nameCount(origin);
    if (count === null || !/^\d{1,15}$/.test(size)) return null;
    return { origin, size: Number(size), root: Buffer.from(root, 'base64').toString('hex'), count };
  } catch {
    return null;
  }
};

/** Notes that were sent twice may come out of order. */
const newestOf = (found: readonly Found[]): KeptCheckpoint | null => {
  const [newest] = found.toReversed().sort((one, other) => other.count - one.count || other.size - one.size);
  if (newest === undefined) return null;
  const { origin, size, root } = newest;
  return { origin, size, root };
};

const searched = async (
  handle: FileHandle,
  bytesInFile: number,
  nameCount: NameCount,
  signal: AbortSignal,
): Promise<KeptCheckpoint | null> => {
  let rest = Buffer.alloc(0);
  for (let end = bytesInFile; end > 0;) {
    signal.throwIfAborted();
    const begin = Math.max(0, end - BLOCK_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - begin), 0, end - begin, begin);
    const bytes = Buffer.concat([buffer.subarray(0, bytesRead), rest]);
    // A line that began before this block is read with the block before.
    const whole = begin === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
    const lines = bytes.subarray(whole).toString('utf8').split('\n');
    const newest = newestOf(lines.map((line) => checkpointIn(line, nameCount)).filter((one) => one !== null));
    if (newest !== null) return newest;
    rest = whole === 0 ? bytes : bytes.subarray(0, whole);
    if (rest.length > LINE_BYTES) rest = Buffer.alloc(0);
    end = begin;
  }
  return null;
};

/**
 * The newest checkpoint of a log among its last notes in a file of notes, found from its end however far back they are; null if there is none, or it
 * is no regular file; 'missing' if there is no file.
 * @throws errors of the file system; the reason of the signal
 */
export const lastKeptIn = async (
  file: string,
  nameCount: NameCount,
  signal: AbortSignal,
): Promise<KeptCheckpoint | 'missing' | null> => {
  let handle: FileHandle;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return 'missing';
    throw error;
  }
  try {
    const stat = await handle.stat();
    return stat.isFile() ? await searched(handle, stat.size, nameCount, signal) : null;
  } finally {
    await handle.close();
  }
};
