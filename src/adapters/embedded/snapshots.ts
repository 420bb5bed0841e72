import { rmSync } from 'node:fs';

import { Rejection } from '../../kernel/base/rejection.js';
import { StartProblem } from '../../kernel/base/start-problem.js';
import type { Moment, Snapshot, Snapshots } from '../../ports/snapshots.js';
import { sqliteRejection, Database, isDamage } from './database.js';

/** Changes whenever the table does; the data of another version is dropped. */
const FORMAT = 1;
/** Nothing here is the only copy, so moving the log into the file may wait: every checkpoint costs a flush. */
const CHECKPOINT_MS = 2_000;
/** Each snapshot is read once when a stream is folded from it: only the indexes are worth caching. */
const CACHE_KIB = 2 * 1024;

/** The state is the last column, so that skipping a row reads nothing of it. */
const SCHEMA = `
  DROP TABLE IF EXISTS snapshots;
  CREATE TABLE snapshots (
    stream TEXT NOT NULL, revision INTEGER NOT NULL, version INTEGER NOT NULL, hash TEXT NOT NULL, at_ms INTEGER NOT NULL,
    state TEXT NOT NULL, PRIMARY KEY (stream, revision)
  );
  CREATE INDEX snapshots_by_time ON snapshots (stream, at_ms, revision);
  PRAGMA user_version = ${FORMAT};`;

const LATEST = 'SELECT revision, hash, at_ms AS atMs, state FROM snapshots WHERE stream = ? AND version = ? AND';

/** A snapshot that exists is not written again. */
const SAVE = `
  INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (stream, revision) DO UPDATE
    SET version = excluded.version, hash = excluded.hash, at_ms = excluded.at_ms, state = excluded.state
    WHERE (version, hash, state) IS NOT (excluded.version, excluded.hash, excluded.state)`;

type SnapshotRow = Pick<Snapshot, 'revision' | 'hash' | 'atMs' | 'state'>;

/**
 * Snapshots in one SQLite file of this process. Commits are not flushed individually. After a lost one the file is intact but lacks a few snapshots.
 * A damaged file is replaced once while it is open: snapshots are derived, and if a disk damages every file, more of them do not help.
 */
export class EmbeddedSnapshots implements Snapshots, Disposable {
  readonly #path: string;
  #file: SnapshotsFile;
  #replaced = false;

  private constructor(path: string) {
    this.#path = path;
    this.#file = openOrReplace(path);
  }

  /**
   * Opens the store on a file. Disposing of the store closes the file. A file that is damaged, or holds other tables, is replaced.
   * @throws StartProblem as Database.open
   * @throws Rejection STORE_FULL, STORE_UNAVAILABLE
   */
  static open(path: string): EmbeddedSnapshots {
    return new EmbeddedSnapshots(path);
  }

  /** @throws Rejection as in sqliteRejection; what SQLite throws for a file that is damaged again */
  async latest(stream: string, version: number, moment: Moment): Promise<Snapshot | null> {
    const row = this.#replacingDamage(
      ({ byRevision, byTime }) =>
        ('revision' in moment
          ? byRevision.get(stream, version, moment.revision)
          : byTime.get(stream, version, moment.timeMs)) as SnapshotRow | undefined,
    );
    return row === undefined ? null : { stream, version, ...row };
  }

  /** @throws Rejection STORE_FULL, STORE_UNAVAILABLE; what SQLite throws for a file that is damaged again */
  async save({ stream, revision, version, hash, atMs, state }: Snapshot): Promise<void> {
    this.#replacingDamage(({ database, save }) =>
      database.transaction(() => save.run(stream, revision, version, hash, atMs, state)),
    );
  }

  [Symbol.dispose](): void {
    this.#file.database[Symbol.dispose]();
  }

  #replacingDamage<T>(use: (file: SnapshotsFile) => T): T {
    try {
      return use(this.#file);
    } catch (error) {
      if (!isDamage(error) || this.#replaced) throw sqliteRejection(error);
      this.#replaced = true;
      this.#file.database[Symbol.dispose]();
      this.#file = replaceFile(this.#path);
      return use(this.#file);
    }
  }
}

/** The open file with its statements. */
type SnapshotsFile = ReturnType<typeof openFile>;

const openFile = (path: string) => {
  const database = Database.open(path, { synchronous: 'NORMAL', checkpointMs: CHECKPOINT_MS, cacheKib: CACHE_KIB });
  try {
    if (database.pragma('user_version') !== FORMAT) database.transaction(() => database.exec(SCHEMA));
    return {
      database,
      byRevision: database.prepare(`${LATEST} revision <= ? ORDER BY revision DESC LIMIT 1`),
      byTime: database.prepare(`${LATEST} at_ms <= ? ORDER BY at_ms DESC, revision DESC LIMIT 1`),
      save: database.prepare(SAVE),
    };
  } catch (error) {
    database[Symbol.dispose]();
    throw sqliteRejection(error);
  }
};

const replaceFile = (path: string): SnapshotsFile => {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
  return openFile(path);
};

/** A file that opens but cannot be prepared is replaced too, e.g. after its table was dropped. */
const openOrReplace = (path: string): SnapshotsFile => {
  try {
    return openFile(path);
  } catch (error) {
    const unusable = error instanceof StartProblem ? isDamage(error.cause) : !(error instanceof Rejection);
    if (!unusable) throw error;
    return replaceFile(path);
  }
};
