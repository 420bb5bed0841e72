import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { MemoryOwnerKeyFile } from '../../../support/memory/owner-key-file.js';
import { firstStart } from '../../../../src/features/keys/first-start.js';
import { scopes } from '../../../../src/kernel/base/scopes.js';
import { keyRoutes } from '../../../../src/features/keys/http/routes.js';
import { type KeyServer, openKeyServer } from '../key-scene.js';
import { type Reply, startApp, type TestApp } from '../../../support/http.js';

let server: KeyServer;
let app: TestApp;
let owner: string;

beforeEach(async () => {
  server = await openKeyServer();
  owner = (await firstStart(server, new MemoryOwnerKeyFile()))?.key ?? '';
  const { clock, directory } = server;
  app = await startApp(keyRoutes(server), {
    clock,
    authenticate: (header) => directory.authenticate(header, clock.now()),
  });
});
afterEach(() => app.stop());

const bearer = (key: string, headers: Record<string, string> = {}) => ({ ...headers, authorization: `Bearer ${key}` });
const issue = (body: object, headers: Record<string, string> = bearer(owner)): Promise<Reply> =>
  app.post('/keys', body as never, headers);
const list = (key = owner, query = '') => app.get(`/keys${query}`, bearer(key));
const revoke = (keyId: string, key = owner) => app.request('DELETE', `/keys/${keyId}`, { headers: bearer(key) });

