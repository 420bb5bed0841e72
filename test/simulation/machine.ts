import type { Clock } from '../../src/ports/clock.js';
import { EPOCH_MS, type VirtualTime } from './virtual-time.js';

/** What a wall clock waits before it looks again whether somebody set it, in milliseconds, as the system's adapter does. */
const LOOK_AGAIN_MS = 30_000;

/**
 * A machine that one server runs on. Whatever wakes the server (a timer, an answer, a request) goes through `wake`: while the machine is frozen
 * that waits, and when it is dead nothing wakes it again. So the server can stand still between any two awaits.
 */
export class Machine {
  readonly name: string;
  readonly clock: Clock;
  /** How much longer than usual whatever it sends and receives takes. */
  slowness = 1;
  /** Whether others are quicker than it with every append. */
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

  /** Goes on: all that came meanwhile is there at once, in no order. */
  thaw(): void {
    this.#frozen = false;
    for (const run of this.#held.splice(0)) this.#time.after(0, () => this.wake(run));
  }

  /** Forgets everything, at once. */
  die(): void {
    this.#dead = true;
    for (const told of this.#onDeath) told();
    this.#onDeath.clear();
    this.#held.length = 0;
  }

  /** Tells those outside who hold a connection to it. Returns what ends that. */
  onDeath(told: () => void): () => void {
    this.#onDeath.add(told);
    return () => this.#onDeath.delete(told);
  }

  /** Somebody sets the wall clock. */
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
