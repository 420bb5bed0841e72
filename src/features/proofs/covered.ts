import { LRUCache } from 'lru-cache';

import { eventAt } from '../../kernel/streams/stream-pages.js';
import type { StreamPage } from '../../ports/event-store.js';
import { checkpointAt, logEventThrough, type LogReads } from './log.js';
import { firstRevision } from './search-stream.js';

/** How many events of the log are remembered: the streams of one batch mostly had their last leaves in the same round. */
const EVENTS_KEPT = 32;
/** Through how many rounds a last leaf is looked for. */
const ROUNDS = 100;

/**
 * Finds the first revision of a stream that no leaf covers. A round leaves out a stream whose events are not good, so its last leaf may be older than
 * the last round. If it is not found within ROUNDS rounds, nothing is covered. For one batch: what it reads of the log does not change meanwhile.
 * Errors of the event store are propagated.
 */
export const openCovered = (events: LogReads, tenant: string): ((stream: string, first: number) => Promise<number>) => {
  const pages = new LRUCache<string, StreamPage>({ max: EVENTS_KEPT });
  // Only single events of the log are read through this.
  const log: LogReads = {
    read: async (stream, range) => {
      const key = `${range.direction} ${String(range.from)}`;
      const page = pages.get(key) ?? (await events.read(stream, range));
      pages.set(key, page);
      return page;
    },
  };
  /** @param first the first revision of the stream after the last round */
  return async (stream, first) => {
    let start = first;
    for (let rounds = 0; start > 0; rounds += 1) {
      const before = await eventAt(events, stream, start - 1);
      const found = before === undefined ? null : await logEventThrough(log, tenant, before.position);
      if (found === null || rounds >= ROUNDS) return 0;
      const leaf = found.type === 'LeavesLogged' ? found.data.leaves.find((one) => one.stream === stream) : undefined;
      if (leaf !== undefined && leaf.revision < start) return leaf.revision + 1;
      const { checkpoint } = found.data;
      const begun = checkpoint === null ? 0 : (await checkpointAt(log, tenant, checkpoint)).through;
      start = Math.min(start - 1, await firstRevision(events, stream, start - 1, ({ position }) => position > begun));
    }
    return 0;
  };
};
