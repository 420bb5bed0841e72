import { generateKeyPairSync } from 'node:crypto';

import { CompactSign } from 'jose';
import { describe, expect, it } from 'vitest';

import { issueApiKey, revokeApiKey } from '../../../src/features/keys/api-keys.js';
import { createPlayerTokens } from '../../../src/features/keys/player-tokens.js';
import { revokeSigningKeySince, rotateSigningKey } from '../../../src/features/keys/change-signing-keys.js';
import { openSigningKeys } from '../../../src/features/keys/signing-keys.js';
import { createTenantWithKey, draftKey } from '../../../src/features/keys/api-keys.js';
import type { Json, JsonObject } from '../../../src/kernel/base/json.js';
import type { Scope } from '../../../src/kernel/base/scopes.js';
import { seals } from '../../support/seals.js';
import { openKeyServer } from './key-scene.js';

const wrapKey = new Uint8Array(32).fill(9);
const wish = { player: { id: 'p-ann', name: 'Ann' }, npcs: ['mira'] };
const command = (commandId: string) => ({ commandId, correlationId: commandId });
const encoded = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decoded = (part = ''): JsonObject => JSON.parse(Buffer.from(part, 'base64url').toString()) as JsonObject;

/** A server with a key that may issue tokens. */
const open = async () => {
  const server = await openKeyServer();
  const { clock, directory, random } = server;
  const signing = {
    alg: 'EdDSA',
    wrapKey,
    seals,
    random,
    clock,
    events: server.events,
    writers: server.writers,
  } as const;
  const signingKeys = await openSigningKeys(signing);
  const deps = { signingKeys, directory, clock, issuer: 'http://anima.test', rateLimit: null };
  const tokens = createPlayerTokens(deps);
  const tenantOf = async (tenantId: string) => {
    const draft = draftKey(server, `owner of ${tenantId}`, false);
    await createTenantWithKey(server, 'system', tenantId, null, draft, command(tenantId));
    const owner = directory.find(draft.token, clock.now());
    if (owner === null) throw new Error('the owner key is not accepted');
    return owner;
  };
  const owner = await tenantOf('studio');
  const keyWith = async (name: string, scopes: readonly Scope[], expiresAt: string | null = null) => {
    const made = await issueApiKey(
      server,
      owner,
      { name, scopes, rateLimit: null, expiresAt, test: false },
      command(name),
    );
    return { tenant: 'studio', keyId: made.issued.keyId };
  };
  const by = await keyWith('login server', ['players']);
  const changes = { ...signing, signingKeys };
  const local = { tenant: 'local', actor: 'owner', causationId: null };
  /** @returns the key that signed before */
  const rotate = async (): Promise<string> => {
    const { kid } = signingKeys.current;
    await rotateSigningKey(changes, { ...local, ...command('rotate') });
    return kid;
  };
  const revoke = (kid: string, since: string) =>
    revokeSigningKeySince(changes, { kid, since, reason: 'stolen' }, { ...local, ...command('revoke') });
  const admitted = (text: string) => tokens.authenticate(`Bearer ${text}`);
  /** A token with other claims or another header, signed by this server's key. */
  const signed = async (claims: JsonObject, typ = 'player+jwt'): Promise<string> =>
    signingKeys.sign(signingKeys.current.kid, claims, { typ: typ as 'player+jwt' });
  return { server, clock, tokens, signingKeys, owner, tenantOf, by, keyWith, admitted, signed, rotate, revoke };
};

