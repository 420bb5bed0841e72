import { LRUCache } from 'lru-cache';

import type { Clock } from '../../ports/clock.js';
import type { RateLimit } from '../../kernel/base/rate-limit.js';
import type { RateDecision, RateLimiter } from '../../ports/rate-limiter.js';

/** How many windows are kept. Beyond that the oldest window is dropped, and its subject starts again. */
export const WINDOWS_KEPT = 100_000;
/** The maximum number of expired windows that each request drops: more than it adds. */
const SWEPT_PER_REQUEST = 2;

/** `endMs` by the monotonic clock. */
type Window = { readonly endMs: number; used: number };

/** Rate limits of one process; a restart begins every window again. */
export class MemoryRateLimiter implements RateLimiter {
  readonly #clock: Clock;
  /** In the order in which they began. */
  readonly #windows = new LRUCache<string, Window>({ max: WINDOWS_KEPT });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async take(subject: string, { limit, windowSeconds }: RateLimit): Promise<RateDecision> {
    const nowMs = this.#clock.monotonicMs();
    this.#sweep(nowMs);
    let window = this.#windows.peek(subject);
    if (window === undefined || nowMs >= window.endMs) window = { endMs: nowMs + windowSeconds * 1_000, used: 0 };
    const allowed = window.used < limit;
    if (allowed) {
      window.used += 1;
      if (this.#windows.peek(subject) !== window) this.#windows.set(subject, window);
    }
    return {
      allowed,
      remaining: Math.max(0, limit - window.used),
      resetSeconds: Math.max(1, Math.ceil((window.endMs - nowMs) / 1_000)),
    };
  }

  #sweep(nowMs: number): void {
    for (let swept = 0; swept < SWEPT_PER_REQUEST; swept += 1) {
      const [oldest] = this.#windows.rvalues();
      if (oldest === undefined || nowMs < oldest.endMs) return;
      this.#windows.pop();
    }
  }
}