describe('POST /keys', () => {
  it('issues a key with the scopes of a game, and shows it [11.4a, 11.4b]', async () => {
    const { status, body } = await issue({ name: 'game' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'game',
      scopes: ['npc', 'memory', 'facts', 'players'],
      rateLimit: null,
      createdAt: server.clock.now().toISOString(),
    });
    expect(body.key).toMatch(new RegExp(`^am_live_${String(body.keyId)}_`));
    expect((await list(body.key)).status).toBe(403);
  });

  it('refuses a misspelt member without which a key would be allowed more [11.4m]', async () => {
    for (const [member, value, meant] of [
      ['Set', 'viewer', '/set'],
      ['sets', 'viewer', '/set'],
      ['scope', ['read'], '/scopes'],
      ['ratelimit', { limit: 5, windowSeconds: 60 }, '/rateLimit'],
      ['expireAt', '2031-01-01T00:00:00Z', '/expiresAt'],
    ] as const) {
      const { status, body } = await issue({ name: 'press', [member]: value });
      expect([member, status, body.error?.code]).toEqual([member, 422, 'MEMBER_MISSPELT']);
      expect(body.error.details.meant).toBe(meant);
    }
    const { body: issued } = await issue({ name: 'press', set: 'viewer', test: true });
    expect(issued.scopes).toEqual(['read']);
    const changed = await app.request('PATCH', `/keys/${String(issued.keyId)}`, {
      body: JSON.stringify({ rate_limit: { limit: 5, windowSeconds: 60 } }),
      headers: bearer(owner, { 'content-type': 'application/json' }),
    });
    expect(changed.status).toBe(422);
  });

  it.each(['expires', 'expiry', 'st', 'scopeSet', 'permissions', 'role', 'limit', 'rate', 'extra'])(
    'refuses the unknown member %s, without which a key might be allowed more [11.4m]',
    async (member) => {
      const { status, body } = await issue({ name: 'press', [member]: 'viewer' });
      expect([status, body.error?.details]).toMatchObject([422, expect.anything()]);
      expect(['MEMBER_UNKNOWN', 'MEMBER_MISSPELT']).toContain(body.error.code);
    },
  );

  it.each(['  ', 'a\u0007b'])('refuses a name that lists cannot show: %j [11.4a]', async (name) => {
    const { status, body } = await issue({ name });
    expect([status, body.error?.code]).toEqual([400, 'SCHEMA_INVALID']);
  });

  it('accepts scopes, limit, expiry and kind [11.4a]', async () => {
    const wish = {
      scopes: ['admin', 'npc'],
      rateLimit: { limit: 5, windowSeconds: 60 },
      expiresAt: '2031-01-01T02:00:00+02:00',
    };
    const { body } = await issue({ name: 'game', test: true, ...wish });
    expect(body).toMatchObject({
      scopes: ['npc', 'admin'],
      rateLimit: wish.rateLimit,
      expiresAt: '2031-01-01T00:00:00.000Z',
    });
    expect(body.key).toMatch(/^am_test_/);
    const answer = await list(body.key);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('ratelimit-policy')).toContain('q=5');
    expect((await issue({ name: 'free', rateLimit: 'off' })).body.rateLimit).toBe('off');
  });

  it.each([
    ['viewer', ['read']],
    ['auditor', ['read', 'audit', 'metrics']],
    ['writer', ['npc', 'memory', 'rules', 'ghosts', 'read', 'audit']],
    ['operator', ['read', 'audit', 'metrics', 'retract', 'ops']],
    ['game', ['npc', 'memory', 'facts', 'players']],
    ['admin', scopes],
  ])('issues a key with the scopes of the set %s [11.4k]', async (set, granted) => {
    const { status, body } = await issue({ name: 'one of them', set });
    expect([status, body.scopes]).toEqual([201, granted]);
  });

  it('refuses scopes together with a set [11.4k]', async () => {
    const { status, body } = await issue({ name: 'both', set: 'viewer', scopes: ['npc'] });
    expect(status).toBe(400);
    expect(body.error.details.issues).toEqual([{ pointer: '/set', message: 'must not be sent together with scopes' }]);
  });

  it('treats null in an optional member as absent', async () => {
    const { status, body } = await issue({ name: 'game', scopes: null, rateLimit: null, expiresAt: null, test: null });
    expect(status).toBe(201);
    expect(body.scopes).not.toContain('admin');
  });

  it.each([
    ['no name', {}],
    ['an empty name', { name: '' }],
    ['an unknown scope', { name: 'x', scopes: ['fly'] }],
    ['a limit of zero', { name: 'x', rateLimit: { limit: 0, windowSeconds: 60 } }],
    ['a limit in words', { name: 'x', rateLimit: 'fast' }],
    ['an expiry that is not a time', { name: 'x', expiresAt: 'tomorrow' }],
    ['an expiry on an impossible day', { name: 'x', expiresAt: '2031-13-01T00:00:00Z' }],
    ['an expiry beyond the end of its month', { name: 'x', expiresAt: '2031-02-30T00:00:00Z' }],
    ['an expiry in the past', { name: 'x', expiresAt: '2001-01-01T00:00:00Z' }],
  ])('refuses %s with 400 and the location of the error', async (_, body) => {
    const answer = await issue(body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'SCHEMA_INVALID' });
    expect(answer.body.error.details.issues.length).toBeGreaterThan(0);
  });

  it('refuses scopes that the calling key lacks with 403 [11.4b]', async () => {
    const admin = (await issue({ name: 'admin', scopes: ['admin', 'npc'] })).body.key;
    const answer = await issue({ name: 'x', scopes: ['npc', 'ops'] }, bearer(admin));
    expect(answer.status).toBe(403);
    expect(answer.body.error.details).toEqual({ missingScopes: ['ops'] });
  });

  it('repeats the response without the key under an Idempotency-Key, and issues no second key [1.7j]', async () => {
    const headers = bearer(owner, { 'idempotency-key': 'once' });
    const first = await issue({ name: 'game' }, headers);
    const repeat = await issue({ name: 'game' }, headers);
    const { key, ...rest } = first.body;
    expect(key).toMatch(/^am_live_/);
    expect([repeat.status, repeat.body]).toEqual([201, rest]);
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
    expect((await list()).body).toHaveLength(2);
  });
});

describe('PATCH /keys/{keyId}', () => {
  const change = (keyId: string, body: object, key = owner): Promise<Reply> =>
    app.request('PATCH', `/keys/${keyId}`, {
      headers: bearer(key, { 'content-type': 'application/json' }),
      body: JSON.stringify(body),
    });

  it('changes the name and the limit, each alone, at once [11.4i]', async () => {
    const { key, ...issued } = (await issue({ name: 'game', scopes: ['admin'] })).body;
    const named = await change(issued.keyId, { name: 'Game server, Europe' });
    expect([named.status, named.body]).toEqual([200, { ...issued, name: 'Game server, Europe' }]);
    const rateLimit = { limit: 7, windowSeconds: 60 };
    const limited = await change(issued.keyId, { rateLimit });
    expect(limited.body).toEqual({ ...issued, name: 'Game server, Europe', rateLimit });
    expect((await list(key)).headers.get('ratelimit-policy')).toContain('q=7');
    expect((await change(issued.keyId, { rateLimit: null })).body.rateLimit).toBeNull();
    expect((await list()).body).toContainEqual(
      expect.objectContaining({ name: 'Game server, Europe', revoked: false }),
    );
  });

  it('and POST /keys record nothing else that stands in a limit [11.4i, 1.2j]', async () => {
    const rateLimit = { limit: 7, windowSeconds: 60 };
    const more = { rateLimit: { ...rateLimit, note: 'x'.repeat(100) } };
    const { body } = await issue({ name: 'game', ...more });
    expect(body.rateLimit).toEqual(rateLimit);
    expect((await change(body.keyId, { name: 'Game', ...more })).body.rateLimit).toEqual(rateLimit);
    expect((await list()).body).toContainEqual(expect.objectContaining({ name: 'Game', rateLimit }));
  });

  it('refuses an unknown key, a revoked one, and an empty name [11.4i]', async () => {
    const { keyId } = (await issue({ name: 'game' })).body;
    expect((await change(keyId, { name: '' })).status).toBe(400);
    await revoke(keyId);
    for (const gone of [keyId, 'nobody']) {
      const { status, body } = await change(gone, { name: 'other' });
      expect([status, body.error.code]).toEqual([404, 'KEY_NOT_FOUND']);
    }
  });
});

