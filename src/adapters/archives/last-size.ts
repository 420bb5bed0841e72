import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** How much of a file is read at a time, and at most, in bytes: the notes of other logs may follow the last one of this log. */
const BLOCK_BYTES = 256 * 1024;
const LOOKED_BACK_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The size in a line `{"note"}` if it is a checkpoint of the log with this name; null for any other line. */
const sizeOf = (line: string, origin: string): number | null => {
  try {
    const { note } = JSON.parse(line) as { readonly note: string };
    const [name, size = ''] = note.split('\n', 2);
    return name === origin && /^\d{1,15}$/.test(size) ? Number(size) : null;
  } catch {
    return null;
  }
};

/**
 * The largest size of a log among its last notes in a file of notes, found from its end; null if there is none, or it is no regular file.
 * @throws errors of the file system
 */
export const lastSizeIn = async (file: string, origin: string): Promise<number | null> => {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return null;
    let rest = Buffer.alloc(0);
    for (let end = stat.size; end > 0 && stat.size - end < LOOKED_BACK_BYTES;) {
      const begin = Math.max(0, end - BLOCK_BYTES);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - begin), 0, end - begin, begin);
      const bytes = Buffer.concat([buffer.subarray(0, bytesRead), rest]);
      // A line that began before this block is read with the block before.
      const whole = begin === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
      const lines = bytes.subarray(whole).toString('utf8').split('\n');
      const sizes = lines.map((line) => sizeOf(line, origin)).filter((size) => size !== null);
      if (sizes.length > 0) return Math.max(...sizes);
      rest = bytes.subarray(0, whole);
      end = begin;
    }
    return null;
  } finally {
    await handle.close();
  }
};
