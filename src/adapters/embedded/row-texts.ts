import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';

import { sha256Hex } from '../../kernel/crypto/sha256.js';
import { wordsOf } from '../../kernel/base/words.js';
import type { Changes, IndexedText, RowChange } from '../../ports/read-model-writer.js';
import {
  QUERY_WORDS,
  type RowText,
  type RowVector,
  type StoredVector,
  type TextQuery,
  type VectorQuery,
  WORD_ROWS,
  type WordHit,
  type WordQuery,
} from '../../ports/row-search.js';
import { tagWord } from '../shared/tag-word.js';
import { bytesOf, vectorOf } from '../shared/vector-bytes.js';
import { bestByWordsInSlices } from '../shared/word-scores.js';
import type { Database } from './database.js';
import { placeRange } from './place-range.js';
import { Statements } from './statements.js';

type IndexedRow = NonNullable<RowChange['search']> & { readonly text: IndexedText };

const rowText = ([key, text]: readonly unknown[]): RowText => ({ key: String(key), text: String(text) });

/** A stream as a word that no text can have, because words have no underscore. The index can then find a word within a stream. */
const streamWord = (stream: string): string => `_${sha256Hex(stream)}`;

/** The condition of the index that a text is of one of these groups, with a leading AND if there is one. */
const groupCondition = (groups: readonly string[] | undefined): string =>
  groups === undefined ? '' : ` AND (${groups.map((group) => `"${tagWord(group)}"`).join(' OR ')})`;

/**
 * The texts of one build's rows, separate from the rows, so that lists read neither texts nor vectors. '' means no embedder. The index holds the
 * words as `wordsOf` finds them, and the stream and the group as words: its own tokenizer only splits them at spaces.
 */
export class EmbeddedRowTexts {
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #texts: string;
  readonly #words: string;
  #isDropped = false;

  constructor(database: Database, build: number) {
    this.#database = database;
    this.#statements = new Statements(database);
    this.#texts = `texts_${build}`;
    this.#words = `words_${build}`;
  }

