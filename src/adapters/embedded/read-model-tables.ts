import type { Json } from '../../kernel/base/json.js';
import { PAGE_BYTES } from '../../kernel/base/page-size.js';
import type { ListPage, ListQuery } from '../../ports/read-models.js';
import type { Changes, Loaded } from '../../ports/read-model-writer.js';
import { StreamMoved } from '../shared/stream-moved.js';
import { EmbeddedCounts } from './counts.js';
import type { Database } from './database.js';
import { placeRange } from './place-range.js';
import { EmbeddedPassages } from './passages.js';
import { EmbeddedRowTexts } from './row-texts.js';
import { Statements } from './statements.js';

const AMONG = 'IN (SELECT value FROM json_each(?))';

/**
 * The SQL of a list, and its parameters: at most one row more than requested. Each tag is one seek in the index; SQLite merges the results row by
 * row. The index is named explicitly: with a range of positions SQLite would otherwise read the partition.
 * @param isIndexedByTag whether the table has that index
 * @param query with at most 500 tags, SQLite's limit for the parts of a statement
 */
export const listStatement = (
  table: string,
  isIndexedByTag: boolean,
  { partition, tags, direction, beyond, within, limit }: ListQuery,
): { readonly sql: string; readonly given: readonly (string | number)[] } => {
  const [compare, order] = direction === 'ascending' ? ['>', 'ASC'] : ['<', 'DESC'];
  const range = placeRange(within);
  const select = (from: string, ofTag: string): string =>
    `SELECT key, place, row FROM ${from} WHERE partition = ? ${ofTag} ${beyond === undefined ? '' : `AND place ${compare} ?`} ${range.sql}`;
  const places = [...(beyond === undefined ? [] : [beyond]), ...range.given];
  const end = `ORDER BY place ${order} LIMIT ?`;
  if (tags === undefined) return { sql: `${select(table, '')} ${end}`, given: [partition, ...places, limit + 1] };
  const each = [...new Set(tags)];
  // The index has no rows without a tag, and the condition tells SQLite that none is needed.
  const tagged = isIndexedByTag
    ? select(`${table} INDEXED BY ${table}_by_tag`, `AND tag = ? AND tag <> ''`)
    : select(table, 'AND tag = ?');
  return {
    sql: `${each.map(() => tagged).join(' UNION ALL ')} ${end}`,
    given: [...each.flatMap((tag) => [partition, tag, ...places]), limit + 1],
  };
};

/**
 * The tables of one build. Each build has separate tables: dropping one is cheap, and its rows do not carry its name. `order` sorts as SQLite
 * compares text: by UTF-8 bytes, which is by code point.
 */
export class ReadModelTables {
  readonly #database: Database;
  readonly #rows: string;
  readonly #progress: string;
  readonly #statements: Statements;
  #isIndexedByTag: boolean | null = null;
  readonly texts: EmbeddedRowTexts;
  readonly passages: EmbeddedPassages;
  readonly counts: EmbeddedCounts;

