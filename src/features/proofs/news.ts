import { LRUCache } from 'lru-cache';

import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import type { EventStore } from '../../ports/event-store.js';
import { logOfEvent } from './domain/logged-streams.js';

/** How many events are read at a time. */
const PAGE = 500;
/** How many tenants are remembered. */
const TENANTS_KEPT = 10_000;

/**
 * The global position of the first event after a position that the tenant's log does not hold yet; null if there is none, or only accesses: they are
 * logged with the others, but are no reason for a round on request, because the request is an access too. What was read once for a tenant is not read
 * again, so a call that was aborted has made progress.
 * @throws the reason of the signal; errors from the event store
 */
export type News = (tenant: string, after: number, signal: AbortSignal) => Promise<number | null>;

/** How far the events after a position were read; there were only accesses, the first one at `access`. */
type Look = { readonly after: number; readonly at: number; readonly access: number | null };

export const createNews = (events: Pick<EventStore, 'readAll'>): News => {
  const looks = new LRUCache<string, Look>({ max: TENANTS_KEPT });
  const begin = (tenant: string, after: number): Look => {
    const known = looks.get(tenant);
    const fresh = { after, at: after, access: null };
    if (known === undefined || known.after > after || known.at < after) return fresh;
    // The log may hold the first access, and not the next.
    return known.access === null || known.access > after ? known : fresh;
  };
  return async (tenant, after, signal) => {
    let look = begin(tenant, after);
    for (;;) {
      signal.throwIfAborted();
      const page = await events.readAll(look.at, PAGE);
      for (const event of page) {
        const log = logOfEvent(event);
        if (log?.tenant !== tenant) continue;
        if (log.kind !== 'access') return look.access ?? event.position;
        look = { ...look, access: look.access ?? event.position };
      }
      const last = page.at(-1);
      if (last === undefined) return null;
      look = { ...look, at: last.position };
      looks.set(tenant, look);
      await yieldToEventLoop();
    }
  };
};
