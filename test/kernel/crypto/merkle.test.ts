import { createHash } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { drained } from '../../../src/kernel/base/sliced.js';
import { hashLeaf, inclusionPath, isIncluded, merkleRoot } from '../../../src/kernel/crypto/merkle.js';

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');
const hex = (of: Uint8Array): string => Buffer.from(of).toString('hex');

/** The test vectors that the implementations of Certificate Transparency share: the leaves, and the root of the first 1, 2, ... of them. */
const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const roots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
/** From those vectors: position and number of leaves (counted from 0), and the path. */
const paths: readonly (readonly [place: number, leaves: number, path: readonly string[]])[] = [
  [0, 1, []],
  [
    0,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    5,
    8,
    [
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [2, 3, ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125']],
  [
    1,
    5,
    [
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
];
const rootOf = (of: readonly Uint8Array[]): Uint8Array => drained(merkleRoot(of));
const pathTo = (of: readonly Uint8Array[], place: number): readonly Uint8Array[] => drained(inclusionPath(of, place));
const leaves = inputs.map((input) => hashLeaf(bytes(input)));

/** The definition of RFC 9162, section 2.1.1, taken literally. */
const byDefinition = (hashes: readonly Uint8Array[]): Uint8Array => {
  const [only, second] = hashes;
  if (only === undefined) return createHash('sha256').digest();
  if (second === undefined) return only;
  let split = 1;
  while (split * 2 < hashes.length) split *= 2;
  const halves = [hashes.slice(0, split), hashes.slice(split)].map(byDefinition);
  return createHash('sha256')
    .update(Buffer.concat([Uint8Array.of(1), ...halves]))
    .digest();
};

describe('a Merkle tree', () => {
  it('has the roots of the published vectors', () => {
    expect(roots.map((_, count) => hex(rootOf(leaves.slice(0, count + 1))))).toEqual(roots);
    expect(hex(rootOf([]))).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  it.each(paths)('has the path of the published vectors for leaf %i of %i', (place, count, path) => {
    expect(pathTo(leaves.slice(0, count), place).map(hex)).toEqual(path);
  });

  it('matches the definition for every size, and proves each of its leaves and nothing else', () => {
    const many = Array.from({ length: 70 }, (_, place) => hashLeaf(`leaf ${place}`));
    for (let count = 1; count <= many.length; count += 1) {
      const tree = many.slice(0, count);
      const root = rootOf(tree);
      expect(hex(root)).toBe(hex(byDefinition(tree)));
      for (const [place, leaf] of tree.entries()) {
        const path = pathTo(tree, place);
        const included = { leaf, place, leaves: count, path };
        expect(isIncluded(included, root)).toBe(true);
        expect(isIncluded({ ...included, place: (place + 1) % count }, root)).toBe(count === 1);
        expect(isIncluded({ ...included, leaf: hashLeaf('another') }, root)).toBe(false);
        expect(isIncluded({ ...included, path: [...path, leaf] }, root)).toBe(false);
        if (path.length > 0) expect(isIncluded({ ...included, path: path.slice(1) }, root)).toBe(false);
      }
    }
  });

  it('proves nothing for a position outside the tree', () => {
    const [leaf = new Uint8Array()] = leaves;
    for (const place of [-1, 1, 0.5, NaN]) {
      expect(isIncluded({ leaf, place, leaves: 1, path: [] }, leaf)).toBe(false);
    }
    expect(isIncluded({ leaf, place: 0, leaves: 0, path: [] }, leaf)).toBe(false);
    expect(isIncluded({ leaf, place: 0, leaves: 1, path: [] }, leaf.subarray(1))).toBe(false);
  });

  it('does not confuse two leaves with one whose bytes are their node', () => {
    const [first = new Uint8Array(), second = new Uint8Array()] = leaves;
    expect(hex(rootOf([hashLeaf(Buffer.concat([first, second]))]))).not.toBe(hex(rootOf([first, second])));
  });
});
