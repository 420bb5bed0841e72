import type { Json } from '../../kernel/base/json.js';
import { READ_BYTES } from '../../kernel/base/page-size.js';
import type { Changes, IndexedPassage } from '../../ports/read-model-writer.js';
import type { PassageHit, PassagePage, PassageQuery } from '../../ports/text-search.js';
import { partitionWord, tagWord } from '../shared/tag-word.js';
import type { Database } from './database.js';
import { Statements } from './statements.js';

/**
 * How many positions one call covers: those of a block, about 25,000 events. The index goes on until it finds a passage that meets all conditions, so
 * only a word that ends with the block makes it stop: that of the partition in this block.
 */
const BLOCK_PLACES = 100_000;
const HOUR_MS = 3_600_000;

const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS);
const quoted = (word: string): string => `"${word.replaceAll('"', '""')}"`;
const blockOf = (place: number): number => Math.floor(place / BLOCK_PLACES);
const wordOf = (partition: string, block: number): string => partitionWord(`${String(block)} ${partition}`);
const anyOf = (words: readonly string[]): string => `(${words.map(quoted).join(' OR ')})`;

/** The condition of an index of words. Every word is quoted, so that none has a special meaning to the index. */
const matching = ({ partition, words, beginnings, without, tags }: PassageQuery, block: number): string => {
  const all = [
    quoted(wordOf(partition, block)),
    ...tags.map((group) => anyOf(group.map(tagWord))),
    ...words.map(quoted),
    ...beginnings.map((beginning) => `${quoted(beginning)}*`),
  ].join(' AND ');
  return without.length === 0 ? all : `(${all}) NOT ${anyOf(without)}`;
};

/**
 * The passages of one build's rows. The index of words numbers them by their positions, so it reads them from the last one on without sorting. It
 * holds partition and tags as words in addition to those of the text, and no positions. `hours`: between which positions the passages of an hour are.
 */
export class EmbeddedPassages {
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #rows: string;
  readonly #passages: string;
  readonly #words: string;
  readonly #hours: string;

  /** @param rows the table of the build's rows */
  constructor(database: Database, build: number, rows: string) {
    this.#database = database;
    this.#statements = new Statements(database);
    this.#rows = rows;
    this.#passages = `passages_${build}`;
    this.#words = `passage_words_${build}`;
    this.#hours = `passage_hours_${build}`;
  }

  create(): void {
    this.#database.exec(`
      CREATE TABLE ${this.#passages} (place INTEGER PRIMARY KEY, row INTEGER NOT NULL, at INTEGER NOT NULL);
      CREATE TABLE ${this.#hours} (hour INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL);
      CREATE VIRTUAL TABLE ${this.#words} USING fts5(
        words, content = '', detail = 'none', columnsize = 0, tokenize = "ascii tokenchars '_'"
      );
    `);
  }

  drop(): void {
    this.#statements.clear();
    for (const table of [this.#words, this.#passages, this.#hours])
      this.#database.exec(`DROP TABLE IF EXISTS ${table}`);
  }

  /** Inside a transaction, after the rows. */
  write({ put }: Changes): void {
    const all: (readonly [key: string, passage: IndexedPassage])[] = [];
    for (const { key, passages = [] } of put) for (const passage of passages) all.push([key, passage]);
    if (all.length === 0) return;
    // In the order of the index, which then only adds at its end.
    all.sort(([, one], [, other]) => one.place - other.place);
    const hours = new Map<number, { readonly first: number; readonly last: number }>();
    const addPassage = this.#statements.prepared(
      `INSERT OR IGNORE INTO ${this.#passages} SELECT ?1, rowid, ?2 FROM ${this.#rows} WHERE key = ?3`,
    );
    const addWords = this.#statements.prepared(`INSERT INTO ${this.#words} (rowid, words) VALUES (?, ?)`);
    for (const [key, passage] of all) {
      const { place, partition, tags, words } = passage;
      // It may exist already.
      if (addPassage.run(place, Date.parse(passage.at), key).changes === 0) continue;
      addWords.run(place, [wordOf(partition, blockOf(place)), ...tags.map(tagWord), words].join(' '));
      const hour = hourOf(Date.parse(passage.at));
      hours.set(hour, { first: hours.get(hour)?.first ?? place, last: place });
    }
    if (hours.size === 0) return;
    const span = this.#statements.prepared(`INSERT INTO ${this.#hours} VALUES (?1, ?2, ?3)
      ON CONFLICT (hour) DO UPDATE SET first = min(first, ?2), last = max(last, ?3)`);
    for (const [hour, { first, last }] of hours) span.run(hour, first, last);
  }

  find(query: PassageQuery): PassagePage {
    const { sinceMs = -Infinity, untilMs = Infinity, below = Infinity, limit } = query;
    const [from, to] = [clamped(sinceMs), clamped(untilMs)];
    const span = `SELECT min(first), max(last) FROM ${this.#hours} WHERE hour BETWEEN ? AND ?`;
    const [first, last] = this.#statements.all(span, hourOf(from), hourOf(to))[0] ?? [];
    if (typeof first !== 'number' || typeof last !== 'number') return { hits: [], further: null };
    const newest = `SELECT max(place) FROM ${this.#passages} WHERE place >= ? AND place < ?`;
    const [found] = this.#statements.all(newest, first, Math.min(below, last + 1))[0] ?? [];
    if (typeof found !== 'number') return { hits: [], further: null };
    const end = found + 1;
    const block = blockOf(found);
    const start = Math.max(first, block * BLOCK_PLACES);
    // The joins in this order: the index of words leads.
    const sql = `SELECT found.place, row_of.row FROM ${this.#words}
      CROSS JOIN ${this.#passages} AS found ON found.place = ${this.#words}.rowid
      CROSS JOIN ${this.#rows} AS row_of ON row_of.rowid = found.row
      WHERE ${this.#words} MATCH ? AND ${this.#words}.rowid >= ? AND ${this.#words}.rowid < ? AND found.at BETWEEN ? AND ?
      ORDER BY ${this.#words}.rowid DESC LIMIT ?`;
    const hits: PassageHit[] = [];
    let bytes = 0;
    for (const [place, row] of this.#statements.each(sql, matching(query, block), start, end, from, to, limit)) {
      hits.push({ place: Number(place), row: JSON.parse(String(row)) as Json });
      bytes += Buffer.byteLength(String(row));
      if (hits.length === limit || bytes >= READ_BYTES) return { hits, further: Number(place) };
    }
    return { hits, further: start > first ? start : null };
  }
}

/** SQLite's numbers end before infinity; these moments are before and after all others. */
const clamped = (ms: number): number => Math.max(-8.64e15, Math.min(8.64e15, ms));
