import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

import { calculateJwkThumbprint, CompactSign, compactVerify, decodeProtectedHeader, EmbeddedJWK } from 'jose';
import { describe, expect, it } from 'vitest';

import { payloadDocument } from '../../../src/features/souls/payload-document.js';
import { signSoul } from '../../../src/features/souls/soul-signer.js';
import { inspectSoul, judgeSoul, type SoulTrust, verifySoul } from '../../../src/features/souls/verify-soul.js';
import { drained } from '../../../src/kernel/base/sliced.js';
import { jcs, type Json, type JsonObject } from '../../../src/kernel/base/json.js';
import { MAX_MEMBERS, scanJson } from '../../../src/kernel/base/scan-json.js';
import { ed25519Jwk, thumbprint } from '../../../src/kernel/crypto/jwk.js';
import {
  MAX_PART_BYTES,
  MAX_SOUL_BYTES,
  MAX_SOUL_CONTAINERS,
  MAX_SOUL_DEPTH,
  MAX_SOUL_MEMORIES,
  MAX_SOUL_VALUES,
} from '../../../src/features/souls/domain/bounds.js';
import { soulToCbor } from '../../../src/features/souls/domain/binary.js';
import { soulClaims } from '../../../src/features/souls/domain/claims.js';
import type {
  SoulDocument,
  SoulInputs,
  SoulMemory,
  UnsignedSoul,
} from '../../../src/features/souls/domain/document.js';
import { hashSoul } from '../../../src/features/souls/domain/parts.js';
import { ISSUER, rotatingKeys, serverKeys, soulMemories, soulMemory, unsignedSoul } from '../../support/souls.js';
import { itLong } from '../../support/long.js';

const keys = await serverKeys('home');
const soul = await signSoul(keys, ISSUER, unsignedSoul());
const trust: SoulTrust = { keys, issuer: ISSUER, trusted: null };
const [head = '', payload = '', mark = ''] = soul.signature.split('.');
const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as JsonObject;
const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JsonObject;
const encoded = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A signature by a foreign key under its own header and claims. */
const stranger = generateKeyPairSync('ed25519');
const strangerJwk = ed25519Jwk(stranger.publicKey.export({ format: 'jwk' }).x ?? '');
const strangerHeader = { alg: 'EdDSA', typ: 'soul+jwt', kid: thumbprint(strangerJwk.x), jwk: strangerJwk };
const signedBy = async (of: UnsignedSoul, more: JsonObject = {}, said: JsonObject = {}): Promise<SoulDocument> => {
  const work = hashSoul(of);
  let step = work.next();
  while (step.done !== true) step = work.next();
  const { root } = step.value;
  const signature = await new CompactSign(Buffer.from(jcs({ ...soulClaims(of, root), ...said })))
    .setProtectedHeader({ ...strangerHeader, ...more })
    .sign(stranger.privateKey, { crit: { 'urn:x': true } });
  return { ...of, trainingProof: root, signature };
};
/** A soul of another server. */
const elsewhere = (more: Partial<SoulInputs> = {}): UnsignedSoul => {
  const { provenance } = unsignedSoul();
  return unsignedSoul({ ...more, provenance: { ...provenance, issuer: 'https://elsewhere.example' } });
};
const verdictOf = async (document: unknown, more: Partial<SoulTrust> = {}): Promise<string> => {
  const verification = await verifySoul(document, { ...trust, ...more });
  // The cached result for a document is the same.
  const judgement = await judgeSoul(await inspectSoul(document), { ...trust, ...more });
  const said = verification.valid ? [verification.kid, verification.signer] : [verification.reason];
  expect(judgement.valid ? [judgement.kid, judgement.signer] : [judgement.reason]).toEqual(said);
  return verification.valid ? verification.signer : verification.reason;
};

