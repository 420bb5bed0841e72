import { Rejection } from '../base/rejection.js';

/** A semaphore for memory-heavy work. No caller waits for a permit: callers over the limit are refused. */
export class Semaphore {
  readonly #permits: number;
  readonly #perTenant: number;
  readonly #held = new Map<string, number>();
  #heldByAll = 0;

  /** @param perTenant how many permits one tenant may hold, so that a slow tenant does not lock out the others */
  constructor(permits: number, perTenant: number = permits) {
    this.#permits = permits;
    this.#perTenant = perTenant;
  }

  /** Acquires a permit. @returns a function that releases it, to be called once @throws Rejection BUSY if none is left for the tenant */
  acquire(tenant = ''): () => void {
    const held = this.#held.get(tenant) ?? 0;
    if (this.#heldByAll >= this.#permits || held >= this.#perTenant) throw new Rejection('BUSY', { retryAfter: 1 });
    this.#heldByAll += 1;
    this.#held.set(tenant, held + 1);
    return () => {
      this.#heldByAll -= 1;
      const left = (this.#held.get(tenant) ?? 1) - 1;
      if (left === 0) this.#held.delete(tenant);
      else this.#held.set(tenant, left);
    };
  }
}
