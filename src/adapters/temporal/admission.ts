import { Rejection } from '../../kernel/base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import { runtimeRefusal } from './runtime-refusal.js';

/** How many updates may be under way whatever is known of the workers, and at most. */
export const UPDATES_AT_LEAST = 256;
export const UPDATES_AT_MOST = 4_096;
/** How many at least while they wait longer than they should: a longer line would only make all of them late. So many that are late show it. */
export const UPDATES_AT_LEAST_WHEN_SLOW = 16;
/** How long an update should wait at most when as many are under way as may, in milliseconds: so many are let in as are answered in that time. */
const WAIT_MS = 2_000;
/** Over which time answers are counted, in milliseconds. */
const COUNTED_MS = 1_000;
/** While nothing is answered, one update in this time is let in to see whether that has changed, in milliseconds. */
const PROBE_EVERY_MS = 500;
/** And one request in this time may go to the trouble of finding out what to ask; so may one while those that were let in wait too long. */
const LOOK_EVERY_MS = 100;

/** Lets one through in so many milliseconds. */
class Tries {
  readonly #everyMs: number;
  #lastMs = -Infinity;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  isDue(nowMs: number): boolean {
    return nowMs - this.#lastMs >= this.#everyMs;
  }

  /** Whether one is let through now. */
  take(nowMs: number): boolean {
    const isDue = this.isDue(nowMs);
    if (isDue) this.#lastMs = nowMs;
    return isDue;
  }
}

/** Those who have been let in, the earliest first. */
class Line {
  /** Who is let in beyond the limit: while nothing is answered, and while it is slow. */
  readonly inVain: Tries;
  readonly whenSlow = new Tries(LOOK_EVERY_MS);
  readonly #since = new Set<{ readonly ms: number }>();

  constructor(inVainEveryMs: number) {
    this.inVain = new Tries(inVainEveryMs);
  }

  get length(): number {
    return this.#since.size;
  }

  /** @returns leaves the line */
  join(nowMs: number): () => void {
    const one = { ms: nowMs };
    this.#since.add(one);
    return () => {
      this.#since.delete(one);
    };
  }

  /** They show it before they are done, and not by a few, who may take long for reasons of their own. */
  isSlow(nowMs: number): boolean {
    let nth = 0;
    for (const { ms } of this.#since) if ((nth += 1) === UPDATES_AT_LEAST_WHEN_SLOW) return nowMs - ms > WAIT_MS;
    return false;
  }
}

/**
 * Lets updates in as far as they are being answered (Little's law), and refuses the others at once: under load a queue only makes everybody late. Once an
 * update has waited in vain while nothing was answered, only single ones are let in until an answer comes.
 */
export class Admission {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #requests = new Line(LOOK_EVERY_MS);
  readonly #updates = new Line(PROBE_EVERY_MS);
  /** Answers in the running second and in the one before. */
  #counted = { sinceMs: 0, now: 0, before: 0 };
  #answeredMs = -Infinity;
  #inVain = false;
  /** When a line was last slow, or answers came again. */
  #slowMs = -Infinity;

  constructor({ clock }: { readonly clock: Pick<Clock, 'monotonicMs'> }) {
    this.#clock = clock;
  }

  /**
   * A permit for a request that will ask, once it has found out what. There are as many as updates may be under way: what a crowd of requests reads before
   * it asks would keep the machine from those that are answered.
   * @returns gives the permit back; to be called once
   * @throws Rejection as `admit` would at this moment
   */
  enter(): () => void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#inVain && !this.#updates.inVain.isDue(nowMs)) throw runtimeRefusal('ENGINE_UNAVAILABLE');
    return this.#letIn(this.#requests, nowMs);
  }

  /**
   * @param ask resolves with any answer, refusals included
   * @throws Rejection BUSY when more are under way than are answered, ENGINE_UNAVAILABLE when none are, both at once; and what the update throws
   */
  async admit<T>(ask: () => Promise<T>): Promise<T> {
    const beganMs = this.#clock.monotonicMs();
    const leave = this.#letIn(this.#updates, beganMs);
    try {
      const answer = await ask();
      this.#answered();
      return answer;
    } catch (error) {
      // A step that threw was taken by somebody.
      if (!(error instanceof Rejection)) this.#answered();
      else if (error.code === 'ENGINE_UNAVAILABLE' && this.#answeredMs < beganMs) this.#inVain = true;
      throw error;
    } finally {
      this.#noteSlow(this.#clock.monotonicMs());
      leave();
    }
  }

  /**
   * Beyond the limit single ones are let in while nothing is answered or others wait too long: the answers to them are what shows that this is over, or
   * that they are quick. Without it, a few updates that hang would shut everybody out for as long as they hang.
   */
  #letIn(line: Line, nowMs: number): () => void {
    const isSlow = this.#noteSlow(nowMs);
    // Requests are to ask, so the updates count for them, too.
    const length = Math.max(line.length, this.#updates.length);
    const tries = this.#inVain ? line.inVain : line.whenSlow;
    const mayTry = (this.#inVain || isSlow) && length < UPDATES_AT_MOST;
    if (length < this.#limit(nowMs, isSlow) || (mayTry && tries.take(nowMs))) return line.join(nowMs);
    throw runtimeRefusal(this.#inVain ? 'ENGINE_UNAVAILABLE' : 'BUSY');
  }

  #limit(nowMs: number, isSlow: boolean): number {
    if (this.#inVain) return 0;
    this.#turnTo(nowMs);
    const answeredInTime = (Math.max(this.#counted.now, this.#counted.before) * WAIT_MS) / COUNTED_MS;
    return Math.min(Math.max(answeredInTime, isSlow ? UPDATES_AT_LEAST_WHEN_SLOW : UPDATES_AT_LEAST), UPDATES_AT_MOST);
  }

  /** @returns whether a line is slow, or was lately: after an outage a crowd may have been let in that takes much longer than anybody waits */
  #noteSlow(nowMs: number): boolean {
    if (this.#updates.isSlow(nowMs) || this.#requests.isSlow(nowMs)) this.#slowMs = nowMs;
    return nowMs - this.#slowMs < WAIT_MS;
  }

  #answered(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#turnTo(nowMs);
    this.#counted.now += 1;
    this.#answeredMs = nowMs;
    // A crowd waits by now. It is let in as fast as it is answered, not all at once.
    if (this.#inVain) this.#slowMs = nowMs;
    this.#inVain = false;
  }

  #turnTo(nowMs: number): void {
    const { sinceMs, now } = this.#counted;
    const passed = Math.floor((nowMs - sinceMs) / COUNTED_MS);
    if (passed > 0) this.#counted = { sinceMs: sinceMs + passed * COUNTED_MS, now: 0, before: passed === 1 ? now : 0 };
  }
}
