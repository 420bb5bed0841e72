import { accessEvents } from './domain/access-events.js';
import { isObject } from '../../kernel/base/json.js';
import type { Fold } from '../../kernel/streams/fold.js';

/** Nothing is decided from earlier accesses, so their number is all that is kept. */
type AccessState = { readonly requests: number };

/** How a stream of accesses is folded. Its snapshots spare a writer from reading a stream that only grows. */
export const accessFold: Fold<AccessState> = {
  initial: { requests: 0 },
  evolve: (state, recorded) => {
    const event = accessEvents.decode(recorded);
    return event.type === 'HistoryAccessed' ? { requests: state.requests + event.data.count } : state;
  },
  versionOf: accessEvents.versionOf,
  snapshots: {
    version: 1,
    restore: (saved) =>
      isObject(saved) && typeof saved['requests'] === 'number' ? { requests: saved['requests'] } : null,
  },
};