describe('a player token', () => {
  it('of a revoked signing key is refused, also if it claims to be from before [11.8e]', async () => {
    const { clock, tokens, by, admitted, rotate, revoke } = await open();
    const { text } = await tokens.issue(by, wish, 'old');
    const old = await rotate();
    expect(await admitted(text)).not.toBeNull();
    await clock.advance(5_000);
    await revoke(old, clock.now().toISOString());
    expect(await admitted(text)).toBeNull();
    expect(await admitted((await tokens.issue(by, wish, 'new')).text)).not.toBeNull();
  });

  it('lets its player in on behalf of the key that asked for it [12.4a, 12.4d, 12.4g]', async () => {
    const { tokens, by, admitted, signingKeys } = await open();
    const { text, token } = await tokens.issue(by, wish, 'c1');
    expect(await admitted(text)).toEqual({
      ...{ ...by, scopes: [], rateLimit: null },
      player: { ...wish.player, npcs: ['mira'] },
    });
    const [header, claims] = text.split('.').slice(0, 2).map(decoded);
    expect(header).toEqual({ alg: 'EdDSA', typ: 'player+jwt', kid: signingKeys.current.kid });
    expect(claims).toEqual({
      ...{ iss: 'http://anima.test', aud: 'player', sub: 'p-ann', name: 'Ann', npcs: ['mira'], tenant: 'studio' },
      ...{ key: by.keyId, jti: 'c1', iat: token.issuedAt, exp: token.issuedAt + 3_600 },
    });
  });

  it('ends with its last second, and never lasts longer than an hour [12.4a, 12.4e]', async () => {
    const { tokens, by, admitted, clock, signed } = await open();
    const { text, token } = await tokens.issue(by, { ...wish, seconds: 2 }, 'c1');
    const claims = decoded(text.split('.')[1]);
    const long = await signed({ ...claims, exp: token.issuedAt + 3_601 });
    expect(await admitted(long)).toBeNull();
    const untilMs = token.expiresAt * 1_000 - clock.now().getTime();
    await clock.advance(untilMs - 1);
    expect(await admitted(text)).not.toBeNull();
    await clock.advance(1);
    expect(await admitted(text)).toBeNull();
  });

  it('may come from a server whose clock is a minute ahead, and not from the future [12.4e]', async () => {
    const { tokens, by, admitted, signed } = await open();
    const { text, token } = await tokens.issue(by, wish, 'c1');
    const claims = decoded(text.split('.')[1]);
    const ahead = (seconds: number) =>
      signed({ ...claims, iat: token.issuedAt + seconds, exp: token.issuedAt + seconds + 60 });
    expect(await admitted(await ahead(60))).not.toBeNull();
    expect(await admitted(await ahead(62))).toBeNull();
  });

  it('dies with its issuing key: revoked, expired, without the scope, or of another tenant [12.4f]', async () => {
    const { server, tokens, owner, by, keyWith, tenantOf, admitted, clock } = await open();
    const { text } = await tokens.issue(by, wish, 'c1');
    await revokeApiKey(server, owner, by.keyId, command('revoked'));
    expect(await admitted(text)).toBeNull();

    const brief = await keyWith('brief', ['players'], new Date(clock.now().getTime() + 5_000).toISOString());
    const { text: ofBrief } = await tokens.issue(brief, wish, 'c2');
    expect(await admitted(ofBrief)).not.toBeNull();
    await clock.advance(5_000);
    expect(await admitted(ofBrief)).toBeNull();

    const lacking = await keyWith('lacking', ['npc', 'facts']);
    expect(await admitted((await tokens.issue(lacking, wish, 'c3')).text)).toBeNull();

    const other = await tenantOf('other');
    const claimed = { tenant: 'studio', keyId: other.keyId };
    expect(await admitted((await tokens.issue(claimed, wish, 'c4')).text)).toBeNull();
    expect(await admitted((await tokens.issue({ tenant: 'studio', keyId: 'none' }, wish, 'c5')).text)).toBeNull();
  });

  it('is not accepted when it is altered, unsigned, or signed by somebody else [12.4e]', async () => {
    const { tokens, by, admitted, signingKeys } = await open();
    const { text } = await tokens.issue(by, wish, 'c1');
    const [header = '', claims = '', signature = ''] = text.split('.');
    const { kid } = signingKeys.current;
    const { privateKey } = generateKeyPairSync('ed25519');
    const forged = (protectedHeader: JsonObject) =>
      new CompactSign(Buffer.from(claims, 'base64url')).setProtectedHeader(protectedHeader as never).sign(privateKey);
    const altered = { ...decoded(claims), sub: 'p-bob' };
    for (const attempt of [
      `${header}.${encoded(altered)}.${signature}`,
      `${encoded({ alg: 'none', typ: 'player+jwt', kid })}.${claims}.`,
      `${encoded({ alg: 'HS256', typ: 'player+jwt', kid })}.${claims}.${signature}`,
      await forged({ alg: 'EdDSA', typ: 'player+jwt', kid }),
      await forged({ alg: 'EdDSA', typ: 'player+jwt', kid: 'unknown' }),
      await forged({ alg: 'EdDSA', typ: 'player+jwt' }),
      `${text}.`,
      `${header}.${claims}`,
      `${text}=`,
      `${text} `.repeat(2),
      '..',
      `${'a'.repeat(20_000)}.b.c`,
    ])
      expect(await admitted(attempt), attempt.slice(0, 60)).toBeNull();
  });

  it('is not what else this server signs, even with the same claims [12.4d, 12.4e]', async () => {
    const { tokens, by, admitted, signed } = await open();
    const { text } = await tokens.issue(by, wish, 'c1');
    const claims = decoded(text.split('.')[1]);
    expect(await admitted(await signed(claims))).not.toBeNull();
    for (const typ of ['verdict+jwt', 'soul+jwt', 'archive-grant+jwt', 'JWT', 'PLAYER+JWT'])
      expect(await admitted(await signed(claims, typ)), typ).toBeNull();
  });

  it('needs each of its claims, in the form that it is issued with [12.4d, 12.4e]', async () => {
    const { tokens, by, admitted, signed } = await open();
    const { text } = await tokens.issue(by, wish, 'c1');
    const claims = decoded(text.split('.')[1]);
    const others: JsonObject = {
      ...{ aud: 'archive', sub: '', name: 7, npcs: 'mira', tenant: '', key: null, jti: '' },
      ...{ iat: 0.5, exp: '4000000000' },
    };
    for (const [member, value] of Object.entries(others)) {
      expect(await admitted(await signed({ ...claims, [member]: value })), member).toBeNull();
      const { [member]: _left, ...without } = claims;
      if (member !== 'name') expect(await admitted(await signed(without)), member).toBeNull();
    }
    expect(await admitted(await signed({ ...claims, npcs: ['mira', 7] }))).toBeNull();
    expect(await admitted(await signed({ ...claims, npcs: Array<string>(33).fill('mira') }))).toBeNull();
  });

  it('is not needed by API keys, which are accepted as before [12.4e]', async () => {
    const { server, tokens, clock } = await open();
    const draft = draftKey(server, 'another', false);
    await createTenantWithKey(server, 'system', 'third', null, draft, command('third'));
    expect(await tokens.authenticate(`Bearer ${draft.token}`)).toEqual(server.directory.find(draft.token, clock.now()));
    expect(await tokens.authenticate(undefined)).toBeNull();
  });
});
