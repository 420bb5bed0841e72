import { Rejection } from '../../domain/shared/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { Random } from '../../ports/random.js';

/** How many asks may be under way whatever is known of the workers, and at most. */
export const ASKS_AT_LEAST = 256;
export const ASKS_AT_MOST = 4_096;
/** How many at least while they wait longer than they should: a longer line would only make all of them late. */
export const ASKS_AT_LEAST_WHEN_SLOW = 16;
/** How long an ask should wait at most when as many are under way as may, in milliseconds: so many are let in as are answered in that time. */
const WAIT_MS = 2_000;
/** Over which time answers are counted, in milliseconds. */
const COUNTED_MS = 1_000;
/** While nothing is answered, one ask in this time is let in to see whether that has changed, in milliseconds. */
const PROBE_EVERY_MS = 500;
/** And one request in this time may go to the trouble of finding out what to ask; so may one while those that were let in wait too long. */
const LOOK_EVERY_MS = 100;
/** A client that was refused comes again after one to so many seconds, so that not all come at once. */
const RETRY_SECONDS = 3;

/** On the monotonic clock. */
type Since = { readonly ms: number };

export type AdmissionDeps = {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: Random;
};

/**
 * Lets asks in as far as they are being answered, and refuses the others at once: under load a queue only makes everybody late. Once an ask has
 * waited in vain while nothing was answered, only single ones are let in until an answer comes.
 */
export class Admission {
  readonly #deps: AdmissionDeps;
  /** When each ask that is under way began, and when each request was given its place; the oldest comes first. */
  readonly #underWay = new Set<Since>();
  readonly #entered = new Set<Since>();
  /** Answers in the running second and in the one before. */
  #counted = { sinceMs: 0, now: 0, before: 0 };
  #answeredMs = -Infinity;
  #inVain = false;
  #probedMs = -Infinity;
  #lookedMs = -Infinity;
  /** When a request, and an ask, was last let in beyond the limit. */
  readonly #triedMs = { request: -Infinity, ask: -Infinity };
  /** When ASKS_AT_LEAST_WHEN_SLOW asks, or requests with a place, last had waited longer than WAIT_MS; also when answers came again. */
  #slowMs = -Infinity;

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
  }

  /**
   * A place for a request that will ask, once it has found out what. There are as many as asks may be under way: what a crowd of requests reads before
   * it asks would keep the machine from those that are answered.
   * @returns gives the place back; to be called once
   * @throws Rejection as `admit` would at this moment
   */
  enter(): () => void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (this.#inVain) {
      const isDue = nowMs - this.#probedMs >= PROBE_EVERY_MS && nowMs - this.#lookedMs >= LOOK_EVERY_MS;
      if (!isDue) throw this.#refused('ENGINE_UNAVAILABLE');
      this.#lookedMs = nowMs;
    } else if (
      Math.max(this.#entered.size, this.#underWay.size) >= this.#limit(nowMs) &&
      !this.#tries('request', nowMs)
    ) {
      throw this.#refused('BUSY');
    }
    const entry = { ms: nowMs };
    this.#entered.add(entry);
    return () => {
      this.#entered.delete(entry);
    };
  }

  /**
   * @param ask resolves with any answer, refusals included
   * @throws Rejection BUSY when more are under way than are answered, ENGINE_UNAVAILABLE when none are, both at once; and what the ask throws.
   *   All of these say to come again after one to RETRY_SECONDS seconds
   */
  async admit<T>(ask: () => Promise<T>): Promise<T> {
    const beganMs = this.#deps.clock.monotonicMs();
    this.#begin(beganMs);
    const begun = { ms: beganMs };
    this.#underWay.add(begun);
    try {
      const answer = await ask();
      this.#answered(this.#deps.clock.monotonicMs());
      return answer;
    } catch (error) {
      // A step that threw was taken by somebody.
      if (!(error instanceof Rejection)) this.#answered(this.#deps.clock.monotonicMs());
      else if (error.code === 'ENGINE_UNAVAILABLE' && this.#answeredMs < beganMs) this.#inVain = true;
      if (error instanceof Rejection && (error.code === 'ENGINE_UNAVAILABLE' || error.code === 'BUSY'))
        throw this.#refused(error.code);
      throw error;
    } finally {
      this.#noteSlow(this.#deps.clock.monotonicMs());
      this.#underWay.delete(begun);
    }
  }

  #begin(nowMs: number): void {
    if (this.#inVain) {
      if (nowMs - this.#probedMs < PROBE_EVERY_MS) throw this.#refused('ENGINE_UNAVAILABLE');
      this.#probedMs = nowMs;
    } else if (this.#underWay.size >= this.#limit(nowMs) && !this.#tries('ask', nowMs)) throw this.#refused('BUSY');
  }

  #limit(nowMs: number): number {
    this.#turnTo(nowMs);
    this.#noteSlow(nowMs);
    const { now, before } = this.#counted;
    const answeredInTime = (Math.max(now, before) * WAIT_MS) / COUNTED_MS;
    const atLeast = nowMs - this.#slowMs < WAIT_MS ? ASKS_AT_LEAST_WHEN_SLOW : ASKS_AT_LEAST;
    return Math.min(Math.max(answeredInTime, atLeast), ASKS_AT_MOST);
  }

  /**
   * Whether one is let in beyond the limit: while some take very long, the answers to others are what shows that these are quick. Without it, a few asks
   * that hang would shut everybody out for as long as they hang.
   */
  #tries(what: 'request' | 'ask', nowMs: number): boolean {
    if (nowMs - this.#slowMs >= WAIT_MS || nowMs - this.#triedMs[what] < LOOK_EVERY_MS) return false;
    if (this.#underWay.size >= ASKS_AT_MOST || this.#entered.size >= ASKS_AT_MOST) return false;
    this.#triedMs[what] = nowMs;
    return true;
  }

  /**
   * Those that wait show it before they are done: after an outage a crowd may have been let in that takes much longer than anybody waits. A few that
   * take long, for reasons of their own, show nothing.
   */
  #noteSlow(nowMs: number): void {
    for (const waiting of [this.#underWay, this.#entered]) {
      let late = 0;
      for (const { ms } of waiting) {
        if (nowMs - ms <= WAIT_MS || late >= ASKS_AT_LEAST_WHEN_SLOW) break;
        late += 1;
      }
      if (late >= ASKS_AT_LEAST_WHEN_SLOW) this.#slowMs = nowMs;
    }
  }

  #answered(nowMs: number): void {
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

  #refused(code: 'BUSY' | 'ENGINE_UNAVAILABLE'): Rejection {
    const [byte = 0] = this.#deps.random.bytes(1);
    return new Rejection(code, { retryAfter: 1 + (byte % RETRY_SECONDS) });
  }
}
