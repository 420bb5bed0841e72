import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';

import { proofOf } from '../../src/features/souls/soul-proof.js';
import { signSoul } from '../../src/features/souls/soul-signer.js';
import { verifySoul } from '../../src/features/souls/verify-soul.js';
import { drained } from '../../src/kernel/base/sliced.js';
import type { Json, JsonObject } from '../../src/kernel/base/json.js';
import { soulToCbor } from '../../src/features/souls/domain/binary.js';
import { SOUL_TYPE, soulClaims } from '../../src/features/souls/domain/claims.js';
import type { SoulDocument, UnsignedSoul } from '../../src/features/souls/domain/document.js';
import { hashSoul } from '../../src/features/souls/domain/parts.js';
import { canVerify, pythonScript, type Said } from '../support/python-script.js';
import { ISSUER, serverKeys, soulMemories, soulMemory, unsignedSoul } from '../support/souls.js';

const examples = join(import.meta.dirname, '../../examples');
const script = join(examples, 'verify_soul.py');
const missing = !canVerify();
if (missing) console.log('the Python check of souls is skipped: python3 with the package "cryptography" is missing');

const keys = await serverKeys('home');
const verifier = missing ? null : pythonScript(script);
afterAll(() => verifier?.[Symbol.dispose]());
const check = (text: string | Uint8Array, ...options: readonly string[]): Promise<Said> =>
  verifier?.run(text, ...options) ?? Promise.reject(new Error('python3 is missing'));
const reasonOf = async (document: unknown): Promise<string> => (await check(JSON.stringify(document))).said;

describe('the example of a soul', () => {
  it('is a soul that anyone can verify', async () => {
    const example = JSON.parse(readFileSync(join(examples, 'soul.json'), 'utf8')) as Json;
    const verification = await verifySoul(example, {
      keys: await serverKeys('other'),
      issuer: 'http://here',
      trusted: null,
    });
    expect(verification).toMatchObject({ valid: true, signer: 'unknown' });
  });
});

