import type { Clock } from '../../../src/ports/clock.js';
import type { RelayLease } from '../../../src/ports/relay-lease.js';

/** The relay's lease in memory, for several relays of one process. */
export class MemoryRelayLease implements RelayLease {
  readonly holdsMs: number;
  readonly #clock: Clock;
  #holder: string | null = null;
  #untilMs = 0;
  #position = 0;

  constructor(clock: Clock, holdsMs = 8_000) {
    this.#clock = clock;
    this.holdsMs = holdsMs;
  }

  /** The position after which the next holder begins. */
  get checkpoint(): number {
    return this.#position;
  }

  async take(holder: string): Promise<number | null> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#holder !== null && this.#holder !== holder && nowMs < this.#untilMs) return null;
    this.#holder = holder;
    this.#untilMs = nowMs + this.holdsMs;
    return this.#position;
  }

  async keep(holder: string, position: number): Promise<boolean> {
    if (this.#holder !== holder) return false;
    this.#untilMs = this.#clock.monotonicMs() + this.holdsMs;
    this.#position = position;
    return true;
  }

  async release(holder: string): Promise<void> {
    if (this.#holder === holder) this.#holder = null;
  }
}
