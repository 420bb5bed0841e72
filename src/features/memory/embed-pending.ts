import { memories } from '../../../projections/memories.js';
import type { Clock } from '../../ports/clock.js';
import type { Embedder } from '../../ports/embedder.js';
import type { Log } from '../../ports/log.js';
import type { RelayLease } from '../../ports/relay-lease.js';
import { pause, retryMs } from '../../kernel/concurrency/pause.js';
import { ASIDE_MS, BackgroundBatches } from './background-batches.js';
import { type EmbeddingDeps, FailingTexts } from './embed-lacking.js';

/** How often to look for new texts while there are none, in milliseconds. */
export const LOOK_MS = 1_000;
/** How often a process on standby requests the lease, in milliseconds. */
export const EMBEDDING_STANDBY_MS = 1_000;
/** The lease is renewed after this fraction of its duration. */
const RENEW_PART = 1 / 4;
/** The limit to which texts without a vector are counted. */
export const PENDING_TEXTS_COUNTED = 100_000;

export type EmbedPendingDeps = Omit<EmbeddingDeps, 'embedder'> & {
  readonly embedder: Pick<Embedder, 'id' | 'embed' | 'threads'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** The lease of the one process that embeds, and this process's name as its holder; null if there is only one process. */
  readonly place: { readonly lease: RelayLease; readonly holder: string } | null;
  /** The fraction of one core's time that is spent embedding texts, above 0 and up to 1; the rest of the time is left to others. */
  readonly share: number;
};

/** An embedder that reports how long its successful calls took, in milliseconds: a failed one may only have waited. */
const timedEmbedder = (embedder: EmbeddingDeps['embedder'], clock: Pick<Clock, 'monotonicMs'>) => {
  let spentMs = 0;
  const embed: Embedder['embed'] = async (texts, options) => {
    const startMs = clock.monotonicMs();
    const vectors = await embedder.embed(texts, options);
    spentMs += clock.monotonicMs() - startMs;
    return vectors;
  };
  return { id: embedder.id, embed, spentMs: () => spentMs };
};

/**
 * Embeds texts that have no vector of this embedder in the background: texts of all minds, batch after batch, with a pause after each. Of several
 * processes, one works and the others are on standby. While the embedder is unavailable it retries, less and less often. A text that keeps failing
 * alone is skipped.
 */
export class EmbedPending implements AsyncDisposable {
  readonly #deps: EmbedPendingDeps;
  readonly #failing: FailingTexts;
  readonly #timed: ReturnType<typeof timedEmbedder>;
  readonly #batches: BackgroundBatches;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  #isWorking = false;
  #embedded = 0;
  #isAway = false;

  constructor(deps: EmbedPendingDeps) {
    this.#deps = deps;
    this.#failing = new FailingTexts(deps);
    this.#timed = timedEmbedder(deps.embedder, deps.clock);
    this.#batches = new BackgroundBatches({ ...deps, embedder: this.#timed });
  }

  /** Starts, and waits for dependencies that are unavailable. A second call does nothing. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** How many texts this process has embedded in the background. */
  get embedded(): number {
    return this.#embedded;
  }

  /** How many texts have no vector yet, at most PENDING_TEXTS_COUNTED; null while another process works. @throws what the read models throw */
  async pending(): Promise<number | null> {
    const { rowSearch, embedder } = this.#deps;
    if (!this.#isWorking) return null;
    return rowSearch.countWithoutVector(memories, { embedder: embedder.id, limit: PENDING_TEXTS_COUNTED });
  }

  /** Abandons the current batch, and releases the lease. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, place } = this.#deps;
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted;) {
      try {
        this.#isWorking = place === null || (await place.lease.take(place.holder)) !== null;
        if (!this.#isWorking) await pause(clock, EMBEDDING_STANDBY_MS, signal);
        else await this.#batch();
        failures = 0;
      } catch (err) {
        failures += 1;
        if (!this.#isStopping) this.#tellAway(err);
        await pause(clock, retryMs(failures), signal);
      }
    }
    this.#isWorking = false;
    await place?.lease.release(place.holder).catch(() => undefined);
  }

  async #batch(): Promise<void> {
    const { clock, log, share, embedder } = this.#deps;
    const { signal } = this.#stop;
    const beforeMs = this.#timed.spentMs();
    const { embedded, failed, aside } = await this.#keepingPlace(() => this.#batches.next({ urgent: false, signal }));
    if (this.#isAway) {
      this.#isAway = false;
      log.info({}, 'Embedding texts works again');
    }
    this.#embedded += embedded.length;
    for (const { key: row } of await this.#failing.add(failed)) {
      log.warn({ embedder: embedder.id, row }, 'A text cannot be embedded; it can be found only by its words');
    }
    if (aside !== null) {
      const fields = { embedder: embedder.id, row: aside.key, waitMs: ASIDE_MS };
      log.warn(fields, 'The embedder fails on a text; it waits, and can be found only by its words');
    }
    // Bounded, because a batch is bounded (the embedder ends every call) and a share is at least one percent. A batch may keep all threads busy.
    const { threads = 1 } = embedder;
    const restMs = (this.#timed.spentMs() - beforeMs) * (threads / share - 1);
    const isIdle = embedded.length + failed.length === 0 && aside === null;
    const leastMs = failed.length > 0 ? LOOK_MS : 0;
    await this.#keepingPlace(() => pause(clock, isIdle ? LOOK_MS : Math.max(leastMs, restMs), signal));
  }

  /**
   * Renews the lease while `work` runs: a batch, or the pause after it, may take longer than the lease lasts. Losing the lease costs at most one
   * repeated batch.
   */
  async #keepingPlace<T>(work: () => Promise<T>): Promise<T> {
    const { clock, place } = this.#deps;
    if (place === null) return work();
    const done = new AbortController();
    const { lease, holder } = place;
    const renew = async (): Promise<void> => {
      for (;;) {
        await pause(clock, lease.holdsMs * RENEW_PART, done.signal);
        if (done.signal.aborted) return;
        await lease.keep(holder, 0).catch(() => undefined);
      }
    };
    const renewing = renew();
    try {
      return await work();
    } finally {
      done.abort();
      await renewing;
    }
  }

  get #isStopping(): boolean {
    return this.#stop.signal.aborted;
  }

  #tellAway(err: unknown): void {
    if (this.#isAway) return;
    this.#isAway = true;
    const { embedder } = this.#deps;
    this.#deps.log.warn({ err, embedder: embedder.id }, 'Failed to embed texts; retrying');
  }
}
