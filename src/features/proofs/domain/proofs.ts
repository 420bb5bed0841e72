import { timingSafeEqual } from 'node:crypto';

import { hashNode } from '../../../kernel/crypto/merkle.js';
import { type Span, splitOf } from './edge.js';

/** Proofs of RFC 9162, section 2.1: the parts of a tree in them, and checking that one tree extends another. */

/** The parts whose roots prove that the leaf at index `place` is in the tree of `size` leaves, from the bottom up (section 2.1.3.1). */
export const inclusionSpans = (place: number, size: number): readonly Span[] => {
  const spans: Span[] = [];
  for (let [from, to] = [0, size]; to - from > 1;) {
    const middle = from + splitOf(to - from);
    spans.push(place < middle ? { from: middle, to } : { from, to: middle });
    if (place < middle) to = middle;
    else from = middle;
  }
  return spans.reverse();
};

/**
 * The parts whose roots prove that the tree of `size` leaves extends the tree of its first `earlier` leaves (section 2.1.4.1); `earlier` is above 0.
 */
export const consistencySpans = (earlier: number, size: number): readonly Span[] => {
  const spans: Span[] = [];
  let [from, to] = [0, size];
  let isWhole = true;
  while (to !== earlier) {
    const middle = from + splitOf(to - from);
    if (earlier <= middle) {
      spans.push({ from: middle, to });
      to = middle;
    } else {
      spans.push({ from, to: middle });
      from = middle;
      isWhole = false;
    }
  }
  if (!isWhole) spans.push({ from, to });
  return spans.reverse();
};

/** Two trees, and the path that proves that the later one extends the earlier one. */
export type Consistency = {
  readonly earlier: number;
  readonly earlierRoot: Uint8Array;
  readonly size: number;
  readonly root: Uint8Array;
  readonly path: readonly Uint8Array[];
};

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && timingSafeEqual(one, other);

/** Whether the later tree extends the earlier one: the algorithm of section 2.1.4.2. Every tree extends the empty one. */
export const isConsistent = ({ earlier, earlierRoot, size, root, path }: Consistency): boolean => {
  if (!Number.isSafeInteger(earlier) || earlier < 0 || earlier > size) return false;
  if (earlier === 0) return path.length === 0;
  if (earlier === size) return path.length === 0 && isSame(earlierRoot, root);
  let [at, last] = [earlier - 1, size - 1];
  while (at % 2 === 1) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  // A complete subtree is not part of the path: the verifier knows its root.
  const [first, ...rest] = at === 0 ? [earlierRoot, ...path] : path;
  if (first === undefined) return false;
  let [before, after] = [first, first];
  for (const node of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      before = hashNode(node, before);
      after = hashNode(node, after);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else after = hashNode(after, node);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 && isSame(before, earlierRoot) && isSame(after, root);
};
