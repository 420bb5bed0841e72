import { Rejection, type RejectionCode } from '../../src/kernel/base/rejection.js';
import type { Draw } from './draw.js';
import type { Machine } from './machine.js';
import type { VirtualTime } from './virtual-time.js';

/** The connections of servers and bodies, each with its own faults. */
export type Part = 'store' | 'database' | 'runtime' | 'reads' | 'clients';

export type Weather = {
  /** The current probability that a message between a server and a component is lost or late. */
  trouble(part: Part): number;
  /** Until when a component accepts nothing, in milliseconds since the beginning; 0 while it does not hang. */
  hangsUntilMs(part: Part): number;
};

/** The fate of one call. `late`: executed long after the caller was told that the outcome is unknown. */
export type Fate = 'fine' | 'request lost' | 'answer lost' | 'late';

/** How long a caller waits until the outcome counts as unknown, in milliseconds. */
const PATIENCE_MS = 1_800;
/** How late a message may arrive, in milliseconds. */
const LATEST_MS = 45_000;
/** The shortest and the longest time that a message takes, in milliseconds. */
const QUICKEST_MS = 0.2;
const SLOWEST_MS = 6;

const refusals: Readonly<Record<Part, RejectionCode>> = {
  store: 'STORE_UNAVAILABLE',
  database: 'DATABASE_UNAVAILABLE',
  runtime: 'ENGINE_UNAVAILABLE',
  reads: 'DATABASE_UNAVAILABLE',
  clients: 'INTERNAL',
};

/** One machine's link to one component: messages take time, and some are lost. */
export class Link {
  readonly machine: Machine;
  readonly time: VirtualTime;
  readonly #draw: Draw;
  readonly #weather: Weather;
  readonly #part: Part;
  /** Requests of one caller arrive in the order in which they were sent, as over one connection. */
  #lastArrivalMs = 0;

  constructor(part: Part, machine: Machine, time: VirtualTime, draw: Draw, weather: Weather) {
    this.#part = part;
    this.machine = machine;
    this.time = time;
    this.#draw = draw;
    this.#weather = weather;
  }

  /** Draws the fate of the next call. */
  fate(): Fate {
    if (!this.#draw.chance(this.#weather.trouble(this.#part))) return 'fine';
    // A statement ends with its connection, and a caller without an answer gives the connection up.
    return this.#part === 'database'
      ? this.#draw.pick(['request lost', 'answer lost'])
      : this.#draw.pick(['request lost', 'answer lost', 'late']);
  }

  /** Executes a call on the other side, and wakes the caller with its answer. */
  call<T>(carryOut: () => Promise<T>, fate: Fate = this.fate()): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const hangsForMs = Math.max(0, this.#weather.hangsUntilMs(this.#part) - this.time.nowMs);
      const wake = (run: () => void) => this.machine.wake(run);
      const answer = (run: () => void): void => {
        if (fate === 'fine') this.time.after(this.#takes(), () => wake(run));
      };
      if (fate !== 'request lost') {
        this.time.after(this.#arrivesIn(fate, hangsForMs), () => {
          carryOut().then(
            (value) => answer(() => resolve(value)),
            (error: unknown) => answer(() => reject(error instanceof Error ? error : new Error(String(error)))),
          );
        });
      }
      if (fate !== 'fine' || hangsForMs > 0) this.time.after(PATIENCE_MS, () => wake(() => reject(this.#unknown())));
    });
  }

  #takes(): number {
    return this.#draw.between(QUICKEST_MS, SLOWEST_MS) * this.machine.slowness;
  }

  #arrivesIn(fate: Fate, hangsForMs: number): number {
    if (fate === 'late') return hangsForMs + this.#draw.between(PATIENCE_MS, LATEST_MS);
    const { nowMs } = this.time;
    // Slightly apart: at the same moment their order would be drawn.
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs + 1e-6, nowMs + hangsForMs + this.#takes());
    return this.#lastArrivalMs - nowMs;
  }

  #unknown(): Rejection {
    const message = 'No answer came; nobody knows whether it was done.';
    return new Rejection(refusals[this.#part], { message, retryAfter: 1 });
  }
}
