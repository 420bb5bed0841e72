import type { EventStore } from '../../src/ports/event-store.js';
import { countTurns } from './loop-turns.js';
import { storeWith } from './streams.js';

/**
 * A store whose pages end after `length` events, as they do when events are large. `reads` has for each read the turn of the event loop at which it
 * arrived. When the number grows between two reads, other work ran in between.
 */
export const shortPages = (store: EventStore, length: number) => {
  const reads: number[] = [];
  const turns = countTurns();
  return {
    reads,
    store: storeWith(store, {
      read: async (stream, range) => {
        reads.push(turns.count);
        return store.read(stream, { ...range, limit: Math.min(range.limit, length) });
      },
    }),
    /** Stops the counting. */
    [Symbol.dispose]: () => turns[Symbol.dispose](),
  };
};