describe('a soul of a key that was replaced', () => {
  it('is still ours after a rotation, and refused if it was sealed after the revocation [8.5b, 11.8b, 11.8e]', async () => {
    const rotating = await rotatingKeys('souls');
    const old = rotating.current.kid;
    const soul = await signSoul(rotating, ISSUER, unsignedSoul());
    const ours = { keys: rotating, issuer: ISSUER };
    await rotating.rotate();
    expect(await verdictOf(soul, ours)).toBe('ours');
    await rotating.revoke(old, '2026-11-21T10:00:01.000Z');
    expect(await verdictOf(soul, ours)).toBe('ours');
    await rotating.revoke(old, '2026-11-21T10:00:00.000Z');
    expect(await verdictOf(soul, ours)).toBe('revoked_key');
    expect(await verdictOf(await signSoul(rotating, ISSUER, unsignedSoul()), ours)).toBe('ours');
  });
});

describe('a signed soul', () => {
  it('verifies as our own, even after its members were reordered [8.7n]', async () => {
    expect(await verifySoul(soul, trust)).toEqual({ valid: true, signer: 'ours', kid: keys.current.kid, soul });
    const turned = (value: Json): Json =>
      Array.isArray(value)
        ? (value as readonly Json[]).map(turned)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .reverse()
                .map(([name, member]) => [name, turned(member)]),
            )
          : value;
    expect(await verdictOf(JSON.parse(JSON.stringify(turned(soul), null, 2)))).toBe('ours');
  });

  it('is the same document when it is signed again, also by a server with a newer key', async () => {
    expect(await signSoul(keys, ISSUER, unsignedSoul())).toEqual(soul);
    expect(await signSoul(keys, ISSUER, unsignedSoul(), keys.current.kid)).toEqual(soul);
  });

  it('is verified by a JOSE library with the key in its header [8.4q, 8.7m]', async () => {
    const { protectedHeader, payload: signed } = await compactVerify(soul.signature, EmbeddedJWK as never);
    expect(Object.keys(protectedHeader)).toEqual(['alg', 'typ', 'kid', 'jwk']);
    expect(protectedHeader).toMatchObject({ alg: 'EdDSA', typ: 'soul+jwt', kid: keys.current.kid });
    expect(await calculateJwkThumbprint(protectedHeader.jwk ?? {})).toBe(keys.current.kid);
    expect(JSON.parse(new TextDecoder().decode(signed))).toEqual({
      iss: ISSUER,
      sub: 'Zoë of the gate',
      jti: 's3_mbx2_soul',
      iat: Date.parse('2026-11-21T10:00:00.000Z') / 1_000,
      tenant: 'local',
      revision: 41,
      root: soul.trainingProof,
      parts: 4,
    });
  });

  it('may be signed under the newer name of the algorithm [8.7m]', async () => {
    const newer = await serverKeys('home', 'Ed25519');
    const signed = await signSoul(newer, ISSUER, unsignedSoul());
    expect(decodeProtectedHeader(signed.signature).alg).toBe('Ed25519');
    expect(await verdictOf(signed, { keys: newer })).toBe('ours');
  });

  it.each<[string, Partial<SoulInputs>]>([
    ['without memories', { memories: [] }],
    ['with one memory', { memories: soulMemories(1) }],
    ['with many memories', { memories: soulMemories(5_000) }],
    ['with nothing', { persona: null, data: null, ruleset: null, memories: [] }],
  ])('verifies %s', async (_, more) => {
    expect(await verdictOf(await signSoul(keys, ISSUER, unsignedSoul(more)))).toBe('ours');
  });
});

