import { Rejection } from '../../kernel/base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import { runtimeRefusal } from './runtime-refusal.js';

/** How many updates may always be in progress, regardless of the workers, and at most. */
export const UPDATES_AT_LEAST = 256;
export const UPDATES_AT_MOST = 4_096;
/** The minimum while updates wait longer than they should: a longer queue would only delay all of them. This many late ones are needed to show it. */
export const UPDATES_AT_LEAST_WHEN_SLOW = 16;
/** The maximum time that an update should wait at the limit, in milliseconds: as many are admitted as are answered in that time. */
const WAIT_MS = 2_000;
/** The period over which answers are counted, in milliseconds. */
const COUNTED_MS = 1_000;
/** While nothing is answered, one update per period is admitted to see whether that has changed, in milliseconds. */
const PROBE_EVERY_MS = 500;
/** Meanwhile, one request per period, in milliseconds, may find out what to ask; the same period applies while the admitted ones wait too long. */
const LOOK_EVERY_MS = 100;

/** Lets one caller through per period, in milliseconds. */
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

/** The admitted callers, the earliest first. */
class Line {
  /** The callers that are admitted beyond the limit: while nothing is answered, and while it is slow. */
  readonly inVain: Tries;
  readonly whenSlow = new Tries(LOOK_EVERY_MS);
  readonly #since = new Set<{ readonly ms: number }>();

  constructor(inVainEveryMs: number) {
    this.inVain = new Tries(inVainEveryMs);
  }

  get length(): number {
    return this.#since.size;
  }

  /** @returns a function that leaves the queue */
  join(nowMs: number): () => void {
    const one = { ms: nowMs };
    this.#since.add(one);
    return () => {
      this.#since.delete(one);
    };
  }

  /** Late updates show it before they are done; a few do not suffice, because they may take long for other reasons. */
  isSlow(nowMs: number): boolean {
    let nth = 0;
    for (const { ms } of this.#since) if ((nth += 1) === UPDATES_AT_LEAST_WHEN_SLOW) return nowMs - ms > WAIT_MS;
    return false;
  }
}

/**
 * Adaptive concurrency limit: admits updates at the rate at which they are answered (Little's law), and refuses the rest immediately, because
 * queueing under load only delays everyone. Once an update has timed out while nothing was answered, only single ones are admitted until an answer
 * comes.
 */
export class Admission {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #requests = new Line(LOOK_EVERY_MS);
  readonly #updates = new Line(PROBE_EVERY_MS);
  /** Answers in the current second and in the previous one. */
  #counted = { sinceMs: 0, now: 0, before: 0 };
  #answeredMs = -Infinity;
  #inVain = false;
  /** When a queue was last slow, or answers came again. */
  #slowMs = -Infinity;

  constructor({ clock }: { readonly clock: Pick<Clock, 'monotonicMs'> }) {
    this.#clock = clock;
  }

  /**
   * A permit for a request that will ask, once it has found out what. There are as many as updates may be in progress: otherwise the reads of a crowd
   * of requests would take the machine from those that are being answered.
   * @returns a function that releases the permit; to be called once
   * @throws Rejection as `admit` would at this moment
   */
  enter(): () => void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#inVain && !this.#updates.inVain.isDue(nowMs)) throw runtimeRefusal('ENGINE_UNAVAILABLE');
    return this.#letIn(this.#requests, nowMs);
  }

  /**
   * @param ask resolves with any answer, refusals included
   * @throws Rejection BUSY if more are in progress than are answered, ENGINE_UNAVAILABLE if none are answered, both immediately; and what the update
   *   throws
   */
  async admit<T>(ask: () => Promise<T>): Promise<T> {
    const beganMs = this.#clock.monotonicMs();
    const leave = this.#letIn(this.#updates, beganMs);
    try {
      const answer = await ask();
      this.#answered();
      return answer;
    } catch (error) {
      // A step that threw was handled by a worker.
      if (!(error instanceof Rejection)) this.#answered();
      else if (error.code === 'ENGINE_UNAVAILABLE' && this.#answeredMs < beganMs) this.#inVain = true;
      throw error;
    } finally {
      this.#noteSlow(this.#clock.monotonicMs());
      leave();
    }
  }

  /**
   * Beyond the limit single updates are admitted while nothing is answered or others wait too long: their answers show that this is over, or that
   * they are quick. Otherwise, a few updates that hang would lock everyone out for as long as they hang.
   */
  #letIn(line: Line, nowMs: number): () => void {
    const isSlow = this.#noteSlow(nowMs);
    // The requests will ask, so the updates count for them, too.
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

  /**
   * @returns whether a queue is slow, or was recently: after an outage a crowd may have been admitted that takes much longer than any caller waits
   */
  #noteSlow(nowMs: number): boolean {
    if (this.#updates.isSlow(nowMs) || this.#requests.isSlow(nowMs)) this.#slowMs = nowMs;
    return nowMs - this.#slowMs < WAIT_MS;
  }

  #answered(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#turnTo(nowMs);
    this.#counted.now += 1;
    this.#answeredMs = nowMs;
    // A crowd waits by now. It is admitted as fast as it is answered, not all at one time.
    if (this.#inVain) this.#slowMs = nowMs;
    this.#inVain = false;
  }

  #turnTo(nowMs: number): void {
    const { sinceMs, now } = this.#counted;
    const passed = Math.floor((nowMs - sinceMs) / COUNTED_MS);
    if (passed > 0) this.#counted = { sinceMs: sinceMs + passed * COUNTED_MS, now: 0, before: passed === 1 ? now : 0 };
  }
}
