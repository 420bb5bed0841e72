import { BACKWARDS, END } from '@eventstore/db-client';

import { Presence } from '../../kernel/concurrency/presence.js';
import { within } from '../shared/within.js';
import { readEach } from './read-each.js';
import type { StoreConnection } from './store-connection.js';
import { storeUnavailable } from './store-failures.js';

/** How long a call waits for a silent store to show that it is there again, in milliseconds. */
const WAIT_MS = 500;

/**
 * Whether the store is there. A read that goes unanswered shows that it is silent: frozen, or behind a network that drops everything. Any read that
 * is answered shows that it is back.
 */
export const storePresence = (
  connection: Pick<StoreConnection, 'client' | 'node' | 'leaveSilentNode' | 'foundNoLeader'>,
): Presence => {
  const probe = async (): Promise<void> => {
    const last = { direction: BACKWARDS, fromPosition: END, maxCount: 1 } as const;
    await readEach(
      () => connection.client.readAll(last),
      () => true,
      { presence, connection },
    );
  };
  const presence: Presence = new Presence({
    probe,
    away: storeUnavailable,
    // The next call tells whether that went well.
    silent: () => void connection.leaveSilentNode().catch(() => undefined),
  });
  return presence;
};

/**
 * Waits for the store where it is silent: one question for all who wait. It has as long as any read has: a store that is only slow comes back. Each call would wait
 * for its own time limit otherwise, and a frozen server finds all of them when it wakes up: after two minutes it was busy for half a minute with what
 * nobody waited for any more.
 * @throws Rejection STORE_UNAVAILABLE when the question is not answered soon
 */
export const storeIsThere = async (presence: Presence): Promise<void> => {
  if (!presence.isAway) return;
  const answered = presence.probe().then(() => true);
  if ((await within(WAIT_MS, answered)) === null) throw storeUnavailable();
};
