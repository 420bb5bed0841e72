import { Rejection } from '../base/rejection.js';
import type { Clock } from '../../ports/clock.js';

type Waiter = { readonly tenant: string; readonly enter: () => void; readonly giveUp: (reason: Error) => void };

export type FairSemaphoreOptions = {
  readonly permits: number;
  /** The maximum number of waiting callers, in total and per tenant. */
  readonly queueLimit: number;
  readonly tenantQueueLimit: number;
  /** How long a caller waits for a permit, in milliseconds; without a limit, indefinitely. */
  readonly limit?: { readonly clock: Pick<Clock, 'after'>; readonly waitMs: number };
};

/** The tenant of the permit; `signal` ends the wait for it. */
export type PermitOptions = { readonly tenant: string; readonly signal?: AbortSignal };

/** After this many more tenants, the semaphore discards the entries of absent tenants that would be due now anyway. */
const KEPT_TENANTS = 1_000;

const busy = (): Rejection => new Rejection('BUSY', { retryAfter: 1 });

/**
 * A semaphore whose callers wait, fair among tenants: a free permit goes to the tenant that holds the fewest, among several to the one that has had
 * the fewest turns since it last came, and among its callers to the one that has waited longest. Turns are counted as in start-time fair queueing
 * (Goyal, Vin and Cheng, 1996): a returning tenant begins level with the others, neither ahead nor behind, and a tenant that is served late gets no
 * credit for it. The queue is shared just as fairly: if it is full, the last caller of the tenant with the most waiting callers makes room for a
 * tenant with fewer.
 */
export class FairSemaphore {
  readonly #options: FairSemaphoreOptions;
  readonly #held = new Map<string, number>();
  /** The callers of each tenant; the one that has waited longest comes first. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  /** The turn that each tenant is due for. */
  readonly #due = new Map<string, number>();
  /** The turn of the tenant that was served last. */
  #turn = 0;
  #tenantsKept = KEPT_TENANTS;
  #waiters = 0;
  #free: number;

  constructor(options: FairSemaphoreOptions) {
    this.#options = options;
    this.#free = options.permits;
  }

  /**
   * Runs `work` with a permit.
   * @throws Rejection BUSY if too many wait, or if no permit is free in time; the reason of `signal` before the work begins; and what `work` throws
   */
  async run<T>({ tenant, signal }: PermitOptions, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#come(tenant);
      this.#take(tenant);
    } else await this.#wait(tenant, signal);
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      this.#release(tenant);
    }
  }

  #wait(tenant: string, signal: AbortSignal | undefined): Promise<void> {
    const { limit, queueLimit, tenantQueueLimit } = this.#options;
    const ofTenant = this.#waiting.get(tenant) ?? new Set();
    if (ofTenant.size >= tenantQueueLimit) throw busy();
    if (this.#waiters >= queueLimit) this.#makeRoom(ofTenant.size);
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#leave(waiter);
        cancel?.();
        signal?.removeEventListener('abort', onAbort);
      };
      const giveUp = (reason: Error): void => {
        stop();
        reject(reason);
      };
      const waiter: Waiter = {
        tenant,
        enter: () => {
          stop();
          this.#take(tenant);
          resolve();
        },
        giveUp,
      };
      const onAbort = (): void => giveUp(signal?.reason as Error);
      const cancel = limit?.clock.after(limit.waitMs, () => giveUp(busy()));
      // Synchronously: a permit given to a caller that has left would be lost.
      signal?.addEventListener('abort', onAbort, { once: true });
      if (ofTenant.size === 0) this.#come(tenant);
      this.#waiting.set(tenant, ofTenant.add(waiter));
      this.#waiters += 1;
    });
  }

  /** Ends the wait of one caller for a tenant that has `waiting` of them. @throws Rejection BUSY if no tenant has at least two more */
  #makeRoom(waiting: number): void {
    let longest: ReadonlySet<Waiter> = new Set();
    for (const line of this.#waiting.values()) if (line.size > longest.size) longest = line;
    const last = longest.size > waiting + 1 ? [...longest].at(-1) : undefined;
    if (last === undefined) throw busy();
    last.giveUp(busy());
  }

  #leave(waiter: Waiter): void {
    const ofTenant = this.#waiting.get(waiter.tenant);
    if (ofTenant?.delete(waiter) !== true) return;
    this.#waiters -= 1;
    if (ofTenant.size === 0) this.#waiting.delete(waiter.tenant);
  }

  #take(tenant: string): void {
    this.#free -= 1;
    this.#held.set(tenant, this.#heldBy(tenant) + 1);
    this.#turn = Math.max(this.#turn, this.#due.get(tenant) ?? 0);
    this.#due.set(tenant, this.#turn + 1);
  }

  /** Adds a tenant. One that did not wait is due no earlier than the one that was served last. Absent tenants that would be due now are discarded. */
  #come(tenant: string): void {
    this.#due.set(tenant, Math.max(this.#due.get(tenant) ?? 0, this.#turn));
    if (this.#due.size <= this.#tenantsKept) return;
    for (const [other, due] of this.#due)
      if (due <= this.#turn && other !== tenant && !this.#waiting.has(other) && !this.#held.has(other))
        this.#due.delete(other);
    this.#tenantsKept = this.#due.size + KEPT_TENANTS;
  }

  #release(tenant: string): void {
    this.#free += 1;
    const left = this.#heldBy(tenant) - 1;
    if (left === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, left);
    this.#next()?.enter();
  }

  #next(): Waiter | undefined {
    let best: string | null = null;
    for (const tenant of this.#waiting.keys()) if (best === null || this.#comesBefore(tenant, best)) best = tenant;
    return best === null ? undefined : this.#waiting.get(best)?.values().next().value;
  }

  #comesBefore(one: string, other: string): boolean {
    const fewer = this.#heldBy(one) - this.#heldBy(other);
    return fewer < 0 || (fewer === 0 && (this.#due.get(one) ?? 0) < (this.#due.get(other) ?? 0));
  }

  #heldBy(tenant: string): number {
    return this.#held.get(tenant) ?? 0;
  }
}
