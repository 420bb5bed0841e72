import type { EventStore } from '../../src/ports/event-store.js';
import { storeWith } from './streams.js';

/**
 * A store whose pages end after `length` events, as they do where events are large. `reads` says of each read after how many turns of the event
 * loop it came: other work ran between two of them when the number grew.
 */
export const shortPages = (store: EventStore, length: number) => {
  const reads: number[] = [];
  let turns = 0;
  const turn = (): void => {
    turns += 1;
    running = setImmediate(turn);
  };
  let running = setImmediate(turn);
  return {
    reads,
    store: storeWith(store, {
      read: async (stream, range) => {
        reads.push(turns);
        return store.read(stream, { ...range, limit: Math.min(range.limit, length) });
      },
    }),
    /** Ends the counting. */
    [Symbol.dispose]: () => clearImmediate(running),
  };
};
