import type { Clock } from '../../src/ports/clock.js';
import { EPOCH_MS, type VirtualTime } from './virtual-time.js';

/** How long a wall clock waits before it checks again whether it was set, in milliseconds, as in the system's adapter. */
const LOOK_AGAIN_MS = 30_000;

/**
 * A machine that runs one server. Whatever wakes the server (a timer, a response, a request) goes through `wake`. A wake-up waits while the machine
 * is frozen, and never happens once it is dead. The server can therefore stop between any two awaits.
 */
export class Machine {
  readonly name: string;
  readonly clock: Clock;
  /** The additional delay of everything that it sends and receives. */
  slowness = 1;
  /** Whether others are faster with every append. */
  outrun = false;
  readonly #time: VirtualTime;
  readonly #held: (() => void)[] = [];
  readonly #onDeath = new Set<() => void>();
  #frozen = false;
  #dead = false;
  #wallOffsetMs: number;

  constructor(name: string, time: VirtualTime, wallOffsetMs: number) {
    this.name = name;
    this.#time = time;
    this.#wallOffsetMs = wallOffsetMs;
    this.clock = this.#makeClock();
  }

  get dead(): boolean {
    return this.#dead;
  }

  get wallOffsetMs(): number {
    return this.#wallOffsetMs;
  }

  wake(run: () => void): void {
    if (this.#dead) return;
    if (this.#frozen) this.#held.push(run);
    else run();
  }

  freeze(): void {
    this.#frozen = true;
  }

  /** Continues: everything that arrived in the meantime is delivered immediately, in no particular order. */
  thaw(): void {
    this.#frozen = false;
    for (const run of this.#held.splice(0)) this.#time.after(0, () => this.wake(run));
  }

  /** Loses all memory. */
  die(): void {
    this.#dead = true;
    for (const told of this.#onDeath) told();
    this.#onDeath.clear();
    this.#held.length = 0;
  }

  /** Notifies the holders of a connection to it. Returns a function that ends this. */
  onDeath(told: () => void): () => void {
    this.#onDeath.add(told);
    return () => this.#onDeath.delete(told);
  }

  /** Sets the wall clock. */
  setClockBy(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  #makeClock(): Clock {
    const bornMs = this.#time.nowMs;
    const wallMs = (): number => EPOCH_MS + this.#time.nowMs + this.#wallOffsetMs;
    const after: Clock['after'] = (ms, run) => {
      let cancelled = false;
      const cancel = this.#time.after(ms, () =>
        this.wake(() => {
          if (!cancelled) run();
        }),
      );
      return () => {
        cancelled = true;
        cancel();
      };
    };
    return {
      now: () => new Date(Math.floor(wallMs())),
      monotonicMs: () => this.#time.nowMs - bornMs,
      after,
      at: (at, run) => {
        let cancel: () => void;
        const wait = (): void => {
          const left = at.getTime() - Math.floor(wallMs());
          cancel = left <= 0 ? after(0, run) : after(Math.min(left, LOOK_AGAIN_MS), wait);
        };
        wait();
        return () => {
          cancel();
        };
      },
    };
  }
}
