import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { CompactSign, compactVerify, createLocalJWKSet } from 'jose';
import { describe, expect, it } from 'vitest';
import { createVerdictSigner, type RecordedVerdict } from '../../../src/features/turns/verdict-signer.js';
import type { Verdict } from '../../../src/features/npcs/domain/events.js';
import { verdictWire } from '../../../src/features/turns/domain/signature.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import type { SigningAlgorithm, SigningKeys } from '../../../src/ports/signing-keys.js';

const seeded = (byte: number) => {
  const privateKey = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, byte)]),
    format: 'der',
    type: 'pkcs8',
  });
  return { privateKey, publicKey: createPublicKey(privateKey) };
};

const keysOf = (alg: SigningAlgorithm, kids: Readonly<Record<string, number>>): SigningKeys => {
  const pairs = new Map(Object.entries(kids).map(([kid, byte]) => [kid, seeded(byte)]));
  return {
    current: { kid: [...pairs.keys()].at(-1) ?? '', alg },
    sign: async (kid, claims, { typ }) => {
      const pair = pairs.get(kid);
      if (pair === undefined) throw new Error(`no key ${kid}`);
      return new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader({ alg, typ, kid })
        .sign(pair.privateKey);
    },
    signText: () => Promise.reject(new Error('no logs are signed here')),
    isVoid: () => false,
    publicKey: async (kid) => pairs.get(kid)?.publicKey,
    publicJwks: async () =>
      [...pairs].map(([kid, { publicKey }]) => ({ ...(publicKey.export({ format: 'jwk' }) as JsonObject), kid })),
  };
};

const verdict: Verdict = {
  valid: true,
  dialogue: 'Halt!',
  action: { type: 'SPEAK', target: '' },
  stateDelta: { hp: 0.1 },
  memoryStore: [],
};
const ruleset = { rulesetId: 'gate', version: 2, digest: 'A'.repeat(43) };
const signing = { revision: 3, at: '2026-11-21T10:00:00.000Z', kid: 'old', iss: 'http://here', ruleset };
const recorded: RecordedVerdict = {
  tenant: 'local',
  npcId: 'guard',
  turnId: 't1',
  observation: 'A stranger.',
  verdict,
  signing,
};

const keys = keysOf('Ed25519', { old: 1, new: 2 });
/** The stored events are what was recorded. */
const good = () => Promise.resolve();
const signer = createVerdictSigner(keys, good);
const signature = await signer.sign(recorded);
const wire = verdictWire(verdict, signature);
const question = { tenant: 'local', npcId: 'guard', signature: signature ?? '', verdict: wire };

describe('a verdict whose key was revoked', () => {
  it('verifies only if it was signed before [2.9h, 11.8e]', async () => {
    const revokedAt = (since: string) =>
      createVerdictSigner({ ...keys, isVoid: (kid, at) => kid === 'old' && at >= new Date(since) }, good);
    expect(await revokedAt('2026-11-21T10:00:01.000Z').verify(question)).toMatchObject({ valid: true, turnId: 't1' });
    expect(await revokedAt('2026-11-21T10:00:00.000Z').verify(question)).toEqual({
      valid: false,
      reason: 'revoked_key',
    });
    // It is signed again with the same bytes: the record has not changed.
    expect(await revokedAt('2026-11-21T10:00:00.000Z').sign(recorded)).toBe(signature);
  });
});

describe('signing a verdict', () => {
  it('makes the same bytes each time, under the key that its event names [2.9e]', async () => {
    expect(await createVerdictSigner(keysOf('Ed25519', { new: 2, old: 1 }), good).sign(recorded)).toBe(signature);
  });

  it.each<SigningAlgorithm>(['Ed25519', 'EdDSA'])(
    'makes a token that a JOSE library verifies with the key set, as %s [2.9a, 2.9b]',
    async (alg) => {
      const own = keysOf(alg, { old: 1 });
      const made = (await createVerdictSigner(own, good).sign(recorded)) ?? '';
      const { payload, protectedHeader } = await compactVerify(
        made,
        createLocalJWKSet({ keys: (await own.publicJwks()) as never }),
      );
      expect(protectedHeader).toEqual({ alg, typ: 'verdict+jwt', kid: 'old' });
      expect(JSON.parse(new TextDecoder().decode(payload))).toMatchObject({
        iss: 'http://here',
        sub: 'guard',
        jti: 't1',
        revision: 3,
      });
    },
  );

  it('gives no signature to an invalid verdict [2.4a]', async () => {
    const { signing: _, ...unsigned } = recorded;
    expect(await signer.sign({ ...unsigned, verdict: { ...verdict, valid: false } })).toBeNull();
    expect(await signer.sign(unsigned)).toBeNull();
  });

  it('makes a signature that fits a header [2.9a]', () => {
    expect(signature?.length).toBeLessThan(1_000);
  });
});

/** 64 bytes in base64url end in a digit whose last four bits are unused. */
const withUnusedBits = (token: string): string => {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return token.slice(0, -1) + digits.charAt(digits.indexOf(token.slice(-1)) + 1);
};

