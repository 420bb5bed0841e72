import { isObject, jcs } from '../../../kernel/base/json.js';
import { hashLeaf } from '../../../kernel/crypto/merkle.js';

/** A head of a mind in the log of its tenant: the event that was the last of its stream. */
export type Leaf = { readonly stream: string; readonly revision: number; readonly hash: string; readonly at: string };

/** Whether a value is a SHA-256 in hex, as in JSON. */
export const isHexHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);

/** Whether a value is an index or a count: an integer from 0. */
export const isPlace = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

export const isLeaf = (value: unknown): value is Leaf =>
  isObject(value) &&
  Object.keys(value).sort().join() === 'at,hash,revision,stream' &&
  typeof value['stream'] === 'string' &&
  isPlace(value['revision']) &&
  isHexHash(value['hash']) &&
  typeof value['at'] === 'string';

/** The Merkle hash of a leaf: of its JCS form. */
export const leafHash = ({ stream, revision, hash, at }: Leaf): Uint8Array =>
  hashLeaf(jcs({ stream, revision, hash, at }));
