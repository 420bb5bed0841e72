import { createHash } from 'node:crypto';

import { jcs } from '../domain/shared/json.js';
import type { RecordedEvent } from '../ports/event-store.js';

/** What the first event of a stream has as `prevHash`. */
export const GENESIS_HASH = '0'.repeat(64);

const text = (value: string | null): string => JSON.stringify(value);

/** What of an event is hashed; `dataText` is the JCS form of its data, made once by the caller. */
export type HashedEvent = Pick<RecordedEvent, 'stream' | 'revision' | 'id' | 'type'> & {
  readonly meta: Omit<RecordedEvent['meta'], 'hash' | 'process'>;
};

/**
 * The text whose SHA-256 is an event's hash: the JCS form (RFC 8785) of the members listed in docs/hash-chain.md.
 * Their names are fixed and already in order, so only `data` needs sorting; a test holds this to `jcs` of the whole.
 */
export const hashInput = (event: HashedEvent, dataText: string): string =>
  `{"actor":${text(event.meta.actor)},"at":${text(event.meta.at)},"causationId":${text(event.meta.causationId)},` +
  `"commandId":${text(event.meta.commandId)},"correlationId":${text(event.meta.correlationId)},"data":${dataText},` +
  `"id":${text(event.id)},"prevHash":${text(event.meta.prevHash)},"revision":${String(event.revision)},` +
  `"schemaVersion":${String(event.meta.schemaVersion)},"stream":${text(event.stream)},"tenant":${text(event.meta.tenant)},` +
  `"type":${text(event.type)}}`;

/** SHA-256 in lower-case hex. */
export const sha256 = (input: string): string => createHash('sha256').update(input).digest('hex');

/** Where a chain breaks: the first event whose hash or link is wrong, or null when it is whole. `events` must be contiguous. */
export const findBreak = (events: readonly RecordedEvent[], prevHash: string = GENESIS_HASH): RecordedEvent | null => {
  let expected = prevHash;
  for (const event of events) {
    if (event.meta.prevHash !== expected || event.meta.hash !== sha256(hashInput(event, jcs(event.data)))) return event;
    expected = event.meta.hash;
  }
  return null;
};
