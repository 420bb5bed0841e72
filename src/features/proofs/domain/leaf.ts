import { defined } from '../../../kernel/base/defined.js';
import { isObject, jcs } from '../../../kernel/base/json.js';
import { hashLeaf } from '../../../kernel/crypto/merkle.js';

/**
 * A head in the log of a tenant: the event that was the last of its stream. `events` is the root (RFC 9162) over the hashes of the stream's events
 * from the revision `from` up to the head, so that some of them can be shown without the others. Leaves from before this was recorded lack both.
 */
export type Leaf = {
  readonly stream: string;
  readonly revision: number;
  readonly hash: string;
  readonly at: string;
  readonly from?: number;
  readonly events?: string;
};

/** Whether a value is a SHA-256 in hex, as in JSON. */
export const isHexHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);

/** Whether a value is an index or a count: an integer from 0. */
export const isPlace = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

export const isLeaf = (value: unknown): value is Leaf =>
  isObject(value) &&
  ['at,hash,revision,stream', 'at,events,from,hash,revision,stream'].includes(Object.keys(value).sort().join()) &&
  typeof value['stream'] === 'string' &&
  isPlace(value['revision']) &&
  isHexHash(value['hash']) &&
  typeof value['at'] === 'string' &&
  (value['from'] === undefined || (isPlace(value['from']) && value['from'] <= value['revision'])) &&
  (value['events'] === undefined || isHexHash(value['events']));

/** The Merkle hash of a leaf: of its JCS form. */
export const leafHash = ({ stream, revision, hash, at, from, events }: Leaf): Uint8Array =>
  hashLeaf(jcs({ stream, revision, hash, at, ...defined({ from, events }) }));

/** The Merkle hash of one event in the `events` of a leaf: of the 32 bytes of its hash. */
export const eventHash = (hash: string): Uint8Array => hashLeaf(Buffer.from(hash, 'hex'));
