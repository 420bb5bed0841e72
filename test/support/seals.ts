import { createSeals } from '../../src/kernel/crypto/seals.js';
import { createEventChecks, type EventChecks, type EventChecksDeps } from '../../src/kernel/streams/event-checks.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { deriveKey } from '../../src/kernel/crypto/derive-key.js';

/** The secret of the servers in tests, and their seals of events and of snapshots. */
export const SECRET = new Uint8Array(32).fill(7);
export const seals = createSeals(deriveKey(SECRET, 'event-mac'));
export const snapshotSeals = createSeals(deriveKey(SECRET, 'snapshot-mac'));

/** The checks of a store; by default, of one that has been sealed since its beginning. */
export const checksOf = (
  events: Pick<EventStore, 'read'>,
  isFromBefore: EventChecksDeps['isFromBefore'] = null,
): EventChecks =>
  createEventChecks({
    events,
    seals,
    isFromBefore,
    log: { error: () => undefined },
    metrics: { count: () => undefined },
  });
