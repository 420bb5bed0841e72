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

/** Bytes of vectors that are read at once. In the embedded profile a read holds the event loop for a millisecond or two. */
const PAGE_BYTES = 1024 * 1024;
/** How many vectors are read at first, while nothing is known of their length. */
const FIRST_PAGE = 64;
/** Texts without a vector are counted up to here; where there are more, this is the figure. */
export const PENDING_COUNTED = 10_000;
/**
 * Open rows are read again at each recall while they are so few. Of more, only those behind the last one are, and all of them not before so many
 * milliseconds have passed.
 */
export const OPEN_ROWS = 1_024;
export const OPEN_ROWS_MS = 5_000;
/** How many minds are remembered as too large to be kept. */
const LARGE_MINDS = 10_000;

/**
 * The vectors of a mind. Of the rows up to `upTo` all had a vector when they were read, or the embedder makes none from them. That part never changes,
 * because a memory keeps its text. Of the open rows behind it some lacked a vector, which may be set at any time, by any process.
 */
type Mind = {
  readonly settled: VectorRows;
  upTo: string;
  open: VectorRows;
  openReadMs: number;
  /** Whether the embedder makes no vector from some settled text. */
  hasMeaningless: boolean;
  /** Whether the cache has taken it. */
  isKept: boolean;
};

export type MindVectors = {
  /** The rows that have vectors, in parts of ascending orders. */
  readonly parts: AsyncIterable<VectorRowsView> | Iterable<VectorRowsView>;
  /** How many of the texts in the range have no vector yet, at most PENDING_COUNTED. */
  readonly pending: number;
  /** Whether there may be rows without a vector: they take part by their words. */
  readonly wordsCount: boolean;
};

export type VectorCacheDeps = EmbeddingDeps & { readonly clock: Pick<Clock, 'after' | 'monotonicMs'> };

/**
 * The vectors of the minds that were asked for last, within `maxBytes`. A mind that does not fit is read page by page each time. The vectors are
 * those of one embedder: a process has only one.
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

  /** What the kept vectors take in memory, nearly. */
  get bytes(): number {
    return this.#minds.calculatedSize;
  }

  /**
   * The vectors of a mind up to an order that its read model has reached. Texts in a range that lack a vector are embedded first, EMBED_TEXTS of them
   * at most, for RECALL_EMBED_MS at most; waiting for others who ask for the same mind counts.
   * @throws Rejection BUSY when too many wait for the same mind; the reason of `signal`; what the read models throw
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
    return mind !== undefined && mind.upTo >= upTo
      ? viewOf(mind, { pending: 0, wordsCount: mind.hasMeaningless })
      : null;
  }

  async #refreshed(seen: SeenTexts, upTo: string, signal: AbortSignal): Promise<MindVectors> {
    const { stream } = seen;
    let pending = (await embedForRecall(this.#deps, seen, signal)) ? await this.#lacking(seen) : 0;
    if (!this.#large.has(stream)) {
      const mind = this.#minds.get(stream)?.mind ?? emptyMind();
      const settled = pending === 0 ? await this.#settle(stream, mind, upTo) : 'open';
      if (settled === 'kept') return viewOf(mind, { pending, wordsCount: mind.hasMeaningless });
      if (settled === 'open') {
        pending = await this.#lacking(seen);
        if (await this.#readOpen(stream, mind, upTo)) return viewOf(mind, { pending, wordsCount: true });
      }
    }
    return { parts: this.#pagedRows(stream, upTo), pending, wordsCount: true };
  }

  #lacking(seen: SeenTexts, limit = PENDING_COUNTED): Promise<number> {
    const { rowSearch, embedder } = this.#deps;
    return rowSearch.countWithoutVector(memories, { embedder: embedder.id, ...seen, limit });
  }

  /**
   * Reads what came after the settled rows, if all of it has its vectors. A vector may be taken away meanwhile (another embedder, a new build), so each
   * page counts only if nothing lacks one afterwards. A read that fails half way is continued by the next.
   * @returns `open` when some row has no vector, `large` when the mind does not fit
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

  /** Reads what came after the settled rows, while some of it has no vector. @returns whether the mind fits */
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

  /** Weighs a mind that has grown. @returns false when it does not fit, or others have taken its place meanwhile */
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

  /** The stored vectors of a range in pages, each with the range that it covers. Others have their turn between two pages. */
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

const viewOf = ({ settled, open }: Mind, how: Omit<MindVectors, 'parts'>): MindVectors => ({
  // Another recall may settle open rows while this one is still comparing.
  parts: [settled.asTheyAre, open.asTheyAre],
  ...how,
});