  create(): void {
    this.#database.exec(`
      CREATE TABLE ${this.#texts} (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, stream TEXT NOT NULL, place TEXT NOT NULL, text TEXT NOT NULL,
        embedder TEXT NOT NULL, vector BLOB
      );
      CREATE INDEX ${this.#texts}_by_stream ON ${this.#texts} (stream, embedder, place);
      CREATE INDEX ${this.#texts}_by_embedder ON ${this.#texts} (embedder);
      CREATE VIRTUAL TABLE ${this.#words} USING fts5(
        words, content = '', contentless_delete = 1, detail = 'none', tokenize = "ascii tokenchars '_'"
      );
    `);
  }

  drop(): void {
    this.#isDropped = true;
    this.#statements.clear();
    this.#database.exec(`DROP TABLE IF EXISTS ${this.#words}; DROP TABLE IF EXISTS ${this.#texts};`);
  }

  /** Inside a transaction. @param earlier the texts of the build that readers see, if that is another one */
  write({ put, remove }: Changes, earlier: EmbeddedRowTexts | undefined): void {
    for (const key of remove) this.#remove(key);
    for (const { key, index, search } of put) {
      if (search === undefined) continue;
      if (search.text === null) this.#remove(key);
      else this.#put(key, index.order, { ...search, text: search.text }, earlier);
    }
  }

  withoutVector(query: TextQuery): readonly RowText[] {
    const { embedder, stream, limit } = query;
    if (stream === undefined) {
      return this.#statements.all(this.#lacking('key, text'), embedder, embedder, limit).map(rowText);
    }
    const range = placeRange(query.within);
    const unseen = `SELECT key, text FROM ${this.#texts}
      WHERE stream = ? AND embedder = '' ${range.sql} ORDER BY place DESC LIMIT ?`;
    const found = this.#statements.all(unseen, stream, ...range.given, limit).map(rowText);
    if (found.length === limit) return found;
    const seen = this.#lacking('key, text', `AND stream = ? ${range.sql} AND embedder > ''`);
    const given = [stream, ...range.given];
    const left = limit - found.length;
    return [...found, ...this.#statements.all(seen, embedder, ...given, embedder, ...given, left).map(rowText)];
  }

  countWithoutVector(query: TextQuery): number {
    const { embedder, stream, limit } = query;
    const range = placeRange(stream === undefined ? undefined : query.within);
    const lacking = this.#lacking('1', stream === undefined ? '' : `AND stream = ? ${range.sql}`);
    const given = [embedder, ...(stream === undefined ? [] : [stream, ...range.given])];
    const [row] = this.#statements.all(`SELECT count(*) FROM (${lacking})`, ...given, ...given, limit);
    return Number(row?.[0] ?? 0);
  }

  hasMeaningless({ embedder, stream, within }: Omit<VectorQuery, 'limit'>): boolean {
    const range = placeRange(within);
    const sql = `SELECT 1 FROM ${this.#texts} WHERE stream = ? AND embedder = ? ${range.sql} AND vector IS NULL LIMIT 1`;
    return this.#statements.all(sql, stream, embedder, ...range.given).length > 0;
  }

  setVectors(embedder: string, vectors: readonly RowVector[]): void {
    const sql = `UPDATE ${this.#texts} SET embedder = ?1, vector = ?2
      WHERE key = ?3 AND text = ?4 AND (?2 IS NOT NULL OR embedder <> ?1)`;
    this.#database.transaction(() => {
      const set = this.#statements.prepared(sql);
      for (const { key, text, vector } of vectors) set.run(embedder, vector && bytesOf(vector), key, text);
    });
  }

  vectors({ embedder, stream, within, limit }: VectorQuery): readonly StoredVector[] {
    const range = placeRange(within);
    const sql = `SELECT key, place, vector FROM ${this.#texts}
      WHERE stream = ? AND embedder = ? ${range.sql} AND vector IS NOT NULL ORDER BY place LIMIT ?`;
    return this.#statements.all(sql, stream, embedder, ...range.given, limit).map(([key, order, vector]) => ({
      key: String(key),
      order: String(order),
      vector: vectorOf(vector as Uint8Array),
    }));
  }

  /**
   * Word by word, each within its bound: the index's own ranking would count the rows of all streams. Yields to other work between two words. Rows
   * after the range do not count towards the bound, so that results as of a moment stay the same.
   * @returns null if the build was dropped meanwhile
   */
  async byWords({ text, stream, within, groups, limit }: WordQuery): Promise<readonly WordHit[] | null> {
    if (groups?.length === 0) return [];
    const range = placeRange(within);
    const last = within?.upTo === undefined ? Number.MAX_SAFE_INTEGER : this.#lastId(stream, within.upTo);
    const newest = `SELECT rowid FROM ${this.#words} WHERE ${this.#words} MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ${WORD_ROWS}`;
    const sql = `SELECT key, place FROM ${this.#texts} WHERE id IN (${newest}) ${range.sql}`;
    const ofGroups = groupCondition(groups);
    const hits: (readonly Omit<WordHit, 'score'>[])[] = [];
    for (const word of wordsOf(text).slice(0, QUERY_WORDS)) {
      if (hits.length > 0) await yieldToEventLoop();
      if (this.#isDropped) return null;
      const rows = this.#statements.all(sql, `"${streamWord(stream)}" AND "${word}"${ofGroups}`, last, ...range.given);
      hits.push(rows.map(([key, order]) => ({ key: String(key), order: String(order) })));
    }
    const best = bestByWordsInSlices(hits, limit);
    for (;;) {
      const { done, value } = best.next();
      if (done === true) return value;
      await yieldToEventLoop();
    }
  }

  /**
   * Texts without a vector of an embedder, up to a limit. Parameters: the embedder and those of the condition, both twice, and the limit. Below and
   * above instead of not equal, because both use the index.
   */
  #lacking(columns: string, condition = ''): string {
    const side = (compare: string): string =>
      `SELECT ${columns} FROM ${this.#texts} WHERE embedder ${compare} ? ${condition}`;
    return `${side('<')} UNION ALL ${side('>')} LIMIT ?`;
  }

  /** The last id of a stream's texts up to a position. */
  #lastId(stream: string, upTo: string): number {
    const sql = `SELECT max(id) FROM ${this.#texts} WHERE stream = ? AND place <= ?`;
    return Number(this.#statements.all(sql, stream, upTo)[0]?.[0] ?? 0);
  }

  #put(
    key: string,
    order: string,
    { stream, text: { text, words: found }, group }: IndexedRow,
    earlier: EmbeddedRowTexts | undefined,
  ): void {
    const known = this.#statements.all(`SELECT id, text = ?1 FROM ${this.#texts} WHERE key = ?2`, text, key);
    const [id, isSame] = known[0] ?? [];
    if (isSame === 1) {
      const move = `UPDATE ${this.#texts} SET place = ?1 WHERE id = ?2 AND place <> ?1`;
      this.#statements.prepared(move).run(order, Number(id));
      return;
    }
    if (id !== undefined) this.#remove(key);
    const before = earlier?.of(key, text);
    const insert = `INSERT INTO ${this.#texts} (key, stream, place, text, embedder, vector) VALUES (?, ?, ?, ?, ?, ?)`;
    const { lastInsertRowid } = this.#statements
      .prepared(insert)
      .run(key, stream, order, text, before?.embedder ?? '', before?.vector ?? null);
    const words = [streamWord(stream), ...(group === null ? [] : [tagWord(group)]), found].join(' ');
    this.#statements.prepared(`INSERT INTO ${this.#words} (rowid, words) VALUES (?, ?)`).run(lastInsertRowid, words);
  }

  #remove(key: string): void {
    for (const [id] of this.#statements.all(`DELETE FROM ${this.#texts} WHERE key = ? RETURNING id`, key)) {
      this.#statements.prepared(`DELETE FROM ${this.#words} WHERE rowid = ?`).run(Number(id));
    }
  }

  /** The stored vector of a row's text in this build. */
  of(key: string, text: string): { readonly embedder: string; readonly vector: Uint8Array | null } | undefined {
    const sql = `SELECT embedder, vector FROM ${this.#texts} WHERE key = ? AND text = ?`;
    const [found] = this.#statements.all(sql, key, text);
    return found && { embedder: String(found[0]), vector: found[1] as Uint8Array | null };
  }
}
