import { LRUCache } from 'lru-cache';

import { memories } from '../../../projections/memories.js';
import type { Clock } from '../../ports/clock.js';
import type { OrderRange } from '../../ports/read-models.js';
import type { StoredVector } from '../../ports/row-search.js';
import { abortWith } from '../../kernel/concurrency/abort-with.js';
import { KeyedMutex } from '../../kernel/concurrency/keyed-mutex.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { embedForRecall, RECALL_EMBED_MS, type SeenTexts } from './embed-for-recall.js';
import type { EmbeddingDeps } from './embed-lacking.js';
import { VectorRows, type VectorRowsView } from './vector-rows.js';

/** Bytes of vectors that are read at a time. In the embedded profile a read blocks the event loop for one or two milliseconds. */
const PAGE_BYTES = 1024 * 1024;
/** How many vectors the first read fetches, while their length is unknown. */
const FIRST_PAGE = 64;
/** Texts without a vector are counted up to this number; if there are more, this is the reported number. */
export const PENDING_COUNTED = 10_000;
/**
 * Up to this number, open rows are read again at each recall. If there are more, only those after the last one are, and all of them only after this
 * many milliseconds.
 */
export const OPEN_ROWS = 1_024;
export const OPEN_ROWS_MS = 5_000;
/** How many minds are remembered as too large to cache. */
const LARGE_MINDS = 10_000;

/**
 * The vectors of a mind. The rows up to `upTo` all had a vector when they were read, or the embedder makes none from them. That part never changes,
 * because a memory keeps its text. Some of the open rows after it lacked a vector, which any process may set at any time.
 */
type Mind = {
  readonly settled: VectorRows;
  upTo: string;
  open: VectorRows;
  openReadMs: number;
  /** Whether the embedder makes no vector from some settled text. */
  hasMeaningless: boolean;
  /** Whether the cache has accepted it. */
  isKept: boolean;
};

export type MindVectors = {
  /** The rows that have vectors, in parts of ascending order. */
  readonly parts: AsyncIterable<VectorRowsView> | Iterable<VectorRowsView>;
  /** How many of the texts in the range have no vector yet, at most PENDING_COUNTED. */
  readonly pending: number;
  /** Whether the embedder makes no vector from some text of the mind. */
  readonly hasMeaningless: boolean;
  /** Whether there may be rows without a vector, which are scored by their words. */
  readonly wordsCount: boolean;
};

export type VectorCacheDeps = EmbeddingDeps & { readonly clock: Pick<Clock, 'after' | 'monotonicMs'> };

/**
 * The vectors of the most recently used minds, within `maxBytes`. A mind that does not fit is read page by page each time. All vectors are from one
 * embedder: a process has only one.
 */
export class VectorCache {
  readonly #deps: VectorCacheDeps;
  readonly #minds: LRUCache<string, { readonly mind: Mind; readonly bytes: number }>;
  readonly #large = new LRUCache<string, true>({ max: LARGE_MINDS });
  readonly #mutex = new KeyedMutex();

  constructor(deps: VectorCacheDeps, maxBytes: number) {
    this.#deps = deps;
    this.#minds = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => bytes });
  }

  /** The approximate memory of the cached vectors. */
  get bytes(): number {
    return this.#minds.calculatedSize;
  }

