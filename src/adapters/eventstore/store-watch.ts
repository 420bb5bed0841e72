import { BACKWARDS, END } from '@eventstore/db-client';

import { within } from '../shared/within.js';
import { readEach, type Silence } from './read-each.js';
import type { StoreConnection } from './store-connection.js';
import { storeUnavailable } from './store-failures.js';

/** How long a call waits for a silent store to show that it is there again, in milliseconds. */
const WAIT_MS = 500;
/** How long a read may go without an event before the store counts as silent, in milliseconds. */
export const READ_SILENCE_MS = 1_500;

/**
 * Keeps calls from a store that is silent: frozen, or behind a network that drops everything. Each of them would wait for its own time limit, and a
 * frozen server finds all of them when it wakes up: after two minutes it was busy for half a minute with what nobody waited for any more.
 */
export class StoreWatch {
  readonly #connection: StoreConnection;
  #isSilent = false;
  #probing: Promise<void> | null = null;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  /** Whether a read went unanswered, and none was answered since. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** How every read is watched. */
  readonly silence: Silence = {
    ms: READ_SILENCE_MS,
    noted: () => {
      this.#isSilent = true;
    },
    broken: () => {
      this.#isSilent = false;
    },
  };

  /**
   * Waits for the store where it was silent: one question for all who wait. It has as long as any read has: a store that is only slow comes back.
   * @throws Rejection STORE_UNAVAILABLE when it is not answered soon
   */
  async there(): Promise<void> {
    if (!this.#isSilent) return;
    this.#probing ??= this.#probe().finally(() => (this.#probing = null));
    const answered = await within(
      WAIT_MS,
      this.#probing.then(() => true),
    );
    if (answered === null) throw storeUnavailable();
  }

  async #probe(): Promise<void> {
    await readEach(
      () => this.#connection.client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }),
      () => true,
      this.silence,
    );
  }
}
