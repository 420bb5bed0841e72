import { Database } from './database.js';

/** Changes whenever a table of this file does; what another version wrote is dropped and made again from the events. */
const FORMAT = 1;
/** Nothing here is the only copy, so moving the log into the file may wait; every checkpoint costs a flush. */
const CHECKPOINT_MS = 2_000;
const CACHE_KIB = 64 * 1024;

const schema = `
  CREATE TABLE builds (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL, position INTEGER NOT NULL, live INTEGER NOT NULL
  );
  CREATE TABLE parked (
    build INTEGER NOT NULL, stream TEXT NOT NULL, revision INTEGER NOT NULL, event_id TEXT NOT NULL, type TEXT NOT NULL,
    reason TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (build, stream)
  ) WITHOUT ROWID;
  CREATE TABLE key_usage (key_id TEXT PRIMARY KEY, used_at TEXT NOT NULL) WITHOUT ROWID;
`;

/**
 * Opens the file of what can be made again: read models and the last use of keys. A commit here is not flushed by itself: after a lost flush
 * the file is whole, and behind.
 * @throws StartProblem as Database.open
 */
export const openReadsFile = (path: string): Database => {
  const database = Database.open(path, { synchronous: 'NORMAL', checkpointMs: CHECKPOINT_MS, cacheKib: CACHE_KIB });
  if (database.pragma('user_version') !== FORMAT) {
    database.transaction(() => {
      const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all() as {
        name: string;
      }[];
      for (const { name } of tables) database.exec(`DROP TABLE "${name}"`);
      database.exec(`${schema} PRAGMA user_version = ${FORMAT};`);
    });
  }
  return database;
};
