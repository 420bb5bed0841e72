import { jcs } from '../base/json.js';
import type { RecordedEvent } from '../../ports/event-store.js';
import { sha256Hex } from '../crypto/sha256.js';

/** The `prevHash` of a stream's first event. */
export const GENESIS_HASH = '0'.repeat(64);

const text = (value: string | null): string => JSON.stringify(value);

/** The part of an event that is hashed. */
export type HashedEvent = Pick<RecordedEvent, 'stream' | 'revision' | 'id' | 'type' | 'data'> & {
  readonly meta: Omit<RecordedEvent['meta'], 'hash' | 'mac' | 'process'>;
};

/**
 * The text whose SHA-256 is an event's hash: the JCS form (RFC 8785) of the members listed in docs/reference/formats/hash-chain.md. The event's id is
 * derived from the same text without the id. The members' names are fixed and already in order, so only `data` needs sorting; a test compares this
 * with `jcs` of the complete object.
 * @param dataText the JCS form of the event's data, made once by the caller
 */
export const hashedText = (
  { stream, revision, type, meta }: Omit<HashedEvent, 'id' | 'data'>,
  dataText: string,
): { readonly withoutId: string; readonly withId: (id: string) => string } => {
  const before =
    `{"actor":${text(meta.actor)},"at":${text(meta.at)},"causationId":${text(meta.causationId)},` +
    `"commandId":${text(meta.commandId)},"correlationId":${text(meta.correlationId)},"data":${dataText},`;
  const after =
    `"prevHash":${text(meta.prevHash)},"revision":${String(revision)},"schemaVersion":${String(meta.schemaVersion)},` +
    `"stream":${text(stream)},"tenant":${text(meta.tenant)},"type":${text(type)}}`;
  return { withoutId: before + after, withId: (id) => `${before}"id":${text(id)},${after}` };
};

/** The hash input of a recorded event. */
export const hashInput = (event: HashedEvent): string => hashedText(event, jcs(event.data)).withId(event.id);

/**
 * One thing that is wrong with an event. `stored` is what the event carries under `member`; `computed` is what it should carry. For `prevHash` that
 * is the hash of the previous event. For `hash` it is the hash of what the event holds now, including its `prevHash`.
 */
export type ChainBreak = {
  readonly revision: number;
  readonly member: 'prevHash' | 'hash';
  readonly stored: string;
  readonly computed: string;
};

/** What is wrong with an event that follows one with the hash `prevHash`: nothing, its link, its content, or both. */
export const breaksOf = (event: RecordedEvent, prevHash: string): readonly ChainBreak[] => {
  const { revision, meta } = event;
  const link = { revision, member: 'prevHash', stored: meta.prevHash, computed: prevHash } as const;
  const content = { revision, member: 'hash', stored: meta.hash, computed: hashOf(event) } as const;
  return [link, content].filter(({ stored, computed }) => stored !== computed);
};

const hashOf = (event: RecordedEvent): string => sha256Hex(hashInput(event));
