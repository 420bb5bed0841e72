import { isHexHash, isLeaf, isPlace, type Leaf } from './domain/leaf.js';
import { isObject, jcs, type Json, type JsonObject } from '../../kernel/base/json.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import { thumbprint } from '../../kernel/crypto/jwk.js';
import { sha256Hex } from '../../kernel/crypto/sha256.js';
import { GENESIS_HASH } from '../../kernel/streams/hash-chain.js';

/** The lines of a bundle, each checked by itself and against the one before it. */

/** The maximum number of hashes in a proof: a path of a log of 2^53 leaves is not longer. */
const PATH_HASHES = 128;
const MAX_KEYS = 1_000;
/** How deep a line may be nested: a body has at most 32 levels, and an event adds few. */
const MAX_LEVELS = 100;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** What is wrong: the bundle, what the kept checkpoint says about it, the key, or only that the bundle has no proof for what was asked. */
export type Culprit = 'bundle' | 'checkpoint' | 'key' | 'proof';

/** The problem with a bundle, as a sentence. */
export class BundleBroken extends Error {
  readonly culprit: Culprit;

  constructor(reason: string, culprit: Culprit = 'bundle') {
    super(reason);
    this.culprit = culprit;
  }
}

export const require = (holds: boolean, reason: string, culprit: Culprit = 'bundle'): void => {
  if (!holds) throw new BundleBroken(reason, culprit);
};

const isWithin = (value: Json, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value as JsonObject).every((inner) => isWithin(inner, levels - 1)));

/** A line in its exact form: JSON in JCS form, so that no other text has the same meaning. @throws BundleBroken */
const readLine = (text: string): JsonObject => {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw new BundleBroken('it is not JSON');
  }
  require(isWithin(value, MAX_LEVELS), 'it is nested too deeply');
  let written: string | null;
  try {
    written = jcs(value);
  } catch {
    written = null;
  }
  require(written === text, 'it is not in canonical form (JCS)');
  if (!isObject(value)) throw new BundleBroken('it is not an object');
  return value;
};

/** @param names in order, separated by spaces; a name that contains spaces is none of these */
const hasMembers = (value: JsonObject, names: string): boolean => {
  const found = Object.keys(value).sort();
  const wanted = names.split(' ');
  return found.length === wanted.length && found.every((name, place) => name === wanted[place]);
};

/** A public key from a bundle or of a verifier: its thumbprint and its 32 bytes, base64url. */
export type BundleKey = { readonly kid: string; readonly x: string };

/** A public key from a JWK; null for a key that is not in the form of this server's. */
export const keyOfJwk = (jwk: Json): BundleKey | null => {
  if (!isObject(jwk) || jwk['kty'] !== 'OKP' || jwk['crv'] !== 'Ed25519' || typeof jwk['x'] !== 'string') return null;
  const { x } = jwk;
  if (!/^[A-Za-z0-9_-]{43}$/.test(x)) return null;
  const kid = thumbprint(x);
  return jwk['kid'] === undefined || jwk['kid'] === kid ? { kid, x } : null;
};

/** A key exactly as it is in a server's key set, without further members. */
const ownKey = (jwk: Json): BundleKey | null =>
  isObject(jwk) && hasMembers(jwk, 'crv kid kty use x') && jwk['use'] === 'sig' ? keyOfJwk(jwk) : null;

export type BundleHeader = {
  readonly version: 1 | 2;
  readonly tenant: string;
  readonly npcId: string;
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  readonly prevHash: string;
  readonly madeAt: string;
  readonly keys: readonly BundleKey[];
};

/** The first line. @throws BundleBroken */
export const readHeader = (text: string): BundleHeader => {
  const header = readLine(text);
  const { version } = header;
  if (header['bundle'] !== 'anima-history' || (version !== 1 && version !== 2))
    throw new BundleBroken('it is not the header of a bundle of version 1 or 2');
  require(hasMembers(
    header,
    'bundle from keys madeAt npcId prevHash stream tenant to version',
  ), 'the header has missing or unknown members');
  const { tenant, npcId, stream, from, to, prevHash, madeAt, keys } = header;
  if (
    typeof tenant !== 'string' ||
    typeof npcId !== 'string' ||
    typeof madeAt !== 'string' ||
    typeof stream !== 'string'
  )
    throw new BundleBroken('its names are not strings');
  require(stream === npcStream(tenant, npcId), 'its stream does not belong to its NPC');
  if (!isPlace(from) || !isPlace(to) || from > to) throw new BundleBroken('its range is invalid');
  if (!isHexHash(prevHash)) throw new BundleBroken('its prevHash is invalid');
  require(from > 0 ||
    prevHash === GENESIS_HASH, 'the prevHash of a history that starts at revision 0 must be 64 zeros');
  require(TIME.test(madeAt), 'its time is invalid');
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) throw new BundleBroken('its keys are invalid');
  const read = (keys as readonly Json[]).map(ownKey);
  const good = read.filter((key) => key !== null);
  require(good.length === read.length, 'one of its keys is invalid or has a wrong thumbprint');
  return { version, tenant, npcId, stream, from, to, prevHash, madeAt, keys: good };
};