describe('signing a soul', () => {
  const nested = (levels: number): JsonObject => (levels === 0 ? {} : { in: nested(levels - 1) });
  const members = (count: number): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, 1]));
  /** Memories with this many lists and objects in total, 10,000 in each. */
  const lists = (count: number): readonly SoulMemory[] =>
    Array.from({ length: Math.ceil(count / 10_000) }, (_, at) =>
      soulMemory(at, { metadata: { a: Array.from({ length: 9_996 }, () => []) } }),
    );

  it.each<[string, Partial<SoulInputs>]>([
    [
      'more memories than it may have',
      { memories: Array<ReturnType<typeof soulMemory>>(MAX_SOUL_MEMORIES + 1).fill(soulMemory(0)) },
    ],
    ['a persona that is too large for an event', { persona: 'x'.repeat(800_000) }],
    [
      'more than 15 MiB',
      { memories: soulMemories(1_000).map((memory) => ({ ...memory, metadata: { a: 'x'.repeat(16_000) } })) },
    ],
    ['data nested too deep for a request', { data: nested(28) }],
    ['more lists and objects than a request may have', { memories: lists(MAX_SOUL_CONTAINERS) }],
    [
      'more values than a request may have',
      {
        memories: Array.from({ length: 6 }, (_, at) =>
          soulMemory(at, { metadata: { a: Array<number>(340_000).fill(1) } }),
        ),
      },
    ],
  ])('refuses %s [8.7j]', async (_, more) => {
    await expect(signSoul(keys, ISSUER, unsignedSoul(more))).rejects.toMatchObject({ code: 'SOUL_TOO_LARGE' });
  });

  it.each<[string, Partial<SoulInputs>, JsonObject]>([
    [
      'a memory that is too deep',
      { memories: [soulMemory(0), soulMemory(1, { metadata: nested(28) })] },
      { memoryId: soulMemory(1).id },
    ],
    [
      'a memory that is too long',
      { memories: [soulMemory(0, { metadata: { a: 'x'.repeat(800_000) } })] },
      { memoryId: soulMemory(0).id },
    ],
    ['a state that is too deep', { data: nested(28) }, { member: 'state' }],
    [
      'a memory with too many members',
      { memories: [soulMemory(0, { metadata: members(MAX_MEMBERS + 1) })] },
      { memoryId: soulMemory(0).id, membersLimit: MAX_MEMBERS, valuesLimit: MAX_SOUL_VALUES },
    ],
  ])('reports that the soul is %s [8.7j]', async (_, more, details) => {
    await expect(signSoul(keys, ISSUER, unsignedSoul(more))).rejects.toMatchObject({ details });
  });

  itLong('accepts a soul of exactly the maximum size, and refuses one more byte [8.7j]', async () => {
    const padded = (pads: readonly number[]): UnsignedSoul =>
      unsignedSoul({ memories: pads.map((pad, place) => soulMemory(place, { metadata: { pad: 'x'.repeat(pad) } })) });
    const pads = Array<number>(20).fill(780_000);
    const short = Buffer.byteLength(jcs(await signSoul(keys, ISSUER, padded([...pads, 0]))));
    const most = MAX_SOUL_BYTES - short;
    expect(await verdictOf(await signSoul(keys, ISSUER, padded([...pads, most])))).toBe('ours');
    await expect(signSoul(keys, ISSUER, padded([...pads, most + 1]))).rejects.toMatchObject({ code: 'SOUL_TOO_LARGE' });
    const { provenance } = elsewhere();
    const longer = { ...padded([...pads, most + 1]), provenance };
    expect(await verdictOf(await signedBy(longer))).toBe('too_large');
  });

  itLong('accepts the maximum of lists, values and members, and reads them in both forms [8.7j]', async () => {
    const most = [
      { memories: lists(390_000) },
      { memories: [soulMemory(0, { metadata: members(MAX_MEMBERS) })] },
      {
        memories: Array.from({ length: 6 }, (_, at) =>
          soulMemory(at, { metadata: { a: Array<number>(333_000).fill(1) } }),
        ),
      },
    ];
    for (const more of most) {
      const signed = await signSoul(keys, ISSUER, unsignedSoul(more));
      const read = await payloadDocument(Buffer.from(jcs(signed)));
      expect(await inspectSoul(read)).toMatchObject({ isItsName: true, tampered: null });
      expect(await payloadDocument(soulToCbor(signed))).not.toBeNull();
      const body = {
        sicTxId: 'tx',
        sicDownloadResult: { adrBody: signed, adrStatus: 200, adrSuccess: true },
        copy: true,
      };
      expect(() => drained(scanJson(Buffer.from(JSON.stringify(body))))).not.toThrow();
    }
  });

  it('accepts the numbers that the reference states [8.7j]', () => {
    expect([MAX_SOUL_BYTES, MAX_SOUL_MEMORIES, MAX_PART_BYTES]).toEqual([15 * 1024 * 1024, 100_000, 768 * 1024]);
    expect([MAX_SOUL_DEPTH, MAX_SOUL_CONTAINERS, MAX_SOUL_VALUES, MAX_MEMBERS]).toEqual([
      30, 399_000, 1_999_000, 50_000,
    ]);
  });

  it('accepts data with the deepest nesting that a request allows', async () => {
    expect(await verdictOf(await signSoul(keys, ISSUER, unsignedSoul({ data: nested(27) })))).toBe('ours');
  });

  it('refuses to sign for another server', async () => {
    await expect(signSoul(keys, 'https://other.example', unsignedSoul())).rejects.toThrow('the server that it names');
  });

  it('refuses what would not be a soul', async () => {
    const refused = { code: 'SOUL_INVALID', details: { reason: 'malformed' } };
    await expect(signSoul(keys, ISSUER, unsignedSoul({ npcId: '..' }))).rejects.toMatchObject(refused);
  });
});

