import { createReadStream } from 'node:fs';
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { Rejection } from '../../kernel/base/rejection.js';
import { flushDirectory } from '../files/flush.js';
import { wholePayload } from '../shared/whole-payload.js';
import { diskFull } from '../shared/disk-full.js';

const OWNER_ONLY = 0o600;
/** How many bytes are read before yielding to other work. */
const PIECE_BYTES = 1024 * 1024;
/** Seconds after which a repeat makes sense. */
const UNAVAILABLE_RETRY_SECONDS = 1;
const NO_SPACE = new Set(['ENOSPC', 'EDQUOT']);

/** The code of a failure of the file system. */
export const fileErrorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** The refusal for a failure of the file system: STORE_FULL, STORE_UNAVAILABLE. Any other error is a defect and is returned unchanged. */
const fileRejection = (error: unknown): unknown => {
  const code = fileErrorCode(error);
  if (error instanceof Rejection || code === undefined) return error;
  if (NO_SPACE.has(code)) return diskFull();
  const message = 'The archive cannot be read or written. Try again shortly.';
  const rejection = new Rejection('STORE_UNAVAILABLE', { message, retryAfter: UNAVAILABLE_RETRY_SECONDS });
  rejection.cause = error;
  return rejection;
};

/** @throws Rejection STORE_FULL, STORE_UNAVAILABLE */
export const onFiles = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw fileRejection(error);
  }
};

/** The result of the work, or null if the file is missing. */
const unlessMissing = async <T>(work: () => Promise<T>): Promise<T | null> => {
  try {
    return await work();
  } catch (error) {
    if (fileErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
};

/** The names in a directory; none if the directory does not exist. */
export const directoryNames = async (path: string): Promise<readonly string[]> =>
  (await unlessMissing(() => readdir(path))) ?? [];

export const isThere = async (path: string): Promise<boolean> => (await unlessMissing(() => stat(path))) !== null;

/** The length of a file; 0 if it is gone. */
export const fileBytes = async (path: string): Promise<number> => (await unlessMissing(() => stat(path)))?.size ?? 0;
/** When the content of a file was last changed, in milliseconds since 1970; null if it is gone. */
export const changedMs = async (path: string): Promise<number | null> =>
  (await unlessMissing(() => stat(path)))?.mtimeMs ?? null;
/** The content of a short file; null if it does not exist. */
export const readText = (path: string): Promise<string | null> => unlessMissing(() => readFile(path, 'utf8'));

/** The payload in a file; null without a file, `damaged` if the content does not match the digest. */
export const readPayload = (path: string, digest: string): Promise<Buffer | 'damaged' | null> =>
  unlessMissing(
    async () => (await wholePayload(digest, createReadStream(path, { highWaterMark: PIECE_BYTES }))) ?? 'damaged',
  );

/** Writes a file atomically: first under the name `unfinished`, which the next start removes if this process dies. Flushed. */
export const writeWhole = async (path: string, unfinished: string, bytes: Uint8Array): Promise<void> => {
  try {
    const handle = await open(unfinished, 'wx', OWNER_ONLY);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await moveFile(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
};

/** Renames a file. The target directory is flushed: if the old name came back after a crash, that would do no harm. */
export const moveFile = async (from: string, to: string): Promise<void> => {
  await rename(from, to);
  await flushDirectory(dirname(to));
};

/** Removes a file. @returns whether it existed */
export const removeFile = async (path: string): Promise<boolean> =>
  (await unlessMissing(() => rm(path).then(() => true))) ?? false;

/** Removes every file in an existing directory. */
export const emptyDirectory = async (path: string): Promise<void> => {
  for (const name of await directoryNames(path)) await rm(join(path, name), { recursive: true, force: true });
};