/** The parts of an event that the following ones and the proof need. */
export type BundleEvent = { readonly revision: number; readonly hash: string; readonly at: string };

const EVENT_MEMBERS =
  'actor at causationId commandId correlationId data hash id prevHash revision schemaVersion stream tenant type';

/** The next event. @param last the one before it; its hash is the header's prevHash for the first @throws BundleBroken */
export const readEvent = (text: string, header: BundleHeader, last: BundleEvent): BundleEvent => {
  const event = readLine(text);
  require(hasMembers(
    event,
    EVENT_MEMBERS,
  ), 'an event must have exactly the thirteen members of the hash chain format, and hash');
  const { hash, ...hashed } = event;
  const { revision, at } = event;
  require(event['tenant'] === header.tenant && event['stream'] === header.stream, 'it belongs to another stream');
  require(revision === last.revision + 1, `revision ${String(last.revision + 1)} was expected here`);
  require(event['prevHash'] === last.hash, 'it does not follow the previous event (prevHash)');
  if (!isHexHash(hash) || hash !== sha256Hex(jcs(hashed)))
    throw new BundleBroken('its content does not match its hash');
  if (typeof at !== 'string' || !TIME.test(at)) throw new BundleBroken('its time is invalid');
  if (at < last.at) throw new BundleBroken('its time is earlier than that of the previous event');
  return { revision: last.revision + 1, hash, at };
};

export type BundleProof = {
  readonly size: number;
  readonly leaf: Leaf;
  readonly index: number;
  readonly path: readonly string[];
  readonly note: string;
  readonly extends?: { readonly from: number; readonly path: readonly string[] };
};
export type BundleEnd = {
  readonly events: number;
  readonly head: { readonly revision: number; readonly hash: string };
  readonly proof: BundleProof | null;
  /** The last revision of the history; null in version 1. */
  readonly last: number | null;
};

const isPath = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= PATH_HASHES && value.every(isHexHash);

const readProof = (proof: Json): BundleProof | null => {
  if (proof === null) return null;
  if (!isObject(proof)) throw new BundleBroken('its proof is invalid');
  const { extends: shown, ...rest } = proof;
  require(hasMembers(rest, 'index leaf note path size'), 'its proof has missing or unknown members');
  const { size, leaf, index, path, note } = rest;
  if (!isPlace(size) || !isLeaf(leaf) || !isPlace(index) || !isPath(path) || typeof note !== 'string')
    throw new BundleBroken('a member of its proof is malformed');
  if (shown === undefined) return { size, leaf, index, path, note };
  if (!isObject(shown) || !hasMembers(shown, 'from path')) throw new BundleBroken('its extension is invalid');
  const { from, path: between } = shown;
  if (!isPlace(from) || !isPath(between)) throw new BundleBroken('its extension is invalid');
  return { size, leaf, index, path, note, extends: { from, path: between } };
};

/** The last line. @throws BundleBroken */
export const readEnd = (text: string, version: BundleHeader['version']): BundleEnd => {
  const end = readLine(text);
  const { last = null } = end;
  require(hasMembers(
    end,
    version === 1 ? 'events head proof' : 'events head last proof',
  ), 'the last line has missing or unknown members');
  const { events, head, proof } = end;
  if (!isPlace(events) || !isObject(head) || !hasMembers(head, 'hash revision'))
    throw new BundleBroken('its end is invalid');
  if (last !== null && !isPlace(last)) throw new BundleBroken('its last revision is invalid');
  const { revision, hash } = head;
  if (!isPlace(revision) || !isHexHash(hash)) throw new BundleBroken('its head is invalid');
  return { events, head: { revision, hash }, proof: readProof(proof as Json), last };
};