describe('the signer of a soul', () => {
  it('is unknown if every signer is accepted [8.4q, 8.4r]', async () => {
    expect(await verdictOf(await signedBy(elsewhere()))).toBe('unknown');
  });

  it('is known if its key is listed, and every other is refused [8.4q, 8.4r, 8.5b]', async () => {
    const foreign = await signedBy(elsewhere());
    expect(await verdictOf(foreign, { trusted: new Set([strangerHeader.kid]) })).toBe('known');
    expect(await verdictOf(foreign, { trusted: new Set(['another']) })).toBe('untrusted_signer');
    expect(await verdictOf(soul, { trusted: new Set() })).toBe('ours');
  });

  it('is ours by the key, even after the server moved [8.4q]', async () => {
    expect(await verdictOf(soul, { issuer: 'https://moved.example' })).toBe('ours');
  });

  it('is not ours by its own claim [8.4s, 8.5b]', async () => {
    expect(await verdictOf(await signedBy(unsignedSoul()))).toBe('claims_our_server');
    expect(await verdictOf(await signedBy(unsignedSoul()), { trusted: new Set([strangerHeader.kid]) })).toBe(
      'claims_our_server',
    );
    expect(await verdictOf(await signedBy(elsewhere(), { kid: keys.current.kid }))).toBe('claims_our_server');
    expect(await verdictOf(await signedBy(unsignedSoul()), { issuer: `${ISSUER}/` })).toBe('claims_our_server');
  });

  it('must give a real creation time, and no claim that a verifier does not understand [8.7m]', async () => {
    for (const createdAt of ['2026-02-31T10:00:00.000Z', '0000-01-01T00:00:00.000Z'])
      expect(await verdictOf(await signedBy(elsewhere({ createdAt })))).toBe('malformed');
    expect(await verdictOf(await signedBy(elsewhere()))).toBe('unknown');
    expect(await verdictOf(await signedBy(elsewhere(), {}, { exp: 1 }))).toBe('other_soul');
  });
});

