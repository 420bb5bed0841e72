import { Rejection } from '../../src/kernel/base/rejection.js';
import type { EventStore } from '../../src/ports/event-store.js';
import type { AppendFault } from '../contracts/process-runtime.js';

/** The same store, but an append may fail on its way in or on its way out. */
export const faulty = (store: EventStore, fault: AppendFault): EventStore => ({
  append: async (...args) => {
    if (fault.at !== 'none') fault.onFault?.();
    if (fault.at === 'away') throw new Rejection('STORE_UNAVAILABLE', { retryAfter: 1 });
    if (fault.at === 'before') throw new Error('killed before the append');
    const outcome = await store.append(...args);
    if (fault.at === 'after') throw new Error('killed after the append');
    return outcome;
  },
  read: (...args) => store.read(...args),
  readAll: (...args) => store.readAll(...args),
  lastPosition: () => store.lastPosition(),
  subscribe: (options) => store.subscribe(options),
  openProcesses: () => store.openProcesses(),
  [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
});