  /**
   * The vectors of a mind up to an order that its read model has reached. Texts in a range that lack a vector are embedded first, at most EMBED_TEXTS
   * of them, for at most RECALL_EMBED_MS, including the time spent waiting for other requests for the same mind.
   * @throws Rejection BUSY if too many requests wait for the same mind; the reason of `signal`; what the read models throw
   */
  async of(seen: SeenTexts, upTo: string, signal?: AbortSignal): Promise<MindVectors> {
    const { stream } = seen;
    const settled = this.#settled(stream, upTo);
    if (settled !== null) return settled;
    const late = new AbortController();
    const letGo = abortWith(late, signal);
    const stopWaiting = this.#deps.clock.after(RECALL_EMBED_MS, () => late.abort());
    try {
      return await this.#mutex.runExclusive(stream, async () => {
        signal?.throwIfAborted();
        return this.#settled(stream, upTo) ?? (await this.#refreshed(seen, upTo, late.signal));
      });
    } finally {
      stopWaiting();
      letGo();
    }
  }

  #settled(stream: string, upTo: string): MindVectors | null {
    const mind = this.#minds.get(stream)?.mind;
    return mind !== undefined && mind.upTo >= upTo ? viewOf(mind, { pending: 0, ...settledWords(mind) }) : null;
  }

  async #refreshed(seen: SeenTexts, upTo: string, signal: AbortSignal): Promise<MindVectors> {
    const { stream } = seen;
    let pending = (await embedForRecall(this.#deps, seen, signal)) ? await this.#lacking(seen) : 0;
    if (!this.#large.has(stream)) {
      const mind = this.#minds.get(stream)?.mind ?? emptyMind();
      const settled = pending === 0 ? await this.#settle(stream, mind, upTo) : 'open';
      if (settled === 'kept') return viewOf(mind, { pending, ...settledWords(mind) });
      if (settled === 'open') {
        pending = await this.#lacking(seen);
        const hasMeaningless = await this.#hasMeaningless(stream, seen.within);
        if (await this.#readOpen(stream, mind, upTo))
          return viewOf(mind, { pending, hasMeaningless, wordsCount: true });
      }
    }
    const hasMeaningless = await this.#hasMeaningless(stream, seen.within);
    return { parts: this.#pagedRows(stream, upTo), pending, hasMeaningless, wordsCount: true };
  }

  #lacking(seen: SeenTexts, limit = PENDING_COUNTED): Promise<number> {
    const { rowSearch, embedder } = this.#deps;
    return rowSearch.countWithoutVector(memories, { embedder: embedder.id, ...seen, limit });
  }

  /**
   * Reads the rows after the settled ones, if all of them have vectors. A vector may be removed in the meantime (another embedder, a new build), so a
   * page counts only if nothing lacks a vector afterwards. The next read continues a read that failed half way.
   * @returns `open` if some row has no vector, `large` if the mind does not fit
   */
  async #settle(stream: string, mind: Mind, upTo: string): Promise<'kept' | 'open' | 'large'> {
    for await (const { rows, range } of this.#pages(stream, { above: mind.upTo, upTo })) {
      const hasMeaningless = mind.hasMeaningless || (await this.#hasMeaningless(stream, range));
      if ((await this.#lacking({ stream, within: range }, 1)) > 0) return 'open';
      mind.hasMeaningless = hasMeaningless;
      mind.open = new VectorRows();
      for (const row of rows) mind.settled.add(row);
      mind.upTo = range.upTo;
      if (!this.#keep(stream, mind)) return 'large';
    }
    return 'kept';
  }

  /** Reads the rows after the settled ones, while some of them have no vector. @returns whether the mind fits */
  async #readOpen(stream: string, mind: Mind, upTo: string): Promise<boolean> {
    const { clock } = this.#deps;
    const isRecent = clock.monotonicMs() - mind.openReadMs < OPEN_ROWS_MS;
    const onlyNew = mind.open.count > OPEN_ROWS && isRecent;
    if (!onlyNew) {
      mind.open = new VectorRows();
      mind.openReadMs = clock.monotonicMs();
    }
    const above = onlyNew ? mind.open.lastOrder : mind.upTo;
    for await (const { rows } of this.#pages(stream, { above, upTo })) {
      for (const row of rows) mind.open.add(row);
      if (!this.#keep(stream, mind)) return false;
    }
    return true;
  }

  /** Weighs a mind that has grown. @returns false if it does not fit, or others have displaced it in the meantime */
  #keep(stream: string, mind: Mind): boolean {
    const before = this.#minds.peek(stream);
    const bytes = Math.max(1, mind.settled.bytes + mind.open.bytes);
    if (before === undefined && mind.isKept) return false;
    this.#minds.set(stream, { mind, bytes });
    mind.isKept = this.#minds.peek(stream)?.mind === mind;
    if (!mind.isKept) this.#large.set(stream, true);
    return mind.isKept;
  }

  #hasMeaningless(stream: string, within: OrderRange): Promise<boolean> {
    const { rowSearch, embedder } = this.#deps;
    return rowSearch.hasMeaningless(memories, { embedder: embedder.id, stream, within });
  }

  async *#pagedRows(stream: string, upTo: string): AsyncGenerator<VectorRows, void, undefined> {
    for await (const { rows: page } of this.#pages(stream, { above: '', upTo })) {
      const rows = new VectorRows();
      for (const row of page) rows.add(row);
      yield rows;
    }
  }

  /** The stored vectors of a range in pages, each with the range that it covers. Other work runs between two pages. */
  async *#pages(stream: string, { above, upTo }: Required<OrderRange>): AsyncGenerator<VectorPage, void, undefined> {
    const { rowSearch, embedder } = this.#deps;
    let limit = FIRST_PAGE;
    for (let beyond = above; ;) {
      const within = { above: beyond, upTo };
      const rows = await rowSearch.vectors(memories, { embedder: embedder.id, stream, within, limit });
      const last = rows.at(-1);
      if (last === undefined || rows.length < limit) {
        yield { rows, range: within };
        return;
      }
      yield { rows, range: { above: beyond, upTo: last.order } };
      beyond = last.order;
      limit = Math.max(1, Math.floor(PAGE_BYTES / Math.max(1, last.vector.byteLength)));
      await yieldToEventLoop();
    }
  }
}

type VectorPage = { readonly rows: readonly StoredVector[]; readonly range: Required<OrderRange> };

const emptyMind = (): Mind => ({
  settled: new VectorRows(),
  upTo: '',
  open: new VectorRows(),
  openReadMs: -Infinity,
  hasMeaningless: false,
  isKept: false,
});

/** Of a settled mind only texts without meaning have no vector. */
const settledWords = ({ hasMeaningless }: Mind) => ({ hasMeaningless, wordsCount: hasMeaningless });

const viewOf = ({ settled, open }: Mind, how: Omit<MindVectors, 'parts'>): MindVectors => ({
  // Another recall may settle open rows while this one is still comparing.
  parts: [settled.asTheyAre, open.asTheyAre],
  ...how,
});
