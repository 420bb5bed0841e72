import { drained } from '../../src/kernel/base/sliced.js';
import { breaksOf, GENESIS_HASH } from '../../src/kernel/streams/hash-chain.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';

/** Where a chain breaks: the first event whose hash or link is wrong, or null when the chain is intact. `events` must be contiguous. */
export const findBreak = (events: readonly RecordedEvent[]): RecordedEvent | null => {
  let expected = GENESIS_HASH;
  for (const event of events) {
    if (drained(breaksOf(event, expected)).length > 0) return event;
    expected = event.meta.hash;
  }
  return null;
};