  constructor(database: Database, build: number) {
    this.#database = database;
    this.#statements = new Statements(database);
    this.texts = new EmbeddedRowTexts(database, build);
    this.#rows = `rows_${build}`;
    this.passages = new EmbeddedPassages(database, build, this.#rows);
    this.counts = new EmbeddedCounts(database, build);
    this.#progress = `progress_${build}`;
  }

  create(): void {
    this.#database.exec(`
      CREATE TABLE ${this.#rows} (
        key TEXT NOT NULL UNIQUE, partition TEXT NOT NULL, place TEXT NOT NULL, tag TEXT NOT NULL, row TEXT NOT NULL
      );
      CREATE INDEX ${this.#rows}_by_place ON ${this.#rows} (partition, place);
      CREATE INDEX ${this.#rows}_by_tag ON ${this.#rows} (partition, tag, place) WHERE tag <> '';
      CREATE TABLE ${this.#progress} (stream TEXT PRIMARY KEY, revision INTEGER NOT NULL) WITHOUT ROWID;
    `);
    this.texts.create();
    this.passages.create();
    this.counts.create();
  }

  drop(): void {
    this.#statements.clear();
    this.texts.drop();
    this.passages.drop();
    this.counts.drop();
    this.#database.exec(`DROP TABLE IF EXISTS ${this.#rows}; DROP TABLE IF EXISTS ${this.#progress};`);
  }

  /** Whether lists by tag read only the rows that they show. Tables of earlier versions lack the index. */
  get isIndexedByTag(): boolean {
    const sql = `SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?`;
    this.#isIndexedByTag ??= this.#statements.all(sql, `${this.#rows}_by_tag`).length > 0;
    return this.#isIndexedByTag;
  }

  get(key: string): Json | null {
    const [found] = this.#statements.all(`SELECT row FROM ${this.#rows} WHERE key = ?`, key);
    return found === undefined ? null : parsed(found[0]);
  }

  /** One query for all keys: a call from JavaScript into SQLite costs more than the look-up. */
  getAll(keys: readonly string[]): ReadonlyMap<string, Json> {
    const rows = this.#statements.all(`SELECT key, row FROM ${this.#rows} WHERE key ${AMONG}`, JSON.stringify(keys));
    return new Map(rows.map(([key, row]) => [String(key), parsed(row)]));
  }

  list(query: ListQuery): ListPage {
    const { limit, bytes = PAGE_BYTES } = query;
    const { sql, given } = listStatement(this.#rows, this.isIndexedByTag, query);
    const rows: ListPage['rows'][number][] = [];
    if (query.tags?.length === 0) return { rows, more: false };
    let read = 0;
    // One by one, and one more than requested: rows after the page's end are not fetched.
    for (const [key, place, row] of this.#statements.each(sql, ...given)) {
      if (rows.length === limit || read >= bytes) return { rows, more: true };
      rows.push({ key: String(key), order: String(place), row: parsed(row) });
      read += Buffer.byteLength(String(row));
    }
    return { rows, more: false };
  }

  progress(stream: string): number {
    const [found] = this.#statements.all(`SELECT revision FROM ${this.#progress} WHERE stream = ?`, stream);
    return found === undefined ? -1 : Number(found[0]);
  }

  /**
   * As ReadModelWriter.load. Row by row, in the order of the keys, which the join keeps: rows beyond the bound are not fetched. One query for all
   * keys, as in getAll.
   */
  load(keys: readonly string[], bound = Infinity): Omit<Loaded, 'streams'> {
    const sql = `SELECT asked.key, found.key, row FROM json_each(?) AS asked CROSS JOIN ${this.#rows} AS found ON found.key = asked.value`;
    const rows = new Map<string, Json>();
    let bytes = 0;
    let looked = 0;
    for (const [at, key, row] of this.#statements.each(sql, JSON.stringify(keys))) {
      if (bytes >= bound) return { rows, keys: looked, bytes };
      rows.set(String(key), parsed(row));
      bytes += Buffer.byteLength(String(row));
      looked = Number(at) + 1;
    }
    return { rows, keys: keys.length, bytes };
  }

  standings(streams: readonly string[], parked: ReadonlySet<string>): Loaded['streams'] {
    const reached = this.#statements.all(
      `SELECT stream, revision FROM ${this.#progress} WHERE stream ${AMONG}`,
      JSON.stringify(streams),
    );
    const revisions = new Map(reached.map(([stream, revision]) => [String(stream), Number(revision)]));
    return new Map(
      streams.map((stream) => [stream, { revision: revisions.get(stream) ?? -1, parked: parked.has(stream) }]),
    );
  }

  /** Inside a transaction. @param earlier the build that readers see, if that is another one. @throws StreamMoved */
  write(changes: Changes, earlier: ReadModelTables | undefined): void {
    const { put, remove, progress } = changes;
    const moved = this.#statements.prepared(`INSERT INTO ${this.#progress} VALUES (?1, ?2)
      ON CONFLICT (stream) DO UPDATE SET revision = ?2 WHERE revision = ?3`);
    for (const { stream, from, to } of progress) if (moved.run(stream, to, from).changes !== 1) throw new StreamMoved();
    const upsert = this.#statements.prepared(`INSERT INTO ${this.#rows} VALUES (?1, ?2, ?3, ?4, ?5)
      ON CONFLICT (key) DO UPDATE SET partition = ?2, place = ?3, tag = ?4, row = ?5`);
    // In the order of the index, so that neighbouring rows share pages.
    for (const { key, row, index } of [...put].sort((one, other) => (one.key < other.key ? -1 : 1))) {
      upsert.run(key, index.partition, index.order, index.tag, JSON.stringify(row));
    }
    const gone = this.#statements.prepared(`DELETE FROM ${this.#rows} WHERE key = ?`);
    for (const key of remove) gone.run(key);
    this.texts.write(changes, earlier?.texts);
    this.passages.write(changes);
    this.counts.write(changes);
  }
}

const parsed = (row: unknown): Json => JSON.parse(String(row)) as Json;
