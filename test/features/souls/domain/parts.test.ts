import { describe, expect, it } from 'vitest';

import { jcs, type JsonObject } from '../../../../src/kernel/base/json.js';
import type { SoulDocument } from '../../../../src/features/souls/domain/document.js';
import { hashLeaf, inclusionPath, isIncluded, merkleRoot } from '../../../../src/kernel/crypto/merkle.js';
import { hashSoul, proveMemory } from '../../../../src/features/souls/domain/parts.js';
import { soulMemories, unsignedSoul } from '../../../support/souls.js';

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
/** The document without three members, and then each memory. */
const partsOf = ({ memories, trainingProof: _, signature: __, ...head }: SoulDocument): readonly string[] =>
  [head as JsonObject, ...memories].map(jcs);
const bytes = (text: string): Uint8Array => Buffer.from(text, 'base64url');

describe('the parts of a soul', () => {
  it('have the tree hash as their root [8.7k, 8.7l]', () => {
    const hashes = partsOf(signed(4)).map((part) => hashLeaf(part));
    const { result } = drive(hashSoul(signed(4)));
    expect(result.hashes).toEqual(hashes);
    expect(bytes(result.root)).toEqual(Buffer.from(drive(merkleRoot(hashes)).result));
  });

  it.each([0, 1, 2, 7])('include the length of the document’s canonical form: %i memories', (count) => {
    const soul = signed(count);
    const { result } = drive(hashSoul(soul));
    expect(result.bytes).toBe(Buffer.byteLength(jcs(soul)));
    expect(result.longestPart).toBe(Math.max(...partsOf(soul).map((part) => Buffer.byteLength(part))));
  });

  it('are hashed in slices', () => {
    expect(drive(hashSoul(signed(5_000))).pauses).toBeGreaterThan(3);
    const long = { numbers: Array<number>(100_000).fill(1) };
    expect(drive(hashSoul({ ...signed(0), state: { ...signed(0).state, extra: long } })).pauses).toBeGreaterThan(3);
    const memories = soulMemories(1).map((memory) => ({ ...memory, metadata: long }));
    expect(drive(hashSoul({ ...signed(0), memories })).pauses).toBeGreaterThan(3);
  });

  it('build their tree in slices', () => {
    const leaves = Array<Uint8Array>(10_000).fill(new Uint8Array(32));
    expect(drive(merkleRoot(leaves)).pauses).toBeGreaterThan(6);
    expect(drive(inclusionPath(leaves, 7)).pauses).toBeGreaterThan(6);
  });
});

describe('the proof of a memory', () => {
  it.each([1, 2, 3, 8, 13])('shows that a memory is in the soul, without the others: of %i [8.7k, 8.8a]', (count) => {
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

  it('is null for a memory that is not in the soul', () => {
    expect(drive(proveMemory(signed(2), 'nobody')).result).toBeNull();
    expect(drive(proveMemory(signed(0), 'nobody')).result).toBeNull();
  });
});
