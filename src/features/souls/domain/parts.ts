import { jcsSlices } from '../../../kernel/base/jcs-slices.js';
import { drained } from '../../../kernel/base/sliced.js';
import { jcs, type JsonObject } from '../../../kernel/base/json.js';
import { leastSize, MAX_PART_BYTES, MAX_SOUL_BYTES } from './bounds.js';
import type { SoulDocument, SoulMemory, UnsignedSoul } from './document.js';
import { hashLeaf, inclusionPath, merkleRoot } from '../../../kernel/crypto/merkle.js';

/** How many bytes of short parts are written and hashed between two pauses: a few milliseconds of work. */
const SLICE_BYTES = 32_768;

/** The result of hashing a soul's parts. */
export type HashedSoul = {
  /** The hashes of the parts, in order. */
  readonly hashes: readonly Uint8Array[];
  /** The root of their tree, base64url. */
  readonly root: string;
  /** The length of the complete document's JCS form, and of its longest part's, in bytes of UTF-8. */
  readonly bytes: number;
  readonly longestPart: number;
};

/** Longer parts are written in slices, which takes more time in total. */
const SHORT_BYTES = 8_192;
const isShort = (part: JsonObject): boolean => typeof drained(leastSize(part, 0, SHORT_BYTES)) !== 'string';

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** Part 0: the document without `memories`, `trainingProof` and `signature`. */
const headOf = (soul: UnsignedSoul | SoulDocument): JsonObject => {
  const { memories: _, ...head } = soul;
  const { trainingProof: __, signature: ___, ...part } = head as Partial<SoulDocument>;
  return part;
};

/** The bytes that the three members outside part 0 add to it, without the memories and the contents of the two strings. */
const FRAME_BYTES = Buffer.byteLength(',"memories":[],"trainingProof":"","signature":""');

/**
 * Hashes the parts that a soul is signed by, in their JCS forms: part 0, then every memory. It yields whenever the driver may pause.
 * @throws Error for values that JCS cannot write (lone surrogates, numbers that are not finite)
 */
export function* hashSoul(soul: UnsignedSoul | SoulDocument): Generator<number, HashedSoul, void> {
  const hashes: Uint8Array[] = [];
  const { trainingProof = '', signature = '' } = soul as Partial<SoulDocument>;
  let bytes = FRAME_BYTES + trainingProof.length + signature.length + Math.max(0, soul.memories.length - 1);
  let longestPart = 0;
  let unpaused = 0;
  for (const part of [headOf(soul), ...soul.memories]) {
    const written = isShort(part) ? Buffer.from(jcs(part)) : yield* jcsSlices(part);
    hashes.push(hashLeaf(written));
    bytes += written.length;
    longestPart = Math.max(longestPart, written.length);
    unpaused += written.length;
    if (unpaused < SLICE_BYTES) continue;
    yield unpaused;
    unpaused = 0;
  }
  return { hashes, root: base64url(yield* merkleRoot(hashes)), bytes, longestPart };
}

/** Whether a soul and each of its parts are within their limits. */
export const fitsIntoSoul = ({ bytes, longestPart }: HashedSoul): boolean =>
  bytes <= MAX_SOUL_BYTES && longestPart <= MAX_PART_BYTES;

/** Proof that a memory is in a soul, without the soul's other memories. Hashes are base64url. */
export type SoulProof = {
  readonly soulId: string;
  readonly memory: SoulMemory;
  /** The index of its part, and the number of parts. */
  readonly part: number;
  readonly parts: number;
  readonly path: readonly string[];
  readonly root: string;
  readonly signature: string;
};

/** The inclusion proof of a memory; null if the soul has no memory with this id. It yields whenever the driver may pause. */
export function* proveMemory(soul: SoulDocument, memoryId: string): Generator<number, SoulProof | null, void> {
  const place = soul.memories.findIndex(({ id }) => id === memoryId);
  const memory = soul.memories[place];
  if (memory === undefined) return null;
  const { hashes, root } = yield* hashSoul(soul);
  return {
    soulId: soul.id,
    memory,
    part: place + 1,
    parts: hashes.length,
    path: (yield* inclusionPath(hashes, place + 1)).map(base64url),
    root,
    signature: soul.signature,
  };
}
