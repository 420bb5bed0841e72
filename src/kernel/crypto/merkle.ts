import { hash, timingSafeEqual } from 'node:crypto';

import type { Sliced } from '../base/sliced.js';

/**
 * Merkle trees as in RFC 9162, section 2.1, with SHA-256. All functions take the hashes of the leaves, so that callers with many leaves can hash them
 * piece by piece. A level is made from the one below by pairing; a last node without a partner moves up unchanged. That is the tree of the RFC, which
 * splits at the largest power of two. Functions that build a complete tree yield whenever their driver may pause.
 */

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');
/** Prefixes prevent a leaf from being mistaken for an inner node. */
const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);
/** How many nodes are hashed between two pauses: a few milliseconds of work. */
const NODES_A_SLICE = 1_024;

/** The hash of a leaf; a text is hashed in its UTF-8 form. */
export const hashLeaf = (leaf: Uint8Array | string): Uint8Array =>
  sha256(Buffer.concat([LEAF, typeof leaf === 'string' ? Buffer.from(leaf) : leaf]));

/** The hash of an inner node. */
export const hashNode = (left: Uint8Array, right: Uint8Array): Uint8Array => sha256(Buffer.concat([NODE, left, right]));

function* levelAbove(level: readonly Uint8Array[]): Sliced<readonly Uint8Array[]> {
  const above: Uint8Array[] = [];
  for (let at = 0; at < level.length; at += 2) {
    const [left, right] = [level[at], level[at + 1]];
    if (left !== undefined) above.push(right === undefined ? left : hashNode(left, right));
    if (above.length % NODES_A_SLICE === 0) yield NODES_A_SLICE;
  }
  return above;
}

/** The root: the Merkle Tree Hash of section 2.1.1. Without leaves it is the hash of the empty string. */
export function* merkleRoot(leaves: readonly Uint8Array[]): Sliced<Uint8Array> {
  let level = leaves;
  while (level.length > 1) level = yield* levelAbove(level);
  return level[0] ?? sha256(new Uint8Array());
}

/** The inclusion proof of section 2.1.3 for the leaf at an index, from the bottom up; also empty if there is no such leaf. */
export function* inclusionPath(leaves: readonly Uint8Array[], place: number): Sliced<readonly Uint8Array[]> {
  const path: Uint8Array[] = [];
  let at = place;
  for (let level = leaves; level.length > 1; level = yield* levelAbove(level)) {
    const sibling = level[at % 2 === 0 ? at + 1 : at - 1];
    if (sibling !== undefined) path.push(sibling);
    at = Math.floor(at / 2);
  }
  return path;
}

/** A leaf's hash, its index, the number of leaves, and its path. */
export type Inclusion = {
  readonly leaf: Uint8Array;
  readonly place: number;
  readonly leaves: number;
  readonly path: readonly Uint8Array[];
};

/** Whether a leaf is at that index in the tree with this root: the algorithm of section 2.1.3.2. */
export const isIncluded = ({ leaf, place, leaves, path }: Inclusion, root: Uint8Array): boolean => {
  if (!Number.isSafeInteger(place) || place < 0 || place >= leaves) return false;
  let [at, last, node] = [place, leaves - 1, leaf];
  for (const sibling of path) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      node = hashNode(sibling, node);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else node = hashNode(node, sibling);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 && node.length === root.length && timingSafeEqual(node, root);
};
