import { rmSync } from 'node:fs';

import { StartProblem } from '../../domain/shared/start-problem.js';
import type { Moment, Snapshot, Snapshots } from '../../ports/snapshots.js';
import { sqliteRejection, Database, isDamage } from './database.js';

/** Changes whenever the table does; what another version wrote is dropped. */
const FORMAT = 1;
/** Nothing here is the only copy, so moving the log into the file may wait: every checkpoint costs a flush. */
const CHECKPOINT_MS = 2_000;
/** Each snapshot is read once when a stream is folded from it: only the indexes are worth caching. */
const CACHE_KIB = 2 * 1024;

/** The state is the last column: skipping a row then reads nothing of it. */
const SCHEMA = `
  DROP TABLE IF EXISTS snapshots;
  CREATE TABLE snapshots (
    stream TEXT NOT NULL, revision INTEGER NOT NULL, version INTEGER NOT NULL, hash TEXT NOT NULL, at_ms INTEGER NOT NULL,
    state TEXT NOT NULL, PRIMARY KEY (stream, revision)
  );
  CREATE INDEX snapshots_by_time ON snapshots (stream, at_ms, revision);
  PRAGMA user_version = ${FORMAT};`;

const LATEST = 'SELECT revision, hash, at_ms AS atMs, state FROM snapshots WHERE stream = ? AND version = ? AND';

type SnapshotRow = Pick<Snapshot, 'revision' | 'hash' | 'atMs' | 'state'>;

/** Snapshots in one SQLite file of this process. A commit is not flushed by itself. After a lost one the file is intact but lacks a few snapshots. */
export class EmbeddedSnapshots implements Snapshots, Disposable {
  readonly #database: Database;
  readonly #sql;

  private constructor(database: Database) {
    this.#database = database;
    if (database.pragma('user_version') !== FORMAT) database.transaction(() => database.exec(SCHEMA));
    this.#sql = {
      byRevision: database.prepare(`${LATEST} revision <= ? ORDER BY revision DESC LIMIT 1`),
      byTime: database.prepare(`${LATEST} at_ms <= ? ORDER BY at_ms DESC, revision DESC LIMIT 1`),
      save: database.prepare('INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?)'),
    };
  }

  /**
   * Opens the store on a file. Disposing of the store closes the file. A damaged file is replaced.
   * @throws StartProblem as Database.open
   */
  static open(path: string): EmbeddedSnapshots {
    try {
      return openFile(path, (database) => new EmbeddedSnapshots(database));
    } catch (error) {
      if (!isDamage(error) && !(error instanceof StartProblem && isDamage(error.cause))) throw error;
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
      return openFile(path, (database) => new EmbeddedSnapshots(database));
    }
  }

  /** @throws Rejection as sqliteRejection says; what SQLite throws for a damaged file */
  async latest(stream: string, version: number, moment: Moment): Promise<Snapshot | null> {
    try {
      const row = (
        'revision' in moment
          ? this.#sql.byRevision.get(stream, version, moment.revision)
          : this.#sql.byTime.get(stream, version, moment.timeMs)
      ) as SnapshotRow | undefined;
      return row === undefined ? null : { stream, version, ...row };
    } catch (error) {
      throw sqliteRejection(error);
    }
  }

  /** @throws Rejection STORE_FULL, STORE_UNAVAILABLE; what SQLite throws for a damaged file */
  async save({ stream, revision, version, hash, atMs, state }: Snapshot): Promise<void> {
    this.#database.transaction(() => this.#sql.save.run(stream, revision, version, hash, atMs, state));
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }
}

const openFile = <T>(path: string, use: (database: Database) => T): T => {
  const database = Database.open(path, { synchronous: 'NORMAL', checkpointMs: CHECKPOINT_MS, cacheKib: CACHE_KIB });
  try {
    return use(database);
  } catch (error) {
    database[Symbol.dispose]();
    throw error;
  }
};
