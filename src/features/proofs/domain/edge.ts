import { hashNode, merkleRoot } from '../../../kernel/crypto/merkle.js';
import { drained } from '../../../kernel/base/sliced.js';

/**
 * The right edge of a tree: the roots of its largest complete subtrees, from the left. It has one for each binary digit 1 of the tree's size, and
 * leaves can be added to it without the tree. `at` is the revision of the event with the last leaf of that subtree.
 */
export type Peak = { readonly hash: string; readonly at: number };
export type Edge = readonly Peak[];

export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
export const fromHex = (hex: string): Uint8Array => Buffer.from(hex, 'hex');

/** The edge after adding leaves, which begin at index `size` and are in the event at the revision `at`. */
export const growEdge = (edge: Edge, size: number, leaves: readonly Uint8Array[], at: number): Edge => {
  const peaks: { hash: Uint8Array | string; at: number }[] = [...edge];
  const bytesOf = (hash: Uint8Array | string): Uint8Array => (typeof hash === 'string' ? fromHex(hash) : hash);
  leaves.forEach((leaf, index) => {
    let node = leaf;
    for (let place = size + index; place % 2 === 1; place = Math.floor(place / 2)) {
      const left = peaks.pop();
      if (left === undefined) throw new Error('the edge does not fit the size');
      node = hashNode(bytesOf(left.hash), node);
    }
    peaks.push({ hash: node, at });
  });
  return peaks.map(({ hash, at: by }) => ({ hash: typeof hash === 'string' ? hash : toHex(hash), at: by }));
};

/** The root of the tree with this edge. */
export const rootOfEdge = (edge: Edge): Uint8Array =>
  edge.length === 0
    ? drained(merkleRoot([]))
    : edge.map(({ hash }) => fromHex(hash)).reduceRight((right, left) => hashNode(left, right));

/** A part of a tree: the leaves from `from` up to but not including `to`. */
export type Span = { readonly from: number; readonly to: number };

/** The largest power of two below a number above 1. */
export const splitOf = (count: number): number => {
  let half = 1;
  while (half * 2 < count) half *= 2;
  return half;
};

/** The parts of a tree of this size whose roots its edge holds. */
export const peakSpans = (size: number): readonly Span[] => {
  const spans: Span[] = [];
  for (let from = 0; from < size;) {
    let width = 1;
    while (from + width * 2 <= size) width *= 2;
    spans.push({ from, to: from + width });
    from += width;
  }
  return spans;
};
