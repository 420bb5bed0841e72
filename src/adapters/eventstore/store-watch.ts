import { BACKWARDS, END } from '@eventstore/db-client';

import { Presence } from '../../kernel/concurrency/presence.js';
import { within } from '../shared/within.js';
import { readEach } from './read-each.js';
import type { StoreConnection } from './store-connection.js';
import { storeUnavailable } from './store-failures.js';

/** How long a call waits for a silent store to answer again, in milliseconds. */
const WAIT_MS = 500;

/**
 * Whether the store is available. A read without an answer shows that it is silent: frozen, or behind a network that drops everything. Any answered
 * read shows that it is back.
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
    // The next call shows whether that succeeded.
    silent: () => void connection.leaveSilentNode().catch(() => undefined),
  });
  return presence;
};

/**
 * Waits for the store if it is silent: one probe for all that wait. It has as long as any read has, because a store that is only slow comes back.
 * Otherwise each call would wait for its own time limit, and a frozen server would find all of them when it wakes up: after two minutes it was busy
 * for half a minute with calls that no one waited for any longer.
 * @throws Rejection STORE_UNAVAILABLE if the probe is not answered soon
 */
export const storeIsThere = async (presence: Presence): Promise<void> => {
  if (!presence.isAway) return;
  const answered = presence.probe().then(() => true);
  if ((await within(WAIT_MS, answered)) === null) throw storeUnavailable();
};
