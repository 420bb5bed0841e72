import { sha256Hex } from '../../src/kernel/crypto/sha256.js';
import { hashInput } from './hash-input.js';
import type { EventMeta, RecordedEvent } from '../../src/ports/event-store.js';

/** What a forger without the secret does with the seals of the events whose hashes change. */
export type ForgedSeals = 'kept' | 'removed';

/**
 * A stream after someone with access to the store, but without the secret, changed one event and computed every hash from there on again.
 * @param events the whole stream
 */
export const forged = (
  events: readonly RecordedEvent[],
  at: number,
  change: (event: RecordedEvent) => Partial<Pick<RecordedEvent, 'data' | 'type'>>,
  seals: ForgedSeals = 'kept',
): readonly RecordedEvent[] => {
  let prevHash = '';
  return events.map((event) => {
    if (event.revision < at) return event;
    const changed = event.revision === at ? { ...event, ...change(event) } : event;
    const { mac, ...meta } = changed.meta;
    const linked: EventMeta = { ...meta, prevHash: event.revision === at ? meta.prevHash : prevHash };
    const hash = sha256Hex(hashInput({ ...changed, meta: linked }));
    prevHash = hash;
    return {
      ...changed,
      meta: { ...linked, hash, ...(seals === 'removed' || mac === undefined ? {} : { mac }) },
    };
  });
};
