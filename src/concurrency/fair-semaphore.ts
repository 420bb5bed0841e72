import { Rejection } from '../domain/shared/rejection.js';
import type { Clock } from '../ports/clock.js';
import { withTimeLimit } from './time-limit.js';

type Waiter = { readonly tenant: string; readonly enter: () => void };

export type FairSemaphoreOptions = {
  readonly clock: Pick<Clock, 'after'>;
  readonly permits: number;
  /** How long a caller waits for a permit, in milliseconds. */
  readonly waitMs: number;
  /** How many callers wait at once, and how many of one tenant. */
  readonly queueLimit: number;
  readonly tenantQueueLimit: number;
};

const busy = (): Rejection => new Rejection('BUSY', { retryAfter: 1 });

/** A semaphore whose callers wait. A free permit goes to the tenant that holds the fewest, and among several to the caller that has waited longest. */
export class FairSemaphore {
  readonly #options: FairSemaphoreOptions;
  readonly #held = new Map<string, number>();
  /** The caller that has waited longest comes first. */
  readonly #waiting = new Set<Waiter>();
  #free: number;

  constructor(options: FairSemaphoreOptions) {
    this.#options = options;
    this.#free = options.permits;
  }

  /**
   * Runs `work` with a permit.
   * @throws Rejection BUSY at once when too many wait, or after `waitMs` without a permit; the reason of `signal` before the work begins; and what
   * `work` throws
   */
  async run<T>(tenant: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#take(tenant);
    else await this.#wait(tenant, signal);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      this.#release(tenant);
    }
  }

  #wait(tenant: string, signal: AbortSignal): Promise<void> {
    const { clock, waitMs, queueLimit, tenantQueueLimit } = this.#options;
    const ofTenant = [...this.#waiting].filter((one) => one.tenant === tenant).length;
    if (this.#waiting.size >= queueLimit || ofTenant >= tenantQueueLimit) throw busy();
    return withTimeLimit(clock, { ms: waitMs, late: busy, signal }, (ended) => {
      return new Promise((resolve) => {
        const waiter: Waiter = {
          tenant,
          enter: () => {
            this.#waiting.delete(waiter);
            this.#take(tenant);
            resolve();
          },
        };
        this.#waiting.add(waiter);
        // At once: a permit given to a caller that has left would be lost.
        ended.addEventListener('abort', () => this.#waiting.delete(waiter), { once: true });
      });
    });
  }

  #take(tenant: string): void {
    this.#free -= 1;
    this.#held.set(tenant, this.#heldBy(tenant) + 1);
  }

  #release(tenant: string): void {
    this.#free += 1;
    const left = this.#heldBy(tenant) - 1;
    if (left === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, left);
    const [first, ...others] = this.#waiting;
    if (first === undefined) return;
    others.reduce((best, one) => (this.#heldBy(one.tenant) < this.#heldBy(best.tenant) ? one : best), first).enter();
  }

  #heldBy(tenant: string): number {
    return this.#held.get(tenant) ?? 0;
  }
}
