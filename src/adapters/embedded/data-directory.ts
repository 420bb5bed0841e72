import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { StartProblem } from '../../kernel/base/start-problem.js';
import { makeDirectory } from '../files/make-directory.js';
import { readLine, writePrivateLine } from '../files/private-file.js';

/** The layout of the directory and its files. Raise it when an older server could no longer read what a newer one writes. */
export const FORMAT_VERSION = 1;

const SQLITE_BUSY = 5;

/** A data directory that belongs to this process until it is disposed of. Paths are absolute. */
export interface DataDirectory extends Disposable {
  readonly path: string;
  readonly eventsFile: string;
  readonly readsFile: string;
  readonly idempotencyFile: string;
  readonly snapshotsFile: string;
  readonly archiveFolder: string;
  readonly secretFile: string;
  readonly ownerKeyFile: string;
}

/**
 * Opens the data directory for this process alone, and creates it if it is missing (mode 0700). The lock ends with the process, however that ends.
 * @throws StartProblem if it cannot be written, has a newer format, or is open in another process; nothing was changed then
 */
export const openDataDirectory = async (directory: string): Promise<DataDirectory> => {
  const path = resolve(directory);
  const formatFile = join(path, 'format');
  await makeWritable(path);
  await assertFormat(path, formatFile);
  const lock = takeLock(path);
  try {
    // Checked again: another process may have been creating the directory at the first check.
    if (!(await assertFormat(path, formatFile))) await writePrivateLine(formatFile, `${FORMAT_VERSION}`);
  } catch (error) {
    lock.close();
    throw error instanceof StartProblem ? error : unwritable(path, error);
  }
  return {
    path,
    eventsFile: join(path, 'events.db'),
    readsFile: join(path, 'reads.db'),
    idempotencyFile: join(path, 'idempotency.db'),
    snapshotsFile: join(path, 'snapshots.db'),
    archiveFolder: join(path, 'archive'),
    secretFile: join(path, 'secret'),
    ownerKeyFile: join(path, 'owner-key'),
    [Symbol.dispose]: () => {
      if (lock.isOpen) lock.close();
    },
  };
};

const unusable =
  (what: 'made' | 'written') =>
  (path: string, cause: unknown): StartProblem =>
    new StartProblem(
      `The data directory ${path} cannot be ${what} (${(cause as NodeJS.ErrnoException).code ?? String(cause)}). ` +
        'Set ANIMA_DATA_DIR to a directory that you can write to.',
      { cause },
    );
const unmakeable = unusable('made');
const unwritable = unusable('written');

const makeWritable = async (path: string): Promise<void> => {
  try {
    await makeDirectory(path);
  } catch (error) {
    throw unmakeable(path, error);
  }
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unwritable(path, error);
  }
};

/** Whether the directory states its format. */
const assertFormat = async (path: string, formatFile: string): Promise<boolean> => {
  let text: string | null;
  try {
    text = await readLine(formatFile);
  } catch (error) {
    throw unwritable(path, error);
  }
  if (text === null) return false;
  const found = /^[0-9]{1,9}$/.test(text) ? Number(text) : null;
  if (found === null)
    throw new StartProblem(
      `The file ${formatFile} contains no format version. Check that ${path} is a data directory of Anima.`,
    );
  if (found > FORMAT_VERSION)
    throw new StartProblem(
      `The data directory ${path} has format version ${found}; this server supports versions up to ${FORMAT_VERSION}. Start a newer server.`,
    );
  return true;
};

/**
 * Holds an exclusive transaction on an empty database: a lock of the operating system that ends with the process. Nothing else in this process may
 * open that file: closing it anywhere would release the lock (POSIX).
 */
const takeLock = (path: string): DatabaseSyncInstance => {
  let lock: DatabaseSyncInstance | undefined;
  try {
    lock = new DatabaseSync(join(path, 'lock'), { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY)
      throw new StartProblem(
        `The data directory ${path} is already open in another process. Stop that process first.`,
        {
          cause: error,
        },
      );
    throw unwritable(path, error);
  }
};
