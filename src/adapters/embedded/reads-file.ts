import { rmSync } from 'node:fs';

import { StartProblem } from '../../kernel/base/start-problem.js';
import { asStartProblem, Database, isDamage } from './database.js';

/** Changes whenever a table of this file does. Tables of another version are dropped and rebuilt from the events. */
const FORMAT = 2;
/** Nothing here is the only copy, so moving the log into the file may wait: every checkpoint costs a flush. */
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

const IF_DAMAGED = 'Run "anima rebuild" to rebuild it from the events.';

/**
 * Opens the file of data that can be rebuilt: read models and the last use of keys. Commits are not flushed individually. After a lost one the file
 * is intact but behind.
 * @throws StartProblem as Database.open, and if the file is damaged
 */
export const openReadsFile = (path: string): Database => {
  const database = Database.open(path, {
    synchronous: 'NORMAL',
    checkpointMs: CHECKPOINT_MS,
    cacheKib: CACHE_KIB,
    ifDamaged: IF_DAMAGED,
  });
  try {
    if (database.pragma('user_version') !== FORMAT) makeTables(database);
    // The users of the file read these tables first.
    for (const table of ['builds', 'parked', 'key_usage']) database.prepare(`SELECT * FROM ${table}`).all();
    return database;
  } catch (error) {
    database[Symbol.dispose]();
    throw isDamage(error) ? asStartProblem(path, error, IF_DAMAGED) : error;
  }
};

const makeTables = (database: Database): void => {
  database.transaction(() => {
    // Word indexes first: their inner tables are dropped with them.
    const tables = database
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC`)
      .all() as { name: string }[];
    for (const { name } of tables) database.exec(`DROP TABLE IF EXISTS "${name}"`);
    database.exec(`${schema} PRAGMA user_version = ${FORMAT};`);
  });
};

const isDamagedFile = (path: string): boolean => {
  try {
    using database = openReadsFile(path);
    return database.pragma('quick_check') !== 'ok';
  } catch (error) {
    if (isDamage(error) || (error instanceof StartProblem && isDamage(error.cause))) return true;
    throw error;
  }
};

/** Removes the file if it is damaged, so that opening it creates a new one. Only for a process that has locked the data directory. */
export const removeDamagedReadsFile = (path: string): void => {
  if (!isDamagedFile(path)) return;
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
};
