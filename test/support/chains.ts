import { drained } from '../../src/kernel/base/sliced.js';
import { breaksOf, GENESIS_HASH } from '../../src/kernel/streams/hash-chain.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { allEvents } from './all-events.js';

/** The defects of a store's streams: gaps, and broken hash chains; one line each. It keeps only the end of a stream in memory, however long it is. */
export const breaksIn = async (events: Pick<EventStore, 'readAll'>): Promise<readonly string[]> => {
  const ends = new Map<string, { readonly revision: number; readonly hash: string }>();
  const gaps = new Map<string, string>();
  const broken = new Map<string, string>();
  for await (const event of allEvents(events)) {
    const { stream, revision, type, meta } = event;
    const end = ends.get(stream) ?? { revision: -1, hash: GENESIS_HASH };
    if (revision !== end.revision + 1 && !gaps.has(stream))
      gaps.set(stream, `${stream} has a gap before revision ${String(revision)}`);
    if (drained(breaksOf(event, end.hash)).length > 0 && !broken.has(stream))
      broken.set(stream, `the chain of ${stream} breaks at revision ${String(revision)} (${type})`);
    ends.set(stream, { revision, hash: meta.hash });
  }
  return [...gaps.values(), ...broken.values()];
};

/** Checks that every stream of a store is intact. @throws Error that names each break */
export const assertWholeChains = async (events: Pick<EventStore, 'readAll'>): Promise<void> => {
  const breaks = await breaksIn(events);
  if (breaks.length > 0) throw new Error(breaks.join('\n'));
};
