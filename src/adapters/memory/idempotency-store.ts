import type { Clock } from '../../ports/clock.js';
import type { IdempotencyStore, KeptAnswer, Reservation } from '../../ports/idempotency-store.js';
import {
  answerFor,
  IDEMPOTENCY_TTL_MS,
  idOf,
  isFree,
  type KeptReservation,
  reservationOf,
} from '../shared/reservations.js';

/** How many expired entries each reservation may drop: more than it adds. */
const SWEPT_PER_RESERVATION = 2;

/** Idempotency keys in memory. `entries` handed to another store are what a dead process left behind. */
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

  async kept(scope: string, key: string, digest: string): Promise<KeptAnswer | null> {
    return answerFor(this.#entries.get(idOf(scope, key)), digest, this.#clock.now().getTime());
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

  /** The oldest entries come first. */
  #sweep(nowMs: number): void {
    let left = SWEPT_PER_RESERVATION;
    for (const [id, { expiresMs }] of this.#entries) {
      if (left === 0 || expiresMs > nowMs) return;
      left -= 1;
      this.#entries.delete(id);
    }
  }
}