const inPlainBase64 = (token: string): string => token.replace(/-/g, '+').replace(/_/g, '/');

/** A signature whose text differs between the two alphabets. */
const tellingAlphabet = async (): Promise<string> => {
  for (let revision = 0; ; revision += 1) {
    const made = await signer.sign({ ...recorded, signing: { ...signing, revision } });
    if (made !== null && /[-_]/.test(made)) return made;
  }
};
const telling = await tellingAlphabet();

const signedBy = (pair: { readonly privateKey: Parameters<CompactSign['sign']>[0] }, header: object, payload = '{}') =>
  new CompactSign(Buffer.from(payload))
    .setProtectedHeader({ alg: 'Ed25519', typ: 'verdict+jwt', kid: 'old', ...header })
    .sign(pair.privateKey);

describe('verifying a verdict', () => {
  it('accepts a signed verdict in both wire forms [2.9g]', async () => {
    const { stateDelta, ...rest } = wire;
    const renamed = { ...rest, stateTransform: stateDelta ?? {} };
    for (const form of [wire, renamed, { ...wire, ...renamed }]) {
      expect(await signer.verify({ ...question, verdict: form })).toMatchObject({ valid: true });
    }
  });

  it('returns turn, revision and time of an accepted verdict, even if its key signs no more [2.9h, 2.9i]', async () => {
    expect(keys.current.kid).not.toBe(signing.kid);
    expect(await signer.verify(question)).toEqual({
      valid: true,
      turnId: 't1',
      revision: 3,
      signedAt: '2026-11-21T10:00:00.000Z',
    });
  });

  it.each<[string, Partial<typeof question>, string]>([
    ['no JWS at all', { signature: 'hello' }, 'malformed'],
    ['an empty signature', { signature: '' }, 'malformed'],
    ['three empty parts', { signature: '..' }, 'malformed'],
    [
      'changed claims',
      { signature: (signature ?? '').replace(/\.(.)/, (_, first) => `.${first === 'e' ? 'f' : 'e'}`) },
      'bad_signature',
    ],
    ['a changed end', { signature: `${(signature ?? '').slice(0, -8)}AAAAAAAA` }, 'bad_signature'],
    ['another NPC', { npcId: 'thief' }, 'other_npc'],
    ['an NPC of another tenant', { tenant: 'other' }, 'other_npc'],
    ['another dialogue', { verdict: { ...wire, dialogue: 'Come in!' } }, 'other_verdict'],
    ['no verdict', { verdict: {} }, 'other_verdict'],
    [
      'a forged state change beside the true one',
      { verdict: { ...wire, stateTransform: { hp: 99 } } },
      'other_verdict',
    ],
    ['a state change beside none', { verdict: { ...wire, stateTransform: null } }, 'other_verdict'],
    ['a space at the end', { signature: `${signature ?? ''} ` }, 'malformed'],
    ['a line break within', { signature: (signature ?? '').replace('.', '.\n') }, 'malformed'],
    ['padding', { signature: `${signature ?? ''}==` }, 'malformed'],
    ['unused bits that are set', { signature: withUnusedBits(signature ?? '') }, 'malformed'],
    ['the other base64 alphabet', { signature: inPlainBase64(telling) }, 'malformed'],
  ])('refuses %s [2.9h, 2.9j]', async (_, change, reason) => {
    expect(await signer.verify({ ...question, ...change })).toEqual({ valid: false, reason });
  });

  it.each<[string, object, string]>([
    ['an unknown key', { kid: 'elsewhere' }, 'unknown_key'],
    ['another type of token', { typ: 'JWT' }, 'malformed'],
    ['a signature of illegal length', { more: 'x'.repeat(20_000) }, 'malformed'],
  ])('refuses %s [2.9h]', async (_, header, reason) => {
    expect(await signer.verify({ ...question, signature: await signedBy(seeded(1), header) })).toEqual({
      valid: false,
      reason,
    });
  });

  it('refuses the right name under another key', async () => {
    const forged = await signedBy(generateKeyPairSync('ed25519'), {});
    expect(await signer.verify({ ...question, signature: forged })).toEqual({ valid: false, reason: 'bad_signature' });
  });

  it('refuses a payload that is not claims', async () => {
    const odd = await signedBy(seeded(1), {}, 'hello');
    expect(await signer.verify({ ...question, signature: odd })).toEqual({ valid: false, reason: 'malformed' });
  });

  it('refuses a token without a signature algorithm', async () => {
    const header = Buffer.from('{"alg":"none","typ":"verdict+jwt","kid":"old"}').toString('base64url');
    expect(await signer.verify({ ...question, signature: `${header}.e30.` })).toEqual({
      valid: false,
      reason: 'malformed',
    });
  });

  it('refuses a request without a signature', async () => {
    expect(await signer.verify({ ...question, signature: undefined })).toEqual({ valid: false, reason: 'malformed' });
  });
});
