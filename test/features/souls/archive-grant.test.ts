import { generateKeyPairSync, type KeyObject } from 'node:crypto';

import { CompactSign } from 'jose';
import { describe, expect, it } from 'vitest';

import { ARCHIVE_GRANT_TYPE, issueArchiveGrant, readArchiveGrant } from '../../../src/features/souls/archive-grant.js';
import { contentDigest } from '../../../src/kernel/crypto/content-digest.js';
import { jcs, type JsonObject } from '../../../src/kernel/base/json.js';
import { ManualClock } from '../../support/manual-clock.js';

const ours = generateKeyPairSync('ed25519');
const theirs = generateKeyPairSync('ed25519');
const publicKey = async (kid: string) => (kid === 'ours' ? ours.publicKey : undefined);

type Signed = { readonly typ?: string; readonly kid?: string; readonly key?: KeyObject };
const signed = (claims: JsonObject, { typ = ARCHIVE_GRANT_TYPE, kid = 'ours', key = ours.privateKey }: Signed = {}) =>
  new CompactSign(Buffer.from(jcs(claims))).setProtectedHeader({ alg: 'EdDSA', typ, kid }).sign(key);

const clock = new ManualClock('2026-01-01T00:00:00.000Z');
const allowed = {
  digest: contentDigest(Buffer.from('{}')),
  tenant: 'studio',
  npcId: 'the guard \u{1f600}',
  soulId: 's1_mbx2_AAAAAAAAAAAAAAAA',
  expiresAt: new Date('2026-01-01T01:00:00.000Z'),
};
const claims: JsonObject = {
  iss: 'http://anima',
  aud: 'archive',
  sub: allowed.digest,
  tenant: 'studio',
  npcId: 'the guard \u{1f600}',
  soulId: 's1_mbx2_AAAAAAAAAAAAAAAA',
  exp: allowed.expiresAt.getTime() / 1_000,
};
const issue = (over: Partial<typeof allowed> = {}) =>
  issueArchiveGrant({ sign: (of) => signed(of), issuer: 'http://anima' }, { ...allowed, ...over });
const read = (grant: string, at = clock) =>
  readArchiveGrant({ keys: { publicKey, isVoid: () => false }, clock: at }, grant);

describe('a grant for the archive', () => {
  it('names its payload and its tenant [8.1m]', async () => {
    const grant = await issue();
    expect(JSON.parse(Buffer.from(grant.split('.')[1] ?? '', 'base64url').toString())).toEqual(claims);
    expect(await read(grant)).toEqual(allowed);
  });

  it('is valid until its expiry, and not a millisecond longer [8.1i]', async () => {
    const grant = await issue();
    expect(await read(grant, new ManualClock('2026-01-01T00:59:59.999Z'))).toEqual(allowed);
    expect(await read(grant, new ManualClock('2026-01-01T01:00:00.000Z'))).toBeNull();
  });

  it('expires at a full second, never later than it should', async () => {
    const grant = await issue({ expiresAt: new Date('2026-01-01T01:00:00.999Z') });
    expect(await read(grant)).toEqual(allowed);
  });

  it('has room for the longest names', async () => {
    const longest = { npcId: '\u{1f600}'.repeat(128), tenant: 't'.repeat(64) };
    expect(await read(await issue(longest))).toMatchObject(longest);
  });

  it.each<[what: string, grant: () => Promise<string> | string]>([
    ['of another server', () => signed(claims, { kid: 'theirs', key: theirs.privateKey })],
    ['that another server signed under the name of our key', () => signed(claims, { key: theirs.privateKey })],
    ['of another type', () => signed(claims, { typ: 'verdict+jwt' })],
    ['for another audience', () => signed({ ...claims, aud: 'http://other' })],
    ['for an invalid digest', () => signed({ ...claims, sub: '../secret' })],
    ['without a tenant', () => signed({ ...claims, tenant: 1 })],
    ['without an expiry', () => signed({ ...claims, exp: 'never' })],
    ['that does not contain an object', () => signed([] as unknown as JsonObject)],
    ['that is too long', () => signed({ ...claims, iss: 'x'.repeat(16_384) })],
    ['with padding', async () => `${await issue()}=`],
    ['with unused bits set', async () => (await issue()).replace(/.$/, (last) => (last === 'Q' ? 'R' : 'B'))],
    ['without a signature', async () => (await issue()).replace(/[^.]*$/, '')],
    ['that is not a token', () => 'am_live_key_secret'],
    ['that is empty', () => ''],
  ])('%s is refused', async (_, grant) => {
    expect(await read(await grant())).toBeNull();
  });

  it('of a revoked key is refused, whatever time it claims [11.8e]', async () => {
    const since = Date.parse('2026-01-01T00:30:00.000Z');
    const keys = { publicKey, isVoid: (kid: string, at: Date) => kid === 'ours' && at.getTime() >= since };
    const grant = await issue();
    const readAt = (time: string) => readArchiveGrant({ keys, clock: new ManualClock(time) }, grant);
    expect(await readAt('2026-01-01T00:29:59.000Z')).toEqual(allowed);
    expect(await readAt('2026-01-01T00:30:00.000Z')).toBeNull();
  });

  it('is not reported as invalid when it cannot be checked', async () => {
    const keys = { publicKey: () => Promise.reject(new Error('the store is away')), isVoid: () => false };
    const away = { keys, clock };
    await expect(readArchiveGrant(away, await issue())).rejects.toThrow('the store is away');
  });
});
