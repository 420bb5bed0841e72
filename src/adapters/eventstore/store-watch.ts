import { BACKWARDS, END } from '@eventstore/db-client';

import { readEach } from './read-each.js';
import type { StoreConnection } from './store-connection.js';

/** How long the store may take to show that it is there again, in milliseconds. */
const PROBE_MS = 500;

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

  /** Whether a call went unanswered, and none was answered since. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** A call went unanswered. */
  readonly noteSilence = (): void => {
    this.#isSilent = true;
  };

  /**
   * Waits for the store where it was silent: one question for all who wait.
   * @throws Rejection STORE_UNAVAILABLE when that is not answered either
   */
  async there(): Promise<void> {
    if (!this.#isSilent) return;
    this.#probing ??= this.#probe().finally(() => (this.#probing = null));
    await this.#probing;
  }

  async #probe(): Promise<void> {
    await readEach(
      () => this.#connection.client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }),
      () => true,
      { ms: PROBE_MS, noted: this.noteSilence },
    );
    this.#isSilent = false;
  }
}
