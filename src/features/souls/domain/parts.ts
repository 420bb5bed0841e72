import { jcsSlices } from '../../../kernel/base/jcs-slices.js';
import { drained } from '../../../kernel/base/sliced.js';
import { jcs, type JsonObject } from '../../../kernel/base/json.js';
import { leastSize, MAX_PART_BYTES, MAX_SOUL_BYTES } from './bounds.js';
import type { SoulDocument, SoulMemory, UnsignedSoul } from './document.js';
import { hashLeaf, inclusionPath, merkleRoot } from '../../../kernel/crypto/merkle.js';

/** How many bytes of short parts are written and hashed between two pauses: a few milliseconds of work. */
const SLICE_BYTES = 32_768;

/** What hashing a soul's parts gives. */
export type HashedSoul = {
  /** Of the parts, in their order. */
  readonly hashes: readonly Uint8Array[];
  /** The root of their tree, base64url. */
  readonly root: string;
  /** The length of the whole document's JCS form, and of its longest part's, in bytes of UTF-8. */
  readonly bytes: number;
  readonly longestPart: number;
};

/** What is longer is written in slices, which takes more time in all. */
const SHORT_BYTES = 8_192;
const isShort = (part: JsonObject): boolean => typeof drained(leastSize(part, 0, SHORT_BYTES)) !== 'string';

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** Part 0: the document without `memories`, `trainingProof` and `signature`. */
const headOf = (soul: UnsignedSoul | SoulDocument): JsonObject => {
  const { memories: _, ...head } = soul;
  const { trainingProof: __, signature: ___, ...part } = head as Partial<SoulDocument>;
  return part;
};

/** What the three members that are not in part 0 add to it, besides the memories and what is in the two strings. */
const FRAME_BYTES = Buffer.byteLength(',"memories":[],"trainingProof":"","signature":""');

/**
 * Hashes the parts that a soul is signed by, in their JCS forms: part 0, then every memory. It yields whenever the driver may pause.
 * @throws Error on what JCS cannot write (lone surrogates, numbers that are not finite)
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

/** Whether a soul and each of its parts have no more bytes than they may. */
export const fitsIntoSoul = ({ bytes, longestPart }: HashedSoul): boolean =>
  bytes <= MAX_SOUL_BYTES && longestPart <= MAX_PART_BYTES;

/** Proof that a memory is in a soul, without the soul's other memories. Hashes are base64url. */
export type SoulProof = {
  readonly soulId: string;
  readonly memory: SoulMemory;
  /** The place of its part, and how many parts there are. */
  readonly part: number;
  readonly parts: number;
  readonly path: readonly string[];
  readonly root: string;
  readonly signature: string;
};

/** The inclusion proof of a memory; null when the soul has no memory with this id. It yields whenever the driver may pause. */
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
