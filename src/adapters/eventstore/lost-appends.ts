import { setTimeout as sleep } from 'node:timers/promises';

import type { Rejection } from '../../kernel/base/rejection.js';
import type { AppendOutcome } from '../../ports/event-store.js';
import { within } from '../shared/within.js';
import { type AppendAttempts, isNotYet, isRefusal, type TimedAppend } from './append-attempts.js';
import type { BatchOpener } from './batch-opener.js';
import type { StoreConnection } from './store-connection.js';
import { outcomeUnknown, storeUnavailable } from './store-failures.js';
import type { StoreReader } from './store-reader.js';

/** The time between two tries to reach a store that was lost, in milliseconds. */
const LOOK_AGAIN_MS = 50;

/** Why the last attempt at an append failed, when the first one did, and whether any of them may have been written. */
export type Lost = { reason: unknown; readonly at: number; isUnknown: boolean };

/** Notes that a first attempt failed now. */
export const lostBy = (reason: unknown): Lost => ({ reason, at: performance.now(), isUnknown: !isNotYet(reason) });

const unwritten = ({ isUnknown, reason }: Lost): Rejection =>
  isUnknown ? outcomeUnknown(reason) : storeUnavailable(reason);

export type LostAppendsDeps = {
  readonly connection: StoreConnection;
  readonly reader: StoreReader;
  readonly batch: BatchOpener;
  readonly attempts: AppendAttempts;
};

/**
 * Appends whose answer was lost, or which were not accepted yet. If one may have been written, its revisions are read. If they hold its own ids, it
 * succeeded; other ids are a conflict. If they are empty, it is sent again; if the first one still arrives, the server treats the second as a repeat.
 */
export class LostAppends {
  readonly #deps: LostAppendsDeps;
  #looking: Promise<void> | null = null;
  /** When the store was last reached, in milliseconds of the process's clock. */
  #seenAt = 0;

  constructor(deps: LostAppendsDeps) {
    this.#deps = deps;
  }

  /**
   * The outcome of an append. The appends of one stream must be settled in the order in which they were sent.
   * @throws Rejection STORE_UNAVAILABLE if it is not known in time, or the store refuses it
   */
  async settle(append: TimedAppend, lost: Lost): Promise<AppendOutcome> {
    const settling = this.#settled(append, lost);
    for (let due = append.until; ; due = this.#dueAt(append)) {
      const outcome = await within(Math.max(0, due - performance.now()), settling);
      if (outcome !== null) return outcome;
      if (due >= this.#dueAt(append)) throw unwritten(lost);
    }
  }

  /** Until when an append is tried: longer if a leader is elected meanwhile. */
  #dueAt({ since, until, electedBy }: TimedAppend): number {
    return this.#deps.connection.lackedLeaderSince(since) ? electedBy : until;
  }

  async #settled(append: TimedAppend, lost: Lost): Promise<AppendOutcome> {
    const { batch, attempts } = this.#deps;
    let since = lost.at;
    while (performance.now() < this.#dueAt(append)) {
      try {
        if (!lost.isUnknown || this.#seenAt <= since) await this.#look();
        since = performance.now();
        // An append that may have been written is looked up before it is sent again.
        const found = lost.isUnknown ? await this.#lookUp(append) : null;
        if (found !== null) return found;
        const call = await batch.open();
        if (performance.now() > this.#dueAt(append)) break;
        const wasUnknown = lost.isUnknown;
        lost.isUnknown = true;
        try {
          return await attempts.make({ ...append, until: this.#dueAt(append) }, call);
        } catch (error) {
          if (isNotYet(error) || isRefusal(error)) lost.isUnknown = wasUnknown;
          throw error;
        }
      } catch (error) {
        if (isRefusal(error) && !lost.isUnknown) throw error;
        lost.reason = error;
      }
    }
    throw unwritten(lost);
  }

  /** The outcome of an append according to the events at its revisions; null if there are none. */
  async #lookUp({ stream, expected, events, known }: TimedAppend): Promise<AppendOutcome | null> {
    const { reader } = this.#deps;
    const place = expected === 'no_stream' ? 0 : expected + 1;
    const { ids, position } = await reader.idsFrom(stream, place, events.length);
    if (ids.length === 0) return null;
    if (events.every(({ id }, index) => id === ids[index]))
      return { ok: true, revision: place + ids.length - 1, position, repeated: position <= known };
    return { ok: false, actual: await reader.lastRevision(stream) };
  }

  /** Checks whether the store can be reached: once for all callers at the same time, with a pause before the next check. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => (this.#looking = null));
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    await sleep(LOOK_AGAIN_MS);
    await this.#deps.reader.meetEnd();
    this.#seenAt = performance.now();
  }
}
