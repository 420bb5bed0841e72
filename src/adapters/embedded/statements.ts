import { LRUCache } from 'lru-cache';

import { sqliteRejection, type Database } from './database.js';

type Statement = ReturnType<Database['prepare']>;
type Given = string | number | Uint8Array | null;
type Columns = readonly unknown[];

/** How many statements are kept: a list has one for each number of tags, and one with many uses 100 KiB. */
const KEPT_STATEMENTS = 128;

/** Statements of one connection, prepared on first use; the most recently used ones are kept. Rows come as arrays of columns. */
export class Statements {
  readonly #database: Database;
  readonly #prepared = new LRUCache<string, Statement>({ max: KEPT_STATEMENTS });

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws Rejection as in sqliteRejection; what SQLite throws */
  all(sql: string, ...given: Given[]): readonly Columns[] {
    try {
      return this.prepared(sql).all(...given) as readonly Columns[];
    } catch (error) {
      throw sqliteRejection(error);
    }
  }

  /** As `all`, row by row. */
  *each(sql: string, ...given: Given[]): Generator<Columns, void, undefined> {
    try {
      yield* this.prepared(sql).iterate(...given) as unknown as Iterable<Columns>;
    } catch (error) {
      throw sqliteRejection(error);
    }
  }

  prepared(sql: string): Statement {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql, 'arrays');
      this.#prepared.set(sql, statement);
    }
    return statement;
  }

  /** Discards all statements: the tables that they use are dropped. */
  clear(): void {
    this.#prepared.clear();
  }
}
