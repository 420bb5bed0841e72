import type { Json } from '../../../src/kernel/base/json.js';
import type { Passage } from '../../../src/ports/read-models.js';
import type { Changes } from '../../../src/ports/read-model-writer.js';
import type { PassagePage, PassageQuery } from '../../../src/ports/text-search.js';

type KeptPassage = Passage & { readonly key: string; readonly words: ReadonlySet<string> };

const isAsked = (query: PassageQuery, { partition, place, at, tags, words }: KeptPassage): boolean => {
  const time = Date.parse(at);
  return (
    partition === query.partition &&
    place < (query.below ?? Infinity) &&
    time >= (query.sinceMs ?? -Infinity) &&
    time <= (query.untilMs ?? Infinity) &&
    query.tags.every((group) => group.some((tag) => tags.includes(tag))) &&
    query.words.every((word) => words.has(word)) &&
    query.beginnings.every((beginning) => [...words].some((word) => word.startsWith(beginning))) &&
    !query.without.some((word) => words.has(word))
  );
};

/** The passages of one build's rows. */
export class MemoryPassages {
  readonly #kept = new Map<number, KeptPassage>();

  write({ put }: Changes): void {
    for (const { key, passages = [] } of put) {
      for (const passage of passages) {
        if (!this.#kept.has(passage.place))
          this.#kept.set(passage.place, { ...passage, key, words: new Set(passage.words.split(' ')) });
      }
    }
  }

  find(rows: ReadonlyMap<string, { readonly row: Json }>, query: PassageQuery): PassagePage {
    const found = [...this.#kept.values()].filter((kept) => isAsked(query, kept)).sort((a, b) => b.place - a.place);
    const hits = found
      .slice(0, query.limit)
      .flatMap(({ key, place }) => (rows.has(key) ? [{ place, row: rows.get(key)?.row ?? null }] : []));
    return { hits, further: found.length > query.limit ? (hits.at(-1)?.place ?? null) : null };
  }
}