describe('a changed soul [8.5b, 8.7h]', () => {
  const [first = soulMemory(0), second = soulMemory(1), third = soulMemory(2)] = soul.memories;

  it.each<[string, Partial<SoulDocument>, string]>([
    ['lost a memory', { memories: [first, third] }, 'wrong_parts'],
    ['lost all memories', { memories: [] }, 'wrong_parts'],
    ['got one more', { memories: [...soul.memories, soulMemory(9)] }, 'wrong_parts'],
    ['has a duplicate memory', { memories: [first, second, second] }, 'malformed'],
    [
      'has a duplicate memory under another id',
      { memories: [first, second, { ...second, id: third.id }] },
      'wrong_root',
    ],
    ['has its memories in another order', { memories: [second, first, third] }, 'wrong_root'],
    [
      'has another text in a memory',
      { memories: [first, second, { ...third, text: 'Nothing happened.' }] },
      'wrong_root',
    ],
    ['has another persona', { persona: 'Zoë is a thief.' }, 'wrong_root'],
    ['has another state', { state: { ...soul.state, fear: 0.5 } }, 'wrong_root'],
    ['marks a default as recorded', { state: { ...soul.state, filled: [] } }, 'wrong_root'],
    ['lost its ruleset', { ruleset: null }, 'wrong_root'],
    ['lost its chain', { provenance: { ...soul.provenance, chain: [] } }, 'wrong_root'],
    ['has another name', { name: 'Anna' }, 'wrong_root'],
    ['says that players were left out', { without: ['players'] }, 'wrong_root'],
    ['has another root beside it', { trainingProof: keys.current.kid }, 'wrong_root'],
    ['has another id', { id: 's4' }, 'other_soul'],
    ['is of another NPC', { npcId: 'Anna' }, 'other_soul'],
    ['is of another NPC, twice', { npcId: 'Anna', provenance: { ...soul.provenance, npcId: 'Anna' } }, 'other_soul'],
    ['comes from another NPC', { provenance: { ...soul.provenance, npcId: 'Anna' } }, 'other_soul'],
    ['comes from another tenant', { provenance: { ...soul.provenance, tenant: 'other' } }, 'other_soul'],
    ['comes from another server', { provenance: { ...soul.provenance, issuer: 'https://a.example' } }, 'other_soul'],
    ['knows more events', { provenance: { ...soul.provenance, revision: 42 } }, 'other_soul'],
    ['was made later', { createdAt: '2026-11-21T10:00:01.000Z' }, 'other_soul'],
    ['was made later within its second', { createdAt: '2026-11-21T10:00:00.998Z' }, 'wrong_root'],
  ])('%s', async (_, change, reason) => {
    expect(await verdictOf({ ...soul, ...change })).toBe(reason);
  });

  itLong('is refused with a reason after every flip of a bit of its text that leaves other JSON', async () => {
    const small = await signSoul(keys, ISSUER, unsignedSoul({ memories: soulMemories(1) }));
    const text = Buffer.from(JSON.stringify(small));
    const right = jcs(small);
    let tried = 0;
    for (const [place, byte] of text.entries()) {
      for (let bit = 1; bit < 256; bit *= 2) {
        text[place] = byte ^ bit;
        let changed: Json;
        try {
          changed = JSON.parse(text.toString()) as Json;
        } catch {
          continue;
        } finally {
          text[place] = byte;
        }
        if (jcs(changed) === right) continue;
        tried += 1;
        const verification = await verifySoul(changed, trust);
        if (verification.valid) expect.fail(`a changed soul is taken: byte ${place}, bit ${bit}`);
      }
    }
    expect(tried).toBeGreaterThan(text.length);
  });
});

