import { describe, expect, it } from 'vitest';

import { jcs, type JsonObject } from '../../../src/domain/shared/json.js';
import type { SoulDocument } from '../../../src/domain/soul/document.js';
import { hashLeaf, isIncluded, merkleRoot } from '../../../src/domain/soul/merkle.js';
import { hashSoul, partsOf, proveMemory } from '../../../src/domain/soul/parts.js';
import { soulMemories, unsignedSoul } from '../../support/souls.js';

const signed = (memories: number): SoulDocument => ({
  ...unsignedSoul({ memories: soulMemories(memories) }),
  trainingProof: 'root',
  signature: 'a.b.c',
});
const drive = <Result>(work: Generator<number, Result, void>) => {
  for (let pauses = 0; ; pauses += 1) {
    const { done, value } = work.next();
    if (done === true) return { result: value, pauses };
  }
};
const bytes = (text: string): Uint8Array => Buffer.from(text, 'base64url');

describe('the parts of a soul', () => {
  it('are the document without three members, and then each memory', () => {
    const { memories, trainingProof: _, signature: __, ...head } = signed(2);
    expect([...partsOf(signed(2))]).toEqual([head as JsonObject, ...memories].map(jcs));
    expect([...partsOf(unsignedSoul({ memories: soulMemories(2) }))]).toEqual([...partsOf(signed(2))]);
  });

  it('have as their root the tree hash over them', () => {
    const hashes = [...partsOf(signed(4))].map(hashLeaf);
    const { result } = drive(hashSoul(signed(4)));
    expect(result.hashes).toEqual(hashes);
    expect(bytes(result.root)).toEqual(Buffer.from(merkleRoot(hashes)));
  });

  it.each([0, 1, 2, 7])('tell the length of the whole document’s canonical form: %i memories', (count) => {
    const soul = signed(count);
    const { result } = drive(hashSoul(soul));
    expect(result.bytes).toBe(Buffer.byteLength(jcs(soul)));
    expect(result.longestPart).toBe(Math.max(...[...partsOf(soul)].map((part) => Buffer.byteLength(part))));
  });

  it('are hashed in slices', () => {
    expect(drive(hashSoul(signed(5_000))).pauses).toBeGreaterThan(3);
  });
});

describe('the proof of a memory', () => {
  it.each([1, 2, 3, 8, 13])('shows each memory to be in the soul, without the others: of %i', (count) => {
    const soul = signed(count);
    for (const memory of soul.memories) {
      const { result: proof } = drive(proveMemory(soul, memory.id));
      if (proof === null) throw new Error('there is no proof');
      expect(proof).toMatchObject({ soulId: soul.id, memory, parts: count + 1, signature: soul.signature });
      const inclusion = {
        leaf: hashLeaf(jcs(proof.memory)),
        place: proof.part,
        leaves: proof.parts,
        path: proof.path.map(bytes),
      };
      expect(isIncluded(inclusion, bytes(proof.root))).toBe(true);
    }
  });

  it('is null for a memory that the soul does not have', () => {
    expect(drive(proveMemory(signed(2), 'nobody')).result).toBeNull();
    expect(drive(proveMemory(signed(0), 'nobody')).result).toBeNull();
  });
});
