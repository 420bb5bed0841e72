import type { Json } from '../../domain/shared/json.js';
import { PAGE_BYTES } from '../../domain/shared/page-size.js';
import type { ListPage, ListQuery } from '../../ports/read-models.js';
import type { Changes, Loaded } from '../../ports/read-model-writer.js';
import { asRejection, type Database } from './database.js';

/** Thrown inside a commit to undo it: another writer moved a stream. */
export class StreamMoved extends Error {}

type Statement = ReturnType<Database['prepare']>;

/**
 * The tables of one build. Each build has its own, so that dropping one is cheap and its rows do not carry its name. `order` sorts as SQLite
 * compares text: by UTF-8 bytes, which is by code point.
 */
export class ReadModelTables {
  readonly #database: Database;
  readonly #rows: string;
  readonly #progress: string;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database, build: number) {
    this.#database = database;
    this.#rows = `rows_${build}`;
    this.#progress = `progress_${build}`;
  }

  create(): void {
    this.#database.exec(`
      CREATE TABLE ${this.#rows} (
        key TEXT NOT NULL UNIQUE, partition TEXT NOT NULL, place TEXT NOT NULL, tag TEXT NOT NULL, row TEXT NOT NULL
      );
      CREATE INDEX ${this.#rows}_by_place ON ${this.#rows} (partition, place, tag);
      CREATE TABLE ${this.#progress} (stream TEXT PRIMARY KEY, revision INTEGER NOT NULL) WITHOUT ROWID;
    `);
  }

  drop(): void {
    this.#statements.clear();
    this.#database.exec(`DROP TABLE IF EXISTS ${this.#rows}; DROP TABLE IF EXISTS ${this.#progress};`);
  }

  get(key: string): Json | null {
    const [found] = this.#all(`SELECT row FROM ${this.#rows} WHERE key = ?`, key);
    return found === undefined ? null : parsed(found[0]);
  }

  list({ partition, tags, direction, beyond, limit, bytes = PAGE_BYTES }: ListQuery): ListPage {
    const [compare, order] = direction === 'ascending' ? ['>', 'ASC'] : ['<', 'DESC'];
    const sql = `SELECT key, place, row FROM ${this.#rows} WHERE partition = ?
      ${tags === undefined ? '' : 'AND tag IN (SELECT value FROM json_each(?))'} ${beyond === undefined ? '' : `AND place ${compare} ?`}
      ORDER BY place ${order} LIMIT ?`;
    const given = [
      partition,
      ...(tags === undefined ? [] : [JSON.stringify(tags)]),
      ...(beyond === undefined ? [] : [beyond]),
    ];
    const rows: ListPage['rows'][number][] = [];
    let read = 0;
    // One by one, and one more than asked for: rows behind the page's end are not fetched.
    for (const [key, place, row] of this.#each(sql, ...given, limit + 1)) {
      if (rows.length === limit || read >= bytes) return { rows, more: true };
      rows.push({ key: String(key), order: String(place), row: parsed(row) });
      read += Buffer.byteLength(String(row));
    }
    return { rows, more: false };
  }

  progress(stream: string): number {
    const [found] = this.#all(`SELECT revision FROM ${this.#progress} WHERE stream = ?`, stream);
    return found === undefined ? -1 : Number(found[0]);
  }

  /** One query for all keys: a call across the language border costs more than the look-up. */
  load(keys: readonly string[], streams: readonly string[], parked: ReadonlySet<string>): Loaded {
    const among = 'IN (SELECT value FROM json_each(?))';
    const rows = this.#all(`SELECT key, row FROM ${this.#rows} WHERE key ${among}`, JSON.stringify(keys));
    const reached = this.#all(
      `SELECT stream, revision FROM ${this.#progress} WHERE stream ${among}`,
      JSON.stringify(streams),
    );
    const revisions = new Map(reached.map(([stream, revision]) => [String(stream), Number(revision)]));
    return {
      rows: new Map(rows.map(([key, row]) => [String(key), parsed(row)])),
      streams: new Map(
        streams.map((stream) => [stream, { revision: revisions.get(stream) ?? -1, parked: parked.has(stream) }]),
      ),
    };
  }

  /** Inside a transaction. @throws StreamMoved */
  write({ put, remove, progress }: Changes): void {
    const moved = this.#prepared(`INSERT INTO ${this.#progress} VALUES (?1, ?2)
      ON CONFLICT (stream) DO UPDATE SET revision = ?2 WHERE revision = ?3`);
    for (const { stream, from, to } of progress) if (moved.run(stream, to, from).changes !== 1) throw new StreamMoved();
    const upsert = this.#prepared(`INSERT INTO ${this.#rows} VALUES (?1, ?2, ?3, ?4, ?5)
      ON CONFLICT (key) DO UPDATE SET partition = ?2, place = ?3, tag = ?4, row = ?5`);
    // In the order of the index, so that neighbours meet the same pages.
    for (const { key, row, index } of [...put].sort((one, other) => (one.key < other.key ? -1 : 1))) {
      upsert.run(key, index.partition, index.order, index.tag, JSON.stringify(row));
    }
    const gone = this.#prepared(`DELETE FROM ${this.#rows} WHERE key = ?`);
    for (const key of remove) gone.run(key);
  }

  #all(sql: string, ...given: (string | number)[]): readonly (readonly unknown[])[] {
    try {
      return this.#prepared(sql).all(...given) as (readonly unknown[])[];
    } catch (error) {
      throw asRejection(error);
    }
  }

  *#each(sql: string, ...given: (string | number)[]): Generator<readonly unknown[], void, undefined> {
    try {
      yield* this.#prepared(sql).iterate(...given) as Iterable<readonly unknown[]>;
    } catch (error) {
      throw asRejection(error);
    }
  }

  #prepared(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql, 'arrays');
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

const parsed = (row: unknown): Json => JSON.parse(String(row)) as Json;
