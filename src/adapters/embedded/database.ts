import { basename } from 'node:path';

import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite';

import { Rejection } from '../../kernel/base/rejection.js';
import { StartProblem } from '../../kernel/base/start-problem.js';
import { diskFull } from '../shared/disk-full.js';

/** FULL flushes every commit. NORMAL flushes only checkpoints: a power failure may lose the last commits, never the file's integrity. */
export type Synchronous = 'FULL' | 'NORMAL';

export type DatabaseOptions = {
  readonly synchronous: Synchronous;
  /** Page cache in KiB. */
  readonly cacheKib?: number;
  /** How often the write-ahead log is moved into the file, in milliseconds. */
  readonly checkpointMs?: number;
  /** What to do about a damaged file, as a sentence; by default, to restore a backup. */
  readonly ifDamaged?: string;
};

/** How long a statement waits for another process's lock, in milliseconds. Short, because the wait blocks everything. */
const BUSY_TIMEOUT_MS = 1_000;
/** Small and frequent: a checkpoint runs between requests, and a request may have to wait for it. */
const CHECKPOINT_MS = 100;
/** A commit that leaves more pages than this in the log makes a checkpoint itself. This bounds the log if the timer cannot keep up. */
const CHECKPOINT_PAGES = 2_000;
/** The log is truncated to this size after it was larger. */
const LOG_BYTES_KEPT = 64 * 1024 * 1024;
const CACHE_KIB = 32 * 1024;
/** Seconds after which a write makes sense again. */
const UNAVAILABLE_RETRY_SECONDS = 1;

const SYNCHRONOUS_LEVEL: Readonly<Record<Synchronous, number>> = { NORMAL: 1, FULL: 2 };
const SQLITE_FULL = 13;
/** Primary result codes that mean that the file cannot be used now: busy, locked, read-only, I/O error, cannot open. */
const UNAVAILABLE = new Set([5, 6, 8, 10, 14]);
/** Primary result codes of a damaged file: corrupt, not a database. */
const SQLITE_CORRUPT = 11;
const DAMAGED = new Set([SQLITE_CORRUPT, 26]);
/** SQLite's messages for a damaged file: errors of prepared statements carry no code. */
const DAMAGE = /disk image is malformed|file is not a database/;
const RESTORE = 'Restore the entire data directory from a backup.';
/** ENOSPC and EDQUOT: SQLite reports some of them as an I/O error. */
const NO_SPACE = new Set([28, 122]);

type SqliteError = Error & { code?: string; errcode?: number; systemErrno?: number };

/**
 * The refusal for a failed statement: STORE_FULL if the disk is full, STORE_UNAVAILABLE if the file is closed or cannot be reached. Any other error
 * is a defect and is returned unchanged.
 */
export const sqliteRejection = (error: unknown): unknown => {
  if (!(error instanceof Error) || error instanceof Rejection) return error;
  const { code, errcode, systemErrno } = error as SqliteError;
  const primary = errcode === undefined ? -1 : errcode & 0xff;
  if (primary === SQLITE_FULL || (systemErrno !== undefined && primary !== -1 && NO_SPACE.has(systemErrno)))
    return diskFull();
  if (code === 'ERR_INVALID_STATE' || UNAVAILABLE.has(primary)) return fileUnavailable();
  return error;
};

/** The refusal of a store that is closed or cannot be reached. */
export const fileUnavailable = (): Rejection =>
  new Rejection('STORE_UNAVAILABLE', { retryAfter: UNAVAILABLE_RETRY_SECONDS });

/**
 * The refusal for a damaged part of the event store's file; it names what cannot be read, which belongs to the caller.
 * @param what a stream's name or another noun phrase
 */
export const damagedPart = (path: string, what: string): Rejection =>
  new Rejection('STORE_UNAVAILABLE', {
    message: `The file ${basename(path)} is damaged: ${what} cannot be read. ${RESTORE}`,
    details: { file: basename(path) },
  });

/** The error for a row that SQLite reads but that does not hold what was written, as after an overwritten page. */
export const damagedRow = (cause?: unknown): Error =>
  Object.assign(new Error('a row does not hold what was written', { cause }), { errcode: SQLITE_CORRUPT });

/** Whether the file is damaged, or not a database at all. */
export const isDamage = (error: unknown): boolean =>
  error instanceof Error && (DAMAGED.has(((error as SqliteError).errcode ?? -1) & 0xff) || DAMAGE.test(error.message));

/**
 * Why a database file cannot be used at the start.
 * @param ifDamaged what to do about a damaged one, as a sentence
 */
