import { jcsSlices } from '../base/jcs-slices.js';
import { jcs, type Json, objectOrEmpty, sizeAtMost } from '../base/json.js';
import type { Sliced } from '../base/sliced.js';
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

/** An event of at most this size is written at once, which is several times faster than in slices: a fraction of a millisecond. */
const SMALL_VALUES = 500;
const SMALL_BYTES = 65_536;

/** The hash of what an event contains now. @throws Error if that cannot be written as JCS, which no server records */
export function* contentHash({ stream, revision, id, type, data, meta }: RecordedEvent): Sliced<string> {
  const { tenant, actor, at, causationId, commandId, correlationId, schemaVersion, prevHash } = meta;
  const about = { actor, at, causationId, commandId, correlationId, schemaVersion, tenant, prevHash };
  const whole = { ...about, stream, revision, id, type, data };
  const { values, bytesAtMost } = sizeAtMost(whole, SMALL_VALUES);
  const isSmall = values <= SMALL_VALUES && bytesAtMost <= SMALL_BYTES;
  return sha256Hex(isSmall ? jcs(whole) : yield* jcsSlices(whole));
}

const HASH = /^[0-9a-f]{64}$/;
/** A hash as it is stored; empty in place of anything else. Whoever can write to the store can write anything. */
const hashIn = (value: Json | undefined): string => (typeof value === 'string' && HASH.test(value) ? value : '');

/** The hash that an event carries; empty if what it carries is not one. */
export const storedHash = ({ meta }: RecordedEvent): string => hashIn(objectOrEmpty(meta)['hash']);

/**
 * One thing that is wrong with an event. `stored` is what the event carries under `member`; empty if that is not a hash. `computed` is what it should
 * carry. For `prevHash` that is the hash of the previous event. For `hash` it is the hash of what the event holds now, including its `prevHash`; for
 * content that no server records, which has no hash, one that only names this content.
 */
export type ChainBreak = {
  readonly revision: number;
  readonly member: 'prevHash' | 'hash';
  readonly stored: string;
  readonly computed: string;
};

/** What is wrong with an event that follows one with the hash `prevHash`: nothing, its link, its content, or both. Any stored JSON is judged. */
export function* breaksOf(event: RecordedEvent, prevHash: string): Sliced<readonly ChainBreak[]> {
  const { revision, meta } = event;
  const breaks: ChainBreak[] = [];
  const linked = hashIn(objectOrEmpty(meta)['prevHash']);
  if (linked === '' || linked !== prevHash)
    breaks.push({ revision, member: 'prevHash', stored: linked, computed: prevHash });
  const stored = storedHash(event);
  const content = yield* hashOrNull(event);
  if (stored === '' || stored !== content)
    breaks.push({ revision, member: 'hash', stored, computed: content ?? nameOf(event) });
  return breaks;
}

/** The hash of an event's content; null if it has none. */
function* hashOrNull(event: RecordedEvent): Sliced<string | null> {
  try {
    return yield* contentHash(event);
  } catch {
    return null;
  }
}

/** Tells contents without a hash apart, so that the acknowledgement of one covers no other. */
const nameOf = ({ id, type, data, meta }: RecordedEvent): string => sha256Hex(JSON.stringify([id, type, data, meta]));
