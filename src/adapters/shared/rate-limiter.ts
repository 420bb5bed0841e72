import type { Clock } from '../../ports/clock.js';
import type { RateLimit } from '../../domain/tenant/rate-limit.js';
import type { RateDecision, RateLimiter } from '../../ports/rate-limiter.js';

/** How many windows are kept. Beyond that the oldest window is forgotten, and its subject starts again. */
export const WINDOWS_KEPT = 100_000;
/** How many windows that are over each request lets go at most: more than it adds. */
const SWEPT_PER_REQUEST = 2;

/** `endMs` by the monotonic clock. */
type Window = { readonly endMs: number; used: number };

/** Rate limits of one process; a restart begins every window again. */
export class MemoryRateLimiter implements RateLimiter {
  readonly #clock: Clock;
  /** In the order in which they began. */
  readonly #windows = new Map<string, Window>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async take(subject: string, { limit, windowSeconds }: RateLimit): Promise<RateDecision> {
    const nowMs = this.#clock.monotonicMs();
    this.#sweep(nowMs);
    let window = this.#windows.get(subject);
    if (window === undefined || nowMs >= window.endMs) window = { endMs: nowMs + windowSeconds * 1_000, used: 0 };
    const allowed = window.used < limit;
    if (allowed) {
      window.used += 1;
      this.#keep(subject, window);
    }
    return {
      allowed,
      remaining: Math.max(0, limit - window.used),
      resetSeconds: Math.max(1, Math.ceil((window.endMs - nowMs) / 1_000)),
    };
  }

  #keep(subject: string, window: Window): void {
    if (this.#windows.get(subject) === window) return;
    this.#windows.delete(subject);
    this.#windows.set(subject, window);
    if (this.#windows.size > WINDOWS_KEPT) this.#forgetOldest();
  }

  #sweep(nowMs: number): void {
    for (let swept = 0; swept < SWEPT_PER_REQUEST; swept += 1) {
      const oldest = this.#windows.values().next();
      if (oldest.done === true || nowMs < oldest.value.endMs) return;
      this.#forgetOldest();
    }
  }

  #forgetOldest(): void {
    const oldest = this.#windows.keys().next();
    if (oldest.done !== true) this.#windows.delete(oldest.value);
  }
}
