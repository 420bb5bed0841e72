import { pause } from '../../concurrency/pause.js';
import type { Clock } from '../../ports/clock.js';
import { engineRefusal } from './engine-refusal.js';

/** How often the server is asked whether it is there while somebody waits for it, and while it is away, in milliseconds. */
const PING_EVERY_MS = 500;
const PING_AWAY_EVERY_MS = 100;
/** For how long no ping is answered, in milliseconds, before the server counts as away. A ping itself takes 0.6 s at most. */
export const SILENCE_MS = 1_000;
/** And how many pings in a row: a single slow one says nothing. */
const LOST_PINGS = 2;

export type ServerWatchDeps = {
  /** Rejects when the server does not answer. */
  readonly ping: () => Promise<void>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
};

/**
 * Notices for all who wait together that a server is dead or frozen: it pings while somebody waits, and while the server is away. Nobody then waits
 * for answers that do not come.
 */
export class ServerWatch implements AsyncDisposable {
  readonly #deps: ServerWatchDeps;
  readonly #waiting = new Set<AbortController>();
  readonly #stop = new AbortController();
  #watching: Promise<void> | null = null;
  #away = false;

  constructor(deps: ServerWatchDeps) {
    this.#deps = deps;
  }

  /**
   * Its signal tells the work that nobody waits any more.
   * @throws Rejection ENGINE_UNAVAILABLE within 2 s after the server stopped answering, at once while that is known; and what the work throws
   */
  async during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#away) throw engineRefusal('ENGINE_UNAVAILABLE');
    const abort = new AbortController();
    const away = new Promise<never>((_, reject) => {
      abort.signal.addEventListener('abort', () => reject(abort.signal.reason as Error), { once: true });
    });
    this.#waiting.add(abort);
    this.#watching ??= this.#watch();
    try {
      return await Promise.race([work(abort.signal), away]);
    } finally {
      this.#waiting.delete(abort);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { ping, clock } = this.#deps;
    let answeredMs = clock.monotonicMs();
    let lost = 0;
    while ((this.#waiting.size > 0 || this.#away) && !this.#stop.signal.aborted) {
      const answers = await ping().then(
        () => true,
        () => false,
      );
      if (answers) {
        answeredMs = clock.monotonicMs();
        lost = 0;
        this.#away = false;
      } else if ((lost += 1) >= LOST_PINGS && clock.monotonicMs() - answeredMs >= SILENCE_MS) {
        this.#away = true;
        for (const abort of this.#waiting) abort.abort(engineRefusal('ENGINE_UNAVAILABLE'));
      }
      await pause(clock, answers ? PING_EVERY_MS : PING_AWAY_EVERY_MS, this.#stop.signal);
    }
    this.#watching = null;
  }
}