describe('an invalid signature', () => {
  const withSignature = (signature: string): SoulDocument => ({ ...soul, signature });
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

  it.each<[string, string, string]>([
    ['of nothing', '', 'malformed'],
    ['of two parts', `${head}.${payload}`, 'malformed'],
    ['with nothing signed', `${head}.${payload}.`, 'malformed'],
    ['of another key', `${head}.${payload}.${'A'.repeat(86)}`, 'bad_signature'],
    [
      'with unused bits that are set',
      `${soul.signature.slice(0, -1)}${digits.charAt(digits.indexOf(mark.slice(-1)) + 1)}`,
      'malformed',
    ],
    ['with padding', `${soul.signature}==`, 'malformed'],
    ['with white space', `${head}.${payload}\n.${mark}`, 'malformed'],
    ['without an algorithm', `${encoded({ ...header, alg: 'none' })}.${payload}.${mark}`, 'malformed'],
    ['of another algorithm', `${encoded({ ...header, alg: 'ES256' })}.${payload}.${mark}`, 'malformed'],
    ['of another type', `${encoded({ ...header, typ: 'verdict+jwt' })}.${payload}.${mark}`, 'malformed'],
    ['that is longer than any', `${encoded({ ...header, kid: 'x'.repeat(20_000) })}.${payload}.${mark}`, 'malformed'],
    ['with a header that is a list', `${encoded([header])}.${payload}.${mark}`, 'malformed'],
    ['with a header that is no JSON', `${Buffer.from('{').toString('base64url')}.${payload}.${mark}`, 'malformed'],
    ['with other claims', `${head}.${encoded({ ...claims, revision: 42 })}.${mark}`, 'bad_signature'],
  ])('%s', async (_, signature, reason) => {
    expect(await verdictOf(withSignature(signature))).toBe(reason);
  });

  it('made with the public key as a shared secret', async () => {
    const hs256 = encoded({ ...header, alg: 'HS256' });
    const secret = Buffer.from((header['jwk'] as { readonly x: string }).x, 'base64url');
    const mac = createHmac('sha256', secret).update(`${hs256}.${payload}`).digest('base64url');
    expect(await verdictOf(withSignature(`${hs256}.${payload}.${mac}`))).toBe('malformed');
  });

  it.each<[string, JsonObject]>([
    ['a member that must be understood', { crit: ['urn:x'], 'urn:x': 1 }],
    ['a key set elsewhere', { jku: 'https://evil.example/keys' }],
    ['a certificate elsewhere', { x5u: 'https://evil.example/cert' }],
    ['a certificate', { x5c: ['AAAA'] }],
    ['a content type', { cty: 'JWT' }],
    ['another type of key', { jwk: { ...strangerJwk, kty: 'EC' } }],
    ['another curve', { jwk: { ...strangerJwk, crv: 'X25519' } }],
    ['a key with more members', { jwk: { ...strangerJwk, use: 'sig' } }],
    ['a private key', { jwk: { ...strangerJwk, d: strangerJwk.x } }],
    ['a key that is too short', { jwk: { ...strangerJwk, x: 'AAAA' } }],
    ['a key with padding', { jwk: { ...strangerJwk, x: `${strangerJwk.x}=` } }],
    ['the name of another key', { kid: thumbprint('A'.repeat(43)) }],
    ['another type of token', { typ: 'JWT' }],
  ])('whose header has %s [8.7m]', async (_, more) => {
    expect(await verdictOf(await signedBy(elsewhere(), more))).toBe('malformed');
  });

  it('whose header has a key id of illegal length is neither looked up nor cached', async () => {
    const found = await inspectSoul(await signedBy(elsewhere(), { kid: 'k'.repeat(11_500) }));
    expect(found).toEqual({ wrong: 'malformed' });
  });

  it('whose header contains the key of another server', async () => {
    const other = ed25519Jwk(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x ?? '');
    expect(await verdictOf(await signedBy(elsewhere(), { jwk: other, kid: thumbprint(other.x) }))).toBe(
      'bad_signature',
    );
  });

  it.each<[string, JsonObject, string]>([
    ['another root', { root: thumbprint('x') }, 'wrong_root'],
    ['fewer parts', { parts: 3 }, 'wrong_parts'],
    ['parts as a text', { parts: '4' }, 'wrong_parts'],
    ['another time', { iat: 0 }, 'other_soul'],
    ['no revision', { revision: null }, 'other_soul'],
  ])('over claims with %s', async (_, said, reason) => {
    expect(await verdictOf(await signedBy(elsewhere(), {}, said))).toBe(reason);
  });

  it('over claims that are not an object', async () => {
    const key: KeyObject = createPrivateKey(stranger.privateKey.export({ format: 'pem', type: 'pkcs8' }));
    const signature = await new CompactSign(Buffer.from('[]')).setProtectedHeader(strangerHeader).sign(key);
    expect(await verdictOf({ ...(await signedBy(elsewhere())), signature })).toBe('bad_signature');
  });
});
