import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type Edge, growEdge, peakSpans, rootOfEdge, type Span } from '../../../../src/features/proofs/domain/edge.js';
import { hashLeaf, inclusionPath, isIncluded, merkleRoot } from '../../../../src/kernel/crypto/merkle.js';
import { consistencySpans, inclusionSpans, isConsistent } from '../../../../src/features/proofs/domain/proofs.js';
import { drained } from '../../../../src/kernel/base/sliced.js';

const leaves = Array.from({ length: 70 }, (_, place) => hashLeaf(`leaf ${String(place)}`));
const rootOf = ({ from, to }: Span): Uint8Array => drained(merkleRoot(leaves.slice(from, to)));
const treeOf = (size: number): Uint8Array => rootOf({ from: 0, to: size });
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const pathBetween = (earlier: number, size: number): readonly Uint8Array[] =>
  consistencySpans(earlier, size).map(rootOf);

/** The test vectors that the implementations of Certificate Transparency share: two sizes, and the path between them. */
const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const shared = inputs.map((input) => hashLeaf(Buffer.from(input, 'hex')));
const vectors: readonly (readonly [earlier: number, size: number, path: readonly string[]])[] = [
  [1, 1, []],
  [
    1,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    6,
    8,
    [
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [
    2,
    5,
    [
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
];

describe('the compact range of a tree', () => {
  it('grows leaf by leaf and in batches to the root of the complete tree', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 12 }), (batches) => {
        let [edge, size]: [Edge, number] = [[], 0];
        batches.forEach((count, at) => {
          const more = leaves.slice(size, size + count);
          edge = growEdge(edge, size, more, at);
          size += more.length;
          expect(hex(rootOfEdge(edge))).toBe(hex(treeOf(size)));
          expect(edge.map(({ hash }) => hash)).toEqual(peakSpans(size).map((span) => hex(rootOf(span))));
        });
      }),
    );
  });
});

describe('proofs', () => {
  it('of inclusion are the proofs of RFC 9162, for every leaf of every size [10.5a]', () => {
    for (let size = 1; size <= leaves.length; size += 1) {
      for (let place = 0; place < size; place += 1) {
        const path = inclusionSpans(place, size).map(rootOf);
        expect(path.map(hex)).toEqual(drained(inclusionPath(leaves.slice(0, size), place)).map(hex));
        const leaf = leaves[place] ?? new Uint8Array();
        expect(isIncluded({ leaf, place, leaves: size, path }, treeOf(size))).toBe(true);
      }
    }
  });

  it.each(vectors)('of consistency match the known ones: %i to %i', (earlier, size, path) => {
    const rootAt = (count: number): Uint8Array => drained(merkleRoot(shared.slice(0, count)));
    const spans = consistencySpans(earlier, size);
    expect(spans.map(({ from, to }) => hex(drained(merkleRoot(shared.slice(from, to)))))).toEqual(path);
    const trees = { earlier, earlierRoot: rootAt(earlier), size, root: rootAt(size) };
    expect(isConsistent({ ...trees, path: path.map((text) => Buffer.from(text, 'hex')) })).toBe(true);
  });

  it('of consistency hold for every two sizes, and for nothing else', () => {
    const other = hashLeaf('another');
    for (let size = 1; size <= 40; size += 1) {
      for (let earlier = 1; earlier <= size; earlier += 1) {
        const path = pathBetween(earlier, size);
        const trees = { earlier, earlierRoot: treeOf(earlier), size, root: treeOf(size), path };
        expect(isConsistent(trees), `${String(earlier)} ${String(size)}`).toBe(true);
        const wrong = [
          { ...trees, earlierRoot: other },
          { ...trees, root: other },
          { ...trees, path: [...path, other] },
          { ...trees, path: path.slice(1) },
          { ...trees, path: path.slice(0, -1) },
          { ...trees, path: path.toReversed() },
          ...path.map((_, at) => ({ ...trees, path: path.with(at, other) })),
        ].filter(
          (one) => one.path.map(hex).join() !== path.map(hex).join() || one.root === other || one.earlierRoot === other,
        );
        for (const one of wrong) expect(isConsistent(one), `${String(earlier)} ${String(size)}`).toBe(false);
      }
    }
    expect(isConsistent({ earlier: 5, earlierRoot: other, size: 4, root: other, path: [] })).toBe(false);
    expect(isConsistent({ earlier: 0, earlierRoot: other, size: 4, root: treeOf(4), path: [] })).toBe(true);
  });
});
