import { describe, expect, it } from 'vitest';

import { proofOf } from '../../../src/features/souls/soul-proof.js';
import { signSoul } from '../../../src/features/souls/soul-signer.js';
import { verifySoul } from '../../../src/features/souls/verify-soul.js';
import { jcs } from '../../../src/kernel/base/json.js';
import { hashLeaf, isIncluded } from '../../../src/kernel/crypto/merkle.js';
import { ISSUER, serverKeys, soulMemories, soulMemory, unsignedSoul } from '../../support/souls.js';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'base64url');

describe('the proof of a memory', () => {
  it('leads from the memory to the signed root of the soul [8.8a]', async () => {
    const keys = await serverKeys('home');
    const soul = await signSoul(keys, ISSUER, unsignedSoul({ memories: soulMemories(1_000) }));
    expect(await verifySoul(soul, { keys, issuer: ISSUER, trusted: null })).toMatchObject({ valid: true });
    const proof = await proofOf(soul, soulMemory(700).id);
    if (proof === null) throw new Error('there is no proof');
    expect(proof).toMatchObject({ soulId: soul.id, memory: soulMemory(700), part: 701, parts: 1_001 });
    expect([proof.root, proof.signature]).toEqual([soul.trainingProof, soul.signature]);
    const inclusion = { place: proof.part, leaves: proof.parts, path: proof.path.map(bytes) };
    expect(isIncluded({ ...inclusion, leaf: hashLeaf(jcs(proof.memory)) }, bytes(proof.root))).toBe(true);
    expect(isIncluded({ ...inclusion, leaf: hashLeaf(jcs(soulMemory(701))) }, bytes(proof.root))).toBe(false);
  });

  it('is null for a memory that is not in the soul', async () => {
    const soul = await signSoul(await serverKeys('home'), ISSUER, unsignedSoul());
    expect(await proofOf(soul, 'nobody')).toBeNull();
  });
});
