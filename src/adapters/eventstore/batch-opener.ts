import { Rejection } from '../../kernel/base/rejection.js';
import { BatchCall } from './batch-call.js';
import type { StoreConnection } from './store-connection.js';
import { storeUnavailable } from './store-failures.js';
import type { StoreReader } from './store-reader.js';

/** The one batch call of a process: a new one is opened when the last has ended. */
export class BatchOpener {
  readonly #connection: StoreConnection;
  readonly #reader: StoreReader;
  #opening: Promise<BatchCall> | null = null;
  #opened: BatchCall | null = null;

  constructor(connection: StoreConnection, reader: StoreReader) {
    this.#connection = connection;
    this.#reader = reader;
  }

  /** The open call; null if there is none. */
  get current(): BatchCall | null {
    return this.#opened?.ended === false ? this.#opened : null;
  }

  /** All callers that wait for a call continue in the order in which they came. @throws Rejection STORE_UNAVAILABLE */
  open(): Promise<BatchCall> {
    const { current } = this;
    if (current !== null) return Promise.resolve(current);
    if (this.#opening !== null) return this.#opening;
    const opening = this.#newCall();
    this.#opening = opening;
    opening.then(
      (call) => {
        this.#opened = call;
        this.#opening = null;
      },
      () => (this.#opening = null),
    );
    return opening;
  }

  async #newCall(): Promise<BatchCall> {
    try {
      // Events in the store before the call begins were not written by it.
      await this.#reader.meetEnd();
      const { node } = this.#connection;
      return new BatchCall(await this.#connection.openBatch(), node);
    } catch (error) {
      throw error instanceof Rejection ? error : storeUnavailable(error);
    }
  }
}
