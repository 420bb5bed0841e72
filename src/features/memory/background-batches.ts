import { memories } from '../../../projections/memories.js';
import { untilFull } from '../../kernel/base/page-size.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import { EMBED_TEXTS } from '../../ports/embedder.js';
import type { RowText } from '../../ports/row-search.js';
import { type EmbeddingDeps, type EmbedOptions, type EmbedOutcome, embedTexts, PROBE } from './embed-lacking.js';

/** The size of a batch of several texts, in bytes of text: some seconds of work for a model on one core. Its results are stored when it ends. */
const BATCH_BYTES = 16 * 1024;
/** How many calls fail in a row before a batch has one text. */
export const TIMES_HALVED = Math.log2(EMBED_TEXTS);
/** For how long a text that failed alone is put aside, in milliseconds, and how many texts may be aside at the same time. */
export const ASIDE_MS = 600_000;
const ASIDE_TEXTS = 1_024;

export type BatchDeps = EmbeddingDeps & { readonly clock: Pick<Clock, 'monotonicMs'> };

/** `aside`: a text that was put aside. */
export type BatchOutcome = EmbedOutcome & { readonly aside: RowText | null };

/**
 * Texts without a vector of this embedder, batch after batch. A batch that fails is followed by one of half its texts, until one succeeds: an embedder
 * may be too slow for many texts. A text that fails alone, while the embedder works, is put aside, so that the others proceed.
 */
export class BackgroundBatches {
  readonly #deps: BatchDeps;
  /** Until when each text is aside, by its key. */
  readonly #aside = new Map<string, number>();
  #most = EMBED_TEXTS;

  constructor(deps: BatchDeps) {
    this.#deps = deps;
  }

  /**
   * Embeds one batch: at most EMBED_TEXTS, and about BATCH_BYTES. After a crash, at most this batch is embedded twice.
   * @throws what the embedder and the read models throw; not because of single texts
   */
  async next(options: EmbedOptions): Promise<BatchOutcome> {
    const { embedder, clock } = this.#deps;
    const batch = await this.#batch();
    if (batch.length === 0) return { embedded: [], failed: [], aside: null };
    try {
      const outcome = await embedTexts(this.#deps, batch, options);
      this.#most = Math.min(EMBED_TEXTS, 2 * this.#most);
      return { ...outcome, aside: null };
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof Rejection) || error.code !== 'EMBEDDER_UNAVAILABLE') throw error;
      this.#most = Math.ceil(batch.length / 2);
      const [alone] = batch;
      if (alone === undefined || batch.length > 1 || this.#aside.size >= ASIDE_TEXTS) throw error;
      await embedder.embed([PROBE], { ...options, fresh: true });
      this.#aside.set(alone.key, clock.monotonicMs() + ASIDE_MS);
      return { embedded: [], failed: [], aside: alone };
    }
  }

  async #batch(): Promise<readonly RowText[]> {
    const { rowSearch, embedder, clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    for (const [key, untilMs] of this.#aside) if (untilMs <= nowMs) this.#aside.delete(key);
    const limit = EMBED_TEXTS + this.#aside.size;
    const texts = await rowSearch.withoutVector(memories, { embedder: embedder.id, limit });
    const open = texts.filter(({ key }) => !this.#aside.has(key)).slice(0, this.#most);
    return [...untilFull(open, ({ text }) => Buffer.byteLength(text), BATCH_BYTES)];
  }
}
