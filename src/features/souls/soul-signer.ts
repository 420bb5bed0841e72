import type { Sliced } from '../../kernel/base/sliced.js';
import { type Json, jsonBytes, type JsonObject } from '../../kernel/base/json.js';
import { MAX_MEMBERS } from '../../kernel/base/scan-json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import {
  leastSize,
  MAX_PART_BYTES,
  MAX_SOUL_BYTES,
  MAX_SOUL_CONTAINERS,
  MAX_SOUL_DEPTH,
  MAX_SOUL_MEMORIES,
  MAX_SOUL_VALUES,
} from './domain/bounds.js';
import { SOUL_TYPE, soulClaims } from './domain/claims.js';
import type { SoulDocument, SoulMemory, UnsignedSoul } from './domain/document.js';
import { hashSoul, fitsIntoSoul } from './domain/parts.js';
import type { SigningKeys } from '../../ports/signing-keys.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { readSoul } from './soul-check.js';

/** How many memories are looked at before other work runs: each may have 768 KiB. */
const MEMORIES_A_SLICE = 8;

/** The limits, as shown in a refusal. */
const SOUL_BOUNDS = {
  limitBytes: MAX_SOUL_BYTES,
  partLimitBytes: MAX_PART_BYTES,
  memoriesLimit: MAX_SOUL_MEMORIES,
  depthLimit: MAX_SOUL_DEPTH,
  listsAndObjectsLimit: MAX_SOUL_CONTAINERS,
  valuesLimit: MAX_SOUL_VALUES,
  membersLimit: MAX_MEMBERS,
};

/** `depth`: how many lists and objects contain it. */
function* isTooLarge(part: Json, depth: number): Sliced<boolean> {
  return (yield* leastSize(part, depth, MAX_PART_BYTES)) === 'too_large' || jsonBytes(part) > MAX_PART_BYTES;
}

/**
 * The part that is itself too long, too deep or has too many members for a soul: its first such memory, or its state or facts; nothing if only the total is
 * too large.
 */
const culprit = async ({ memories, state, facts = {} }: UnsignedSoul): Promise<JsonObject> => {
  const memory = await inSlices(firstTooLarge(memories));
  if (memory !== undefined) return { memoryId: memory.id };
  if (await inSlices(isTooLarge(state, 1))) return { member: 'state' };
  return (await inSlices(isTooLarge(facts, 1))) ? { member: 'facts' } : {};
};

function* firstTooLarge(memories: readonly SoulMemory[]): Sliced<SoulMemory | undefined> {
  for (const [place, memory] of memories.entries()) {
    if (yield* isTooLarge(memory, 2)) return memory;
    if (place % MEMORIES_A_SLICE === 0) yield MEMORIES_A_SLICE;
  }
  return undefined;
}

/**
 * Signs a soul. The same soul signed with the same key is the same document. Yields to other work in between.
 * @param issuer this server's public URL, which the soul's provenance also names
 * @param kid the key; for a soul that is signed again, the one that signed it first
 * @throws Rejection SOUL_TOO_LARGE, or SOUL_INVALID for a soul that violates its schema; Error for a soul of another issuer; and as SigningKeys.sign
 */
export const signSoul = async (
  keys: SigningKeys,
  issuer: string,
  unsigned: UnsignedSoul,
  kid: string = keys.current.kid,
): Promise<SoulDocument> => {
  if (unsigned.provenance.issuer !== issuer) throw new Error('a soul is signed by the server that it names');
  const hashed = await inSlices(hashSoul(unsigned));
  const claims = soulClaims(unsigned, hashed.root);
  const signature = await keys.sign(kid, claims, { typ: SOUL_TYPE, withJwk: true });
  const signed = { ...unsigned, trainingProof: hashed.root, signature };
  const read = await inSlices(readSoul(signed));
  const bytes = hashed.bytes + hashed.root.length + signature.length;
  if (!fitsIntoSoul({ ...hashed, bytes }) || ('wrong' in read && read.wrong === 'too_large')) {
    throw new Rejection('SOUL_TOO_LARGE', { details: { bytes, ...(await culprit(unsigned)), ...SOUL_BOUNDS } });
  }
  if ('wrong' in read) throw new Rejection('SOUL_INVALID', { details: { reason: read.wrong } });
  return signed;
};
