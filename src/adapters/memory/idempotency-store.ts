import type { Clock } from '../../ports/clock.js';
import type { IdempotencyStore, KeptAnswer, Reservation } from '../../ports/idempotency-store.js';

/** How long a key is remembered, from its first request on, in milliseconds (contract 1.7: 24 h). */
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1_000;
/** How many entries that are over each reservation lets go at most: more than it adds. */
const SWEPT_PER_RESERVATION = 2;

/** What outlives a process that died. */
export type KeptReservation = {
  readonly digest: string;
  readonly seed: string;
  readonly expiresMs: number;
  readonly answer: KeptAnswer | null;
  /** Let go without an answer. The seed stays for a repeat of the same request: nobody can be sure that a failed one did nothing. */
  readonly released: boolean;
};

/** Whether a request may take the key for itself, as if nobody had used it. */
export const isFree = (kept: KeptReservation | undefined, digest: string, nowMs: number): boolean =>
  kept === undefined || kept.expiresMs <= nowMs || (kept.released && kept.digest !== digest);

/** What a key that is not free says to a request; `running`: in this process. */
export const reservationOf = (kept: KeptReservation, digest: string, running: boolean): Reservation => {
  if (kept.digest !== digest) return { kind: 'reused' };
  if (kept.answer !== null) return { kind: 'answered', answer: kept.answer };
  return running ? { kind: 'running' } : { kind: 'run', seed: kept.seed, resumed: true };
};

/** Idempotency keys in memory; `entries` handed on to another store stand for what a dead process left behind. */
export class MemoryIdempotencyStore implements IdempotencyStore {
  readonly #clock: Clock;
  readonly #entries: Map<string, KeptReservation>;
  /** What this process is running. */
  readonly #running = new Set<string>();

  constructor(clock: Clock, entries = new Map<string, KeptReservation>()) {
    this.#clock = clock;
    this.#entries = entries;
  }

  async reserve(scope: string, key: string, digest: string, newSeed: string): Promise<Reservation> {
    const id = idOf(scope, key);
    const nowMs = this.#clock.now().getTime();
    this.#sweep(nowMs);
    const kept = this.#entries.get(id);
    if (kept === undefined || isFree(kept, digest, nowMs)) {
      const expiresMs = nowMs + IDEMPOTENCY_TTL_MS;
      this.#entries.delete(id);
      this.#entries.set(id, { digest, seed: newSeed, expiresMs, answer: null, released: false });
      this.#running.add(id);
      return { kind: 'run', seed: newSeed, resumed: false };
    }
    const reservation = reservationOf(kept, digest, this.#running.has(id));
    if (reservation.kind === 'run') {
      this.#entries.set(id, { ...kept, released: false });
      this.#running.add(id);
    }
    return reservation;
  }

  async complete(scope: string, key: string, answer: KeptAnswer): Promise<void> {
    const id = idOf(scope, key);
    const kept = this.#entries.get(id);
    if (kept !== undefined) this.#entries.set(id, { ...kept, answer });
    this.#running.delete(id);
  }

  async release(scope: string, key: string): Promise<void> {
    const id = idOf(scope, key);
    const kept = this.#entries.get(id);
    if (kept !== undefined) this.#entries.set(id, { ...kept, released: true });
    this.#running.delete(id);
  }

  /** The oldest stand first. */
  #sweep(nowMs: number): void {
    let left = SWEPT_PER_RESERVATION;
    for (const [id, { expiresMs }] of this.#entries) {
      if (left === 0 || expiresMs > nowMs) return;
      left -= 1;
      this.#entries.delete(id);
    }
  }
}

/** One name for scope and key; neither can reach into the other. */
export const idOf = (scope: string, key: string): string => JSON.stringify([scope, key]);