describe('GET /keys', () => {
  it('lists revoked keys on request, by their names [11.4c]', async () => {
    const { keyId } = (await issue({ name: 'gone' })).body;
    await revoke(keyId);
    expect((await list()).body.map(({ name }: { name: string }) => name)).toEqual(['owner']);
    const all = (await list(owner, '?revoked=true')).body;
    type Listed = { name: string; revoked: boolean; revokedAt: string | null };
    expect(all.map(({ name, revoked, revokedAt }: Listed) => [name, revoked, revokedAt]).sort()).toEqual([
      ['gone', true, server.clock.now().toISOString()],
      ['owner', false, null],
    ]);
  });

  it('lists the keys without their secrets, with their last use [1.3h, 11.4c]', async () => {
    const game = await issue({ name: 'game' });
    const { status, body, text } = await list();
    expect(status).toBe(200);
    expect(body).toMatchObject([
      { name: 'owner', owner: true, lastUsedAt: server.clock.now().toISOString() },
      { name: 'game', owner: false, lastUsedAt: null, keyId: game.body.keyId },
    ]);
    for (const secret of [owner, game.body.key]) expect(text).not.toContain(String(secret).split('_')[3]);
    expect(text).not.toContain('hash');
  });

  it('pages on request', async () => {
    for (const name of ['a', 'b', 'c', 'd']) {
      await app.clock.advance(1_000);
      await issue({ name });
    }
    const names: string[] = [];
    let next: string | undefined = '?limit=2';
    while (next !== undefined) {
      const page: Reply = await list(owner, next);
      expect(page.body.length).toBeLessThanOrEqual(2);
      names.push(...page.body.map(({ name }: { name: string }) => name));
      next = /<\/keys(\?[^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
    }
    expect(names).toEqual(['owner', 'a', 'b', 'c', 'd']);
  });
});

describe('DELETE /keys/{keyId}', () => {
  it('revokes immediately with 204; a repeat is 404 [11.4d, 11.4e]', async () => {
    const { keyId, key } = (await issue({ name: 'admin', scopes: ['admin'] })).body;
    expect((await list(key)).status).toBe(200);
    const gone = await revoke(keyId);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await list(key)).status).toBe(401);
    const again = await revoke(keyId);
    expect([again.status, again.body.error.code]).toEqual([404, 'KEY_NOT_FOUND']);
  });

  it('keeps the last admin key with 409 [11.4d]', async () => {
    const answer = await revoke((await list()).body[0].keyId);
    expect([answer.status, answer.body.error.code]).toEqual([409, 'LAST_ADMIN_KEY']);
  });
});

