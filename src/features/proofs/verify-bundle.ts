import { type Checkpoint, readCheckpoint } from './domain/checkpoint.js';
import { fromHex } from './domain/edge.js';
import { isHexHash, isLeaf, isPlace, type Leaf, leafHash } from './domain/leaf.js';
import { signerOf } from './domain/note.js';
import { isConsistent } from './domain/proofs.js';
import { isObject, jcs, type Json, type JsonObject } from '../../kernel/base/json.js';
import { isIncluded } from '../../kernel/crypto/merkle.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import { thumbprint } from '../../kernel/crypto/jwk.js';
import { sha256Hex } from '../../kernel/crypto/sha256.js';
import { GENESIS_HASH } from '../../kernel/streams/hash-chain.js';

/** Checks a bundle with nothing but its text, as examples/verify_history.py does. */

/** The maximum number of hashes in a proof: a path of a log of 2^53 leaves is not longer. */
const PATH_HASHES = 128;
const MAX_KEYS = 1_000;
/** How deep a line may be nested: a body has at most 32 levels, and an event adds few. */
const MAX_LEVELS = 100;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The problem with a bundle, as a sentence. */
export class BundleBroken extends Error {}

const require = (holds: boolean, reason: string): void => {
  if (!holds) throw new BundleBroken(reason);
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
  require(header['bundle'] === 'anima-history' &&
    header['version'] === 1, 'it is not the header of a bundle of version 1');
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
  return { tenant, npcId, stream, from, to, prevHash, madeAt, keys: good };
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
export const readEnd = (text: string): BundleEnd => {
  const end = readLine(text);
  require(hasMembers(end, 'events head proof'), 'the last line has missing or unknown members');
  const { events, head, proof } = end;
  if (!isPlace(events) || !isObject(head) || !hasMembers(head, 'hash revision'))
    throw new BundleBroken('its end is invalid');
  const { revision, hash } = head;
  if (!isPlace(revision) || !isHexHash(hash)) throw new BundleBroken('its head is invalid');
  return { events, head: { revision, hash }, proof: readProof(proof as Json) };
};

/** The input of a verifier. `key`: the thumbprint of the key that must have signed. `kept`: the note of a checkpoint that was kept. */
export type Trust = { readonly key?: BundleKey | { readonly kid: string }; readonly kept?: string };

/** The log's statement about a bundle, after checking. */
export type Logged = {
  readonly checkpoint: Checkpoint;
  readonly kid: string;
  readonly leaf: Leaf;
  /** The size of the kept checkpoint that it extends, or equals; null if none was given. */
  readonly extendsSize: number | null;
};

const signedBy = (note: string, keys: readonly BundleKey[], trust: Trust): { checkpoint: Checkpoint; kid: string } => {
  const read = readCheckpoint(note);
  if (read === null) throw new BundleBroken('the checkpoint is not a note of a log');
  const { key } = trust;
  const known = key !== undefined && 'x' in key ? [key, ...keys] : keys;
  const allowed = key === undefined ? known : known.filter(({ kid }) => kid === key.kid);
  const signer = signerOf(read.note, read.checkpoint.origin, allowed);
  if (signer === null) {
    throw new BundleBroken(
      key === undefined
        ? 'the checkpoint is not signed by a key of the bundle'
        : `the checkpoint is not signed by the key ${key.kid}`,
    );
  }
  return { checkpoint: read.checkpoint, kid: signer.kid };
};

const requireExtends = ({ extends: shown }: BundleProof, checkpoint: Checkpoint, kept: Checkpoint): void => {
  require(kept.origin === checkpoint.origin, 'the earlier checkpoint belongs to another log');
  if (kept.size === checkpoint.size) {
    require(Buffer.from(kept.root).equals(
      checkpoint.root,
    ), 'the log was forked: the earlier checkpoint has the same size but a different root');
    return;
  }
  require(kept.size <
    checkpoint.size, 'the log was truncated, or the bundle is old: the earlier checkpoint is of a larger log');
  if (kept.size === 0) return;
  require(shown?.from ===
    kept.size, `the bundle does not prove that it extends size ${String(kept.size)}; create it with --checkpoint, or with ?extends=`);
  const path = (shown?.path ?? []).map(fromHex);
  require(isConsistent({
    earlier: kept.size,
    earlierRoot: kept.root,
    size: checkpoint.size,
    root: checkpoint.root,
    path,
  }), 'the log does not extend the earlier checkpoint: it was changed or forked');
};

/**
 * Checks the log's statement about a bundle. Null if the bundle has no proof.
 * @param covered the event at the revision of the proof's leaf, as it is in the bundle
 * @throws BundleBroken
 */
export const checkProof = (
  header: BundleHeader,
  proof: BundleProof | null,
  covered: BundleEvent | null,
  trust: Trust,
): Logged | null => {
  if (proof === null) {
    require(trust.key === undefined && trust.kept === undefined, 'the log does not contain these events yet');
    return null;
  }
  const { leaf, size, index } = proof;
  require(leaf.stream === header.stream, 'the leaf belongs to another stream');
  require(covered !== null &&
    covered.hash === leaf.hash &&
    covered.at === leaf.at &&
    covered.revision === leaf.revision, 'the leaf is not an event of this bundle');
  const { checkpoint, kid } = signedBy(proof.note, header.keys, trust);
  require(checkpoint.size === size, 'the checkpoint and the proof have different sizes');
  const path = proof.path.map(fromHex);
  const inclusion = { leaf: leafHash(leaf), place: index, leaves: size, path };
  require(isIncluded(inclusion, checkpoint.root), 'the leaf is not in the signed log');
  if (trust.kept === undefined) {
    // The caller has not asked for it, but every statement in a bundle must hold.
    if (proof.extends !== undefined)
      require(proof.extends.from >= 1 && proof.extends.from <= size, 'its extension is invalid');
    return { checkpoint, kid, leaf, extendsSize: null };
  }
  const kept = signedBy(trust.kept, header.keys, trust).checkpoint;
  requireExtends(proof, checkpoint, kept);
  return { checkpoint, kid, leaf, extendsSize: kept.size };
};
