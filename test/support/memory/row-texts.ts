import { wordsOf } from '../../../src/kernel/base/words.js';
import type { OrderRange } from '../../../src/ports/read-models.js';
import type { Changes } from '../../../src/ports/read-model-writer.js';
import {
  QUERY_WORDS,
  type RowText,
  type RowVector,
  type StoredVector,
  type TextQuery,
  type VectorQuery,
  type WordHit,
  type WordQuery,
} from '../../../src/ports/row-search.js';
import { bestByWordsInSlices } from '../../../src/adapters/shared/word-scores.js';
import { compareOrders } from '../../../src/kernel/read-models/row-order.js';

type Text = {
  readonly key: string;
  readonly stream: string;
  readonly text: string;
  readonly group: string | null;
  order: string;
  embedder: string | null;
  vector: Float32Array | null;
};

export const isWithin = (order: string, { above, upTo }: OrderRange = {}): boolean =>
  (above === undefined || compareOrders(order, above) > 0) && (upTo === undefined || compareOrders(order, upTo) <= 0);

/** The texts of one build's rows, with their vectors. */
export class MemoryRowTexts {
  readonly #texts = new Map<string, Text>();

  /** @param earlier the texts of the build that readers see, if that is another one */
  write({ put, remove }: Changes, earlier: MemoryRowTexts | undefined): void {
    for (const key of remove) this.#texts.delete(key);
    for (const { key, index, search } of put) {
      if (search === undefined) continue;
      const { stream, text: indexed, group } = search;
      if (indexed === null) {
        this.#texts.delete(key);
        continue;
      }
      const { text } = indexed;
      const before = [this, ...(earlier === undefined ? [] : [earlier])]
        .map((texts) => texts.#texts.get(key))
        .find((known) => known?.text === text);
      const { embedder = null, vector = null } = before ?? {};
      this.#texts.set(key, { key, stream, text, group, order: index.order, embedder, vector });
    }
  }

  withoutVector(query: TextQuery): readonly RowText[] {
    const lacking = [...this.#lacking(query)];
    if (query.stream !== undefined) {
      const isOld = (row: Text): number => (row.embedder === null ? 0 : 1);
      lacking.sort((a, b) => isOld(a) - isOld(b) || compareOrders(b.order, a.order));
    }
    return lacking.slice(0, query.limit).map(({ key, text }) => ({ key, text }));
  }

  countWithoutVector(query: TextQuery): number {
    return Math.min(query.limit, this.#lacking(query).length);
  }

  hasMeaningless({ embedder, stream, within }: Omit<VectorQuery, 'limit'>): boolean {
    return this.#of(stream, within).some((row) => row.embedder === embedder && row.vector === null);
  }

  setVectors(embedder: string, vectors: readonly RowVector[]): void {
    for (const { key, text, vector } of vectors) {
      const row = this.#texts.get(key);
      if (row?.text !== text) continue;
      if (vector !== null || row.embedder !== embedder)
        Object.assign(row, { embedder, vector: vector?.slice() ?? null });
    }
  }

  vectors({ embedder, stream, within, limit }: VectorQuery): readonly StoredVector[] {
    return this.#of(stream, within)
      .flatMap(({ key, order, embedder: by, vector }) =>
        by === embedder && vector !== null ? [{ key, order, vector: vector.slice() }] : [],
      )
      .slice(0, limit);
  }

  byWords({ text, stream, within, groups, limit }: WordQuery): readonly WordHit[] {
    const isOfGroups = ({ group }: Text): boolean => groups === undefined || (group !== null && groups.includes(group));
    const all = this.#of(stream, within).filter(isOfGroups);
    const rows = all.map((row) => ({ ...row, words: new Set(wordsOf(row.text)) }));
    const asked = wordsOf(text).slice(0, QUERY_WORDS);
    const hits = asked.map((word) => rows.filter(({ words }) => words.has(word)));
    const best = bestByWordsInSlices(hits, limit);
    for (;;) {
      const { done, value } = best.next();
      if (done === true) return value;
    }
  }

  #lacking(query: TextQuery): readonly Text[] {
    const rows = query.stream === undefined ? [...this.#texts.values()] : this.#of(query.stream, query.within);
    return rows.filter(({ embedder }) => embedder !== query.embedder);
  }

  #of(stream: string, within: OrderRange | undefined): readonly Text[] {
    return [...this.#texts.values()]
      .filter((row) => row.stream === stream && isWithin(row.order, within))
      .sort((a, b) => compareOrders(a.order, b.order));
  }
}
