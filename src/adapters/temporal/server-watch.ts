import { pause } from '../../kernel/concurrency/pause.js';
import { Presence } from '../../kernel/concurrency/presence.js';
import type { Clock } from '../../ports/clock.js';
import { runtimeRefusal } from './runtime-refusal.js';

/** How often the server is pinged while a caller waits for it, and while it is unavailable, in milliseconds. */
const PING_EVERY_MS = 500;
const PING_AWAY_EVERY_MS = 100;
/** How long pings must be unanswered, in milliseconds, before the server counts as unavailable. A ping itself takes 0.6 s at most. */
export const SILENCE_MS = 1_000;
/** And how many pings in a row: a single slow one proves nothing. */
const LOST_PINGS = 2;

export type ServerWatchDeps = {
  /** Rejects when the server does not answer. */
  readonly ping: () => Promise<void>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
};

/**
 * Notices that Temporal is dead or frozen: it pings while a caller waits, and while Temporal is unavailable, so that no caller waits for answers that
 * do not come.
 */
export class ServerWatch implements AsyncDisposable {
  readonly #clock: ServerWatchDeps['clock'];
  readonly #presence: Presence;
  readonly #stop = new AbortController();
  #watching: Promise<void> | null = null;

  constructor({ ping, clock }: ServerWatchDeps) {
    this.#clock = clock;
    this.#presence = new Presence({ probe: ping, away: () => runtimeRefusal('ENGINE_UNAVAILABLE') });
  }

  /** @throws Rejection ENGINE_UNAVAILABLE within 2 s after Temporal stopped answering; else as `Presence.during` */
  during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const outcome = this.#presence.during(work);
    this.#watching ??= this.#watch();
    return outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const presence = this.#presence;
    let answeredMs = this.#clock.monotonicMs();
    let lost = 0;
    while ((presence.isNeeded || presence.isAway) && !this.#stop.signal.aborted) {
      const answers = await presence.probe().then(
        () => true,
        () => false,
      );
      const nowMs = this.#clock.monotonicMs();
      if (answers) answeredMs = nowMs;
      lost = answers ? 0 : lost + 1;
      if (lost >= LOST_PINGS && nowMs - answeredMs >= SILENCE_MS) presence.fellSilent();
      await pause(this.#clock, answers ? PING_EVERY_MS : PING_AWAY_EVERY_MS, this.#stop.signal);
    }
    this.#watching = null;
  }
}
