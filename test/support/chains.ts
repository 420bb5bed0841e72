import { drained } from '../../src/kernel/base/sliced.js';
import { breaksOf, GENESIS_HASH } from '../../src/kernel/streams/hash-chain.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { allEvents } from './all-events.js';

/** The streams of a store and their defects: gaps, and broken hash chains; one line each. Of each stream, only the end is in memory. */
const look = async (events: Pick<EventStore, 'readAll'>) => {
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
  return { streams: new Set(ends.keys()), breaks: [...gaps.values(), ...broken.values()] };
};

/** The defects of a store's streams, one line each. */
export const breaksIn = async (events: Pick<EventStore, 'readAll'>): Promise<readonly string[]> =>
  (await look(events)).breaks;

/** Checks that every stream of a store is intact. @returns their names @throws Error that names each break */
export const assertWholeChains = async (events: Pick<EventStore, 'readAll'>): Promise<ReadonlySet<string>> => {
  const { streams, breaks } = await look(events);
  if (breaks.length > 0) throw new Error(breaks.join('\n'));
  return streams;
};