describe('a key that only administers', () => {
  const change = (keyId: string, body: object, key: string) =>
    app.request('PATCH', `/keys/${keyId}`, {
      body: JSON.stringify(body),
      headers: bearer(key, { 'content-type': 'application/json' }),
    });

  it('can neither change nor revoke a key that may do more [11.4o]', async () => {
    const weak = (await issue({ name: 'weak', scopes: ['admin'] })).body;
    const [{ keyId }] = (await list()).body as readonly [{ keyId: string }];
    for (const answer of [
      await change(keyId, { rateLimit: { limit: 1, windowSeconds: 86_400 } }, weak.key),
      await revoke(keyId, weak.key),
    ]) {
      expect([answer.status, answer.body.error?.code]).toEqual([403, 'FORBIDDEN']);
      expect(answer.body.error.message).toContain('only change or revoke keys whose scopes it has');
    }
    expect((await list()).status).toBe(200);
    expect((await change(weak.keyId, { name: 'itself' }, weak.key)).status).toBe(200);
  });

  it.each([
    { scopes: ['read'] },
    { set: 'viewer' },
    { expiresAt: '2031-01-01T00:00:00Z' },
    { revoked: true },
    { name: ' ' },
  ])('is not changed by what cannot change: %j [11.4i]', async (body) => {
    const { keyId } = (await issue({ name: 'press', scopes: ['read', 'audit'] })).body;
    const { status } = await change(keyId, body, owner);
    expect(status).toBe('name' in body ? 400 : 422);
  });
});

describe('GET /keys', () => {
  it('is allowed for an auditor, who may change nothing [11.4c]', async () => {
    const { key, keyId } = (await issue({ name: 'auditor', scopes: ['audit'] })).body;
    const { status, body } = await list(key, '?revoked=true');
    expect([status, body.length]).toEqual([200, 2]);
    expect(JSON.stringify(body)).not.toContain('am_live_');
    expect((await revoke(keyId, key)).status).toBe(403);
  });
});

describe('POST /tenants', () => {
  const create = (body: object, headers: Record<string, string> = bearer(owner)) =>
    app.post('/tenants', body as never, headers);

  it('makes a tenant whose owner key has no access to other tenants [1.3j, 11.4f]', async () => {
    const { status, body } = await create({ tenantId: 'studio', tier: 'pro' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ tenantId: 'studio', tier: 'pro' });
    const mine = await list(body.key);
    expect(mine.body).toMatchObject([{ keyId: body.keyId, scopes: [...scopes], owner: true }]);
    expect((await revoke((await list()).body[0].keyId, body.key)).status).toBe(404);
  });

  it('answers 409 when the tenant exists, and 400 for an illegal id [1.6d, 11.4f]', async () => {
    expect((await create({ tenantId: 'studio' })).body.tier).toBe('free');
    const again = await create({ tenantId: 'studio' });
    expect([again.status, again.body.error.code]).toEqual([409, 'TENANT_EXISTS']);
    for (const tenantId of ['', 'Studio', 'a.b', 'x'.repeat(65), 'a/b']) {
      expect((await create({ tenantId })).status).toBe(400);
    }
    expect((await create({ tenantId: 'other', tier: 'gold' })).status).toBe(400);
    for (const tenantId of ['0', `a_-${'z'.repeat(61)}`]) expect((await create({ tenantId })).status).toBe(201);
  });

  it('answers 403 to every key except an owner key of local, before it reads the body [11.4f]', async () => {
    const studio = (await create({ tenantId: 'studio' })).body.key;
    const admin = (await issue({ name: 'admin', scopes: ['admin'] })).body.key;
    for (const key of [studio, admin]) {
      const answer = await create({ tenantId: '' }, bearer(key));
      expect([answer.status, answer.body.error.code]).toEqual([403, 'FORBIDDEN']);
    }
  });

  it('shows no key when it is repeated under an Idempotency-Key [1.7j]', async () => {
    const headers = bearer(owner, { 'idempotency-key': 'once' });
    const first = await create({ tenantId: 'studio' }, headers);
    const repeat = await create({ tenantId: 'studio' }, headers);
    const { key, ...rest } = first.body;
    expect(key).toMatch(/^am_live_/);
    expect([repeat.status, repeat.body]).toEqual([201, rest]);
  });
});

describe('an invalid key', () => {
  it('gets 401 with the same body, whatever is wrong with it [1.3a]', async () => {
    const { key, keyId } = (await issue({ name: 'gone' })).body;
    const expiring = (await issue({ name: 'short', expiresAt: new Date(server.clock.now().getTime() + 1_000) })).body
      .key;
    await revoke(keyId);
    await app.clock.advance(2_000);
    const headers = [
      'Bearer',
      `Basic ${owner}`,
      `Bearer ${owner}x`,
      `Bearer ${String(key)}`,
      `Bearer ${String(expiring)}`,
    ];
    const answers = await Promise.all(headers.map((authorization) => app.get('/keys', { authorization })));
    const bodies = answers.map(({ body }) => ({ ...body.error, requestId: '' }));
    for (const { status, headers: sent } of answers)
      expect([status, sent.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
  });
});