export const asStartProblem = (path: string, error: unknown, ifDamaged = RESTORE): StartProblem => {
  if (error instanceof StartProblem) return error;
  if (isDamage(error)) return new StartProblem(`The database file ${path} is damaged. ${ifDamaged}`, { cause: error });
  const reason = error instanceof Error ? error.message : String(error);
  return new StartProblem(`The database file ${path} cannot be opened: ${reason}.`, { cause: error });
};

/** One SQLite file with a write-ahead log, its only connection, and the statements prepared on it. The statements live no longer than this object. */
export class Database implements Disposable {
  readonly path: string;
  readonly #sqlite: DatabaseSyncInstance;
  readonly #begin: StatementSyncInstance;
  readonly #commit: StatementSyncInstance;
  readonly #timer: NodeJS.Timeout;
  #written = false;

  private constructor(path: string, sqlite: DatabaseSyncInstance, checkpointMs: number) {
    this.path = path;
    this.#sqlite = sqlite;
    this.#begin = sqlite.prepare('BEGIN IMMEDIATE');
    this.#commit = sqlite.prepare('COMMIT');
    this.#timer = setInterval(() => {
      if (this.#written) this.checkpoint('PASSIVE');
    }, checkpointMs).unref();
  }

  /**
   * Opens or creates the file, and verifies that it is as durable as requested. The path `:memory:` means a database without a file: it disappears
   * with this object.
   * @throws StartProblem if the file cannot be opened, is not a database, or does not accept the requested mode
   */
  static open(path: string, options: DatabaseOptions): Database {
    const { synchronous, cacheKib = CACHE_KIB, checkpointMs = CHECKPOINT_MS } = options;
    let sqlite: DatabaseSyncInstance | undefined;
    try {
      sqlite = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
      sqlite.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};
        PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${LOG_BYTES_KEPT};
        PRAGMA cache_size = -${cacheKib}; PRAGMA trusted_schema = OFF;`);
      const database = new Database(path, sqlite, checkpointMs);
      database.#assert('journal_mode', path === ':memory:' ? 'memory' : 'wal');
      database.#assert('synchronous', SYNCHRONOUS_LEVEL[synchronous]);
      return database;
    } catch (error) {
      if (sqlite?.isOpen === true) sqlite.close();
      throw asStartProblem(path, error, options.ifDamaged);
    }
  }

  /** A statement for the caller to keep. `rows: 'arrays'` returns rows as arrays of columns, which is faster for many rows. */
  prepare(sql: string, rows: 'objects' | 'arrays' = 'objects'): StatementSyncInstance {
    const statement = this.#sqlite.prepare(sql);
    if (rows === 'arrays') statement.setReturnArrays(true);
    return statement;
  }

  /** Runs SQL that returns nothing, e.g. a schema or a pragma. */
  exec(sql: string): void {
    this.#sqlite.exec(sql);
  }

  /** The value of a pragma. */
  pragma(name: string): unknown {
    return Object.values((this.#sqlite.prepare(`PRAGMA ${name}`).get() ?? {}) as Record<string, unknown>)[0];
  }

  /** @throws StartProblem unless every commit is flushed (synchronous FULL). */
  assertFlushed(): void {
    this.#assert('synchronous', SYNCHRONOUS_LEVEL.FULL);
  }

  /**
   * Runs `write` in one transaction. With FULL it is flushed when this returns. An error rolls everything back.
   * @throws Rejection STORE_FULL, STORE_UNAVAILABLE; what `write` throws
   */
  transaction<T>(write: () => T): T {
    try {
      this.#begin.run();
      const result = write();
      this.#commit.run();
      this.#written = true;
      return result;
    } catch (error) {
      this.#rollBack();
      throw sqliteRejection(error);
    }
  }

  /**
   * Moves the log into the file. PASSIVE does what is possible without waiting; TRUNCATE also empties the log. A failure (a full disk) loses nothing:
   * the log still holds everything, and the next checkpoint tries again.
   */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): void {
    try {
      this.#written = false;
      this.#sqlite.exec(`PRAGMA wal_checkpoint(${mode})`);
    } catch {
      this.#written = true;
    }
  }

  /** Closes the file. A second call does nothing. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (!this.#sqlite.isOpen) return;
    this.checkpoint('TRUNCATE');
    this.#sqlite.close();
  }

  #assert(pragma: string, wanted: string | number): void {
    const found = this.pragma(pragma);
    if (found === wanted) return;
    clearInterval(this.#timer);
    throw new StartProblem(
      `The database file ${this.path} does not keep ${pragma} = ${wanted} (found ${String(found)}); its disk may not support it.`,
    );
  }

  /** Rolls back, if SQLite has not done so itself after an error, e.g. a full disk. */
  #rollBack(): void {
    try {
      if (this.#sqlite.isOpen && this.#sqlite.isTransaction) this.#sqlite.exec('ROLLBACK');
    } catch {
      // The connection is then unusable, and the next statement reports that.
    }
  }
}