describe.skipIf(missing)('examples/verify_soul.py', () => {
  it('accepts the example, from a file [8.7l, 8.7m]', () => {
    const { status, stdout } = spawnSync('python3', [script, join(examples, 'soul.json')], { encoding: 'utf8' });
    const { id } = JSON.parse(readFileSync(join(examples, 'soul.json'), 'utf8')) as SoulDocument;
    expect(stdout).toMatch(new RegExp(`^valid ${id} signed by [\\w-]{43}\\n$`));
    expect(status).toBe(0);
  });

  it.each([0, 1, 2, 7, 300])('accepts a soul of %i memories', async (count) => {
    const soul = await signSoul(keys, ISSUER, unsignedSoul({ memories: soulMemories(count) }));
    expect(await check(JSON.stringify(soul))).toEqual({
      status: 0,
      said: `valid ${soul.id} signed by ${keys.current.kid}`,
    });
  });

  it('writes every number and every text as RFC 8785 does [8.7n]', async () => {
    const doubles = fc.sample(fc.double({ noNaN: true, noDefaultInfinity: true }), { numRuns: 3_000, seed: 1 });
    const texts = fc.sample(fc.string({ unit: 'binary', maxLength: 20 }), { numRuns: 1_000, seed: 1 });
    const named = Object.fromEntries(texts.filter((text) => text !== '__proto__').map((text, place) => [text, place]));
    const edges = [
      0,
      -0,
      1e21,
      1e20,
      123456789012345680000,
      1e-6,
      1e-7,
      5e-324,
      1.7976931348623157e308,
      2 ** 53,
      0.1,
      -1.5,
    ];
    const all = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');
    const data = { doubles: [...doubles, ...edges], named, texts, all, '\ufb33': 1, '\ud83d\ude00': 2 } as JsonObject;
    const soul = await signSoul(keys, ISSUER, unsignedSoul({ data, persona: 'x'.repeat(1_000) }));
    expect(await reasonOf(soul)).toMatch(/^valid /);
  });

  it('gives the same reasons as the server [8.5b]', async () => {
    const soul = await signSoul(keys, ISSUER, unsignedSoul());
    const [first = soulMemory(0), second = soulMemory(1), third = soulMemory(2)] = soul.memories;
    const [head = '', payload = ''] = soul.signature.split('.');
    const changed: readonly Partial<SoulDocument>[] = [
      { memories: [second, first, third] },
      { memories: [first, second] },
      { persona: 'Zoë is a thief.' },
      { npcId: 'Anna' },
      { provenance: { ...soul.provenance, revision: 42 } },
      { createdAt: '2026-11-21T10:00:01.000Z' },
      { trainingProof: keys.current.kid },
      { signature: `${head}.${payload}.${'A'.repeat(86)}` },
    ];
    for (const change of changed) {
      const verification = await verifySoul({ ...soul, ...change }, { keys, issuer: ISSUER, trusted: null });
      expect({ reason: await reasonOf({ ...soul, ...change }) }).toEqual({
        reason: (verification as { reason?: string }).reason,
      });
    }
  });

  it('rejects a signature with unknown additional claims, or with something else in its place', async () => {
    const plain = unsignedSoul({ memories: [] });
    const unsigned = { ...plain, provenance: { ...plain.provenance, revision: 1 } };
    const { root } = drained(hashSoul(unsigned));
    const signedWith = async (more: JsonObject): Promise<SoulDocument> => {
      const claims = { ...soulClaims(unsigned, root), ...more };
      const signature = await keys.sign(keys.current.kid, claims, { typ: SOUL_TYPE, withJwk: true });
      return { ...unsigned, trainingProof: root, signature };
    };
    expect(await reasonOf(await signedWith({}))).toMatch(/^valid /);
    for (const more of [{ exp: 1 }, { nbf: null }, { revision: true }, { revision: '1' }, { parts: true }]) {
      const soul = await signedWith(more);
      const verification = await verifySoul(soul, { keys, issuer: ISSUER, trusted: null });
      expect({ more, reason: await reasonOf(soul) }).toEqual({
        more,
        reason: (verification as { reason?: string }).reason,
      });
    }
  });

  it('recognises the binary form', async () => {
    const soul = await signSoul(keys, ISSUER, unsignedSoul());
    const said = 'malformed: this is the binary form (CBOR); give the JSON form of the soul';
    expect(await check(soulToCbor(soul))).toEqual({ status: 1, said });
  });

  it.each([1, 2, 3, 6, 7, 12])(
    'proves that a memory is in a soul, and accepts nothing else: of %i [8.8a]',
    async (count) => {
      const soul = await signSoul(keys, ISSUER, unsignedSoul({ memories: soulMemories(count) }));
      const other = await signSoul(keys, ISSUER, unsignedSoul({ memories: soulMemories(count + 1) }));
      const place = count - 1;
      const proof = await proofOf(soul, soulMemory(place).id);
      if (proof === null) throw new Error('there is no proof');
      const said = `valid memory ${soulMemory(place).id} of ${soul.id} signed by ${keys.current.kid}`;
      expect(await check(JSON.stringify({ txId: 'tx', ...proof }), '--proof')).toEqual({ status: 0, said });
      const [head = '', payload = ''] = proof.signature.split('.');
      const changed: readonly (readonly [string, object])[] = [
        ['wrong_root', { memory: { ...proof.memory, text: 'Nothing happened.' } }],
        ['wrong_root', { path: proof.path.slice(1) }],
        ['wrong_root', { path: [...proof.path, proof.root] }],
        ['wrong_root', { root: other.trainingProof }],
        ['wrong_parts', { parts: proof.parts + 1 }],
        ['wrong_parts', { part: 0 }],
        ['wrong_parts', { part: proof.parts }],
        ['wrong_parts', { signature: other.signature, root: other.trainingProof }],
        ['other_soul', { soulId: 'another' }],
        ['bad_signature', { signature: `${head}.${payload}.${'A'.repeat(86)}` }],
      ];
      for (const [reason, change] of changed)
        expect(await check(JSON.stringify({ ...proof, ...change }), '--proof'), reason).toEqual({
          status: 1,
          said: reason,
        });
      expect(await check(JSON.stringify(soul), '--proof')).toMatchObject({ status: 1 });
    },
  );

  it('prints no id that could be mistaken for its own output', async () => {
    const kid = 'A'.repeat(43);
    const line = `m1 of s1 signed by ${kid}\nvalid s2`;
    const signed = async (unsigned: UnsignedSoul): Promise<SoulDocument> => {
      const { root } = drained(hashSoul(unsigned));
      const header = { typ: SOUL_TYPE, withJwk: true } as const;
      const signature = await keys.sign(keys.current.kid, soulClaims(unsigned, root), header);
      return { ...unsigned, trainingProof: root, signature };
    };
    for (const id of [line, `s1 signed by ${kid}`, 's1\n', '\u001b[2J', '', 'x'.repeat(129)]) {
      const soul = await signed({ ...unsignedSoul(), id });
      expect(await check(JSON.stringify(soul)), id).toEqual({ status: 1, said: 'malformed' });
      const proof = await proofOf(soul, soulMemory(1).id);
      expect(await check(JSON.stringify(proof), '--proof'), id).toEqual({ status: 1, said: 'malformed' });
      const other = await signed(unsignedSoul({ memories: [soulMemory(0, { id })] }));
      expect(await check(JSON.stringify(await proofOf(other, id)), '--proof'), id).toEqual({
        status: 1,
        said: 'malformed',
      });
    }
  });

  it('refuses unreadable input with status 1', async () => {
    for (const text of ['', '[]', '{}', 'null', '{"signature": "a.b.c"}', '['.repeat(100_000), '{"a": 1, "a": 1}']) {
      expect(await check(text)).toMatchObject({ status: 1, said: expect.stringMatching(/^malformed/) as string });
    }
  });
});
