import { connect } from 'node:net';

import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Api, patientApiOf, codeOf, type Reply } from '../support/api.js';
import { scopes } from '../../src/kernel/base/scopes.js';
import type { OpenServer, ServerUnderTest } from './server-under-test.js';

/** Sends a body unchanged, without parsing it as JSON. */
const sendRaw = async (
  url: string,
  key: string,
  path: string,
  body: string | Buffer,
  type = 'application/json',
): Promise<Reply> => {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': type },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as unknown };
};

/** What the server refuses on its real routes: the same on every profile. */
export const refusalScenarios = (profile: string, open: OpenServer): void => {
  describe(`refusals on ${profile}`, () => {
    let server: ServerUnderTest;
    let api: Api;
    let anonymous: Api;
    beforeAll(async () => {
      server = await open();
      api = patientApiOf(server.url, server.ownerKey);
      anonymous = patientApiOf(server.url, undefined);
    });
    afterAll(async () => {
      await server[Symbol.asyncDispose]();
    });

    const keyWith = async (members: object): Promise<{ key: string; keyId: string }> => {
      const made = await api.post('/keys', { name: 'test', ...members });
      expect(made.status, made.text).toBe(201);
      return made.body as { key: string; keyId: string };
    };

    it('gives the same response to every rejected key: missing, malformed, unknown, revoked, expired [1.3a]', async () => {
      const revoked = await keyWith({});
      expect((await api('DELETE', `/keys/${revoked.keyId}`)).status).toBe(204);
      expect(codeOf(await api('DELETE', `/keys/${revoked.keyId}`))).toBe('KEY_NOT_FOUND');
      const expired = await keyWith({ expiresAt: new Date(Date.now() + 400).toISOString() });
      await new Promise((resolve) => setTimeout(resolve, 600));
      const unknown = `${revoked.key.slice(0, -1)}${revoked.key.endsWith('A') ? 'B' : 'A'}`;
      const bodies = new Set<string>();
      for (const header of [
        undefined,
        'Bearer',
        'Basic abc',
        'Bearer nonsense',
        ...[unknown, revoked.key, expired.key].map((key) => `Bearer ${key}`),
      ]) {
        const reply = await anonymous.get('/npcs', header === undefined ? {} : { authorization: header });
        expect(reply.status, header).toBe(401);
        expect(reply.headers.get('www-authenticate')).toBe('Bearer');
        const { error } = reply.body as { error: { code: string; message: string; details: object } };
        bodies.add(JSON.stringify([error.code, error.message, error.details]));
      }
      expect(bodies.size).toBe(1);
    });

    it('needs no key where none is required, and ignores a bad one there [1.3b, 1.3e]', async () => {
      // A process is ready once its worker accepts tasks, which may be a moment after it listens.
      await expect.poll(async () => (await anonymous.get('/readyz')).status, { timeout: 30_000 }).toBe(200);
      for (const path of [
        '/status',
        '/livez',
        '/readyz',
        '/openapi.json',
        '/docs',
        '/docs/docs.css',
        '/.well-known/jwks.json',
        '/metrics',
      ]) {
        expect((await anonymous.get(path)).status, path).toBe(200);
        expect((await anonymous.get(path, { authorization: 'Bearer bad' })).status, path).toBe(200);
      }
      expect((await anonymous.get('/metrics', { 'x-forwarded-for': '10.0.0.1' })).status).toBe(401);
    });

    it('names the type that a result may have meant, and keeps the turn waiting [2.6m]', async () => {
      const api = patientApiOf(server.url, server.ownerKey);
      const path = '/npcs/misspelt/process';
      const { body } = await api.post(path, { tape: { observation: 'Who is there?' } });
      const { tape } = body as { tape: object };
      const actor = { npcId: 'misspelt' };
      for (const [type, warning] of [
        ['identifyActorResult', 'result-type-unknown; meant="IdentifyActorResult"'],
        ['Weather', null],
        ['IdentifyActorResult', null],
      ] as const) {
        const reply = await api.post(path, { tape, lastResult: { type, actor } });
        expect([reply.status, reply.headers.get('anima-warning')], type).toEqual([200, warning]);
        const next = warning === null && type !== 'Weather' ? 'QueryVector' : 'IdentifyActor';
        expect((reply.body as { instruction: { type: string } }).instruction.type).toBe(next);
      }
    });

    it('answers an unknown path with 404 and a wrong method with 405, also without a key [1.3c]', async () => {
      expect(codeOf(await anonymous.get('/nowhere'))).toBe('NOT_FOUND');
      const wrong = await anonymous('PUT', '/npcs');
      expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, expect.stringContaining('POST')]);
    });

    it('refuses a missing scope with 403: detailed everywhere, a message only on POST /rules [1.3i, 1.5e, 11.4g]', async () => {
      const { key } = await keyWith({ scopes: ['npc'] });
      const poor = patientApiOf(server.url, key);
      expect(codeOf(await poor.get('/npcs/x/history'))).toBe('FORBIDDEN');
      const rules = await poor.post('/rules', {});
      expect([rules.status, typeof (rules.body as { error: unknown }).error]).toEqual([403, 'string']);
      expect(codeOf(await poor.post('/keys', { name: 'more' }))).toBe('FORBIDDEN');
    });

    it('never lets a key grant scopes that it lacks, and lists no key itself [11.4b, 11.4c]', async () => {
      const { key } = await keyWith({ scopes: ['admin'] });
      const admin = patientApiOf(server.url, key);
      expect((await admin.post('/keys', { name: 'wider', scopes: ['admin', 'ops'] })).status).toBe(403);
      const listed = (await admin.get('/keys')).body as { keyId: string; scopes: string[] }[];
      const admins = listed.filter(({ scopes }) => scopes.includes('admin')).map(({ keyId }) => keyId);
      expect(admins.length).toBeGreaterThan(1);
      expect(JSON.stringify(listed)).not.toContain(key);
    });

    it('never lets an expiring admin key revoke the last one that does not expire [11.4d]', async () => {
      const made = await api.post('/tenants', { tenantId: 'lasting' });
      expect(made.status, made.text).toBe(201);
      const tenant = made.body as { key: string; keyId: string };
      const owner = patientApiOf(server.url, tenant.key);
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      const wish = { name: 'second', scopes: [...scopes], expiresAt };
      const issued = await owner.post('/keys', wish);
      expect(issued.status, issued.text).toBe(201);
      const second = patientApiOf(server.url, (issued.body as { key: string }).key);
      expect(codeOf(await second('DELETE', `/keys/${tenant.keyId}`))).toBe('LAST_ADMIN_KEY');
      await second.post('/keys', { name: 'third', scopes: ['admin'] });
      expect(codeOf(await second('DELETE', `/keys/${tenant.keyId}`))).toBe('LAST_ADMIN_KEY');
      await second.post('/keys', { name: 'fourth', scopes: [...scopes] });
      expect((await second('DELETE', `/keys/${tenant.keyId}`)).status).toBe(204);
    });

    it('limits a key: RateLimit headers count down, 429 says when to retry, refused requests do not count [1.4a, 1.4b, 1.4c, 1.4d]', async () => {
      const { key } = await keyWith({ rateLimit: { limit: 2, windowSeconds: 60 } });
      const limited = patientApiOf(server.url, key);
      const replies = [await limited.get('/npcs'), await limited.get('/npcs'), await limited.get('/npcs')];
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 429]);
      expect(replies[0]?.headers.get('ratelimit-policy')).toBe('"default";q=2;w=60');
      expect(replies[0]?.headers.get('ratelimit')).toMatch(/^"default";r=1;t=\d+$/);
      expect(codeOf(replies[2] as Reply)).toBe('RATE_LIMITED');
      expect(Number(replies[2]?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await api.get('/npcs')).headers.get('ratelimit')).toBeNull();
    });

    it.each([
      ['malformed JSON', '{"tape": '],
      ['a __proto__ member', '{"tape": {"observation": "x", "context": {"__proto__": {"admin": true}}}}'],
      ['an escaped __proto__ member', '{"tape": {"observation": "x", "context": {"\\u005f_proto__": 1}}}'],
      ['nesting deeper than 32', `{"tape": {"observation": "x", "context": ${'['.repeat(40)}${']'.repeat(40)}}}`],
      [
        'invalid UTF-8',
        Buffer.concat([Buffer.from('{"tape": {"observation": "'), Buffer.from([0xff, 0xfe]), Buffer.from('"}}')]),
      ],
      ['half a surrogate pair', '{"tape": {"observation": "\\ud800"}}'],
      ['a number beyond all bounds', '{"tape": {"observation": "x", "context": 1e999}}'],
    ])('refuses %s with 400 and records nothing [1.2c]', async (_, body) => {
      const reply = await sendRaw(server.url, server.ownerKey, '/npcs/hostile/process', body);
      expect([reply.status, codeOf(reply)]).toEqual([400, 'MALFORMED_JSON']);
      expect((await api.get('/npcs/hostile')).status).toBe(404);
    });

    it('treats constructor and prototype as ordinary data [1.2e]', async () => {
      const data = { constructor: { prototype: { polluted: true } }, prototype: 1 };
      expect((await api.post('/npcs', { npcId: 'plain', data })).body).toMatchObject({ data });
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    });

    it('lists every problem of a schema with its pointer [1.5d]', async () => {
      const reply = await api.post('/npcs/x/process', {
        tape: { observation: 1, npcState: [], memories: [{ type: 'x' }] },
      });
      expect([reply.status, codeOf(reply)]).toEqual([400, 'SCHEMA_INVALID']);
      const { issues } = (reply.body as { error: { details: { issues: { pointer: string }[] } } }).error.details;
      expect(issues.map(({ pointer }) => pointer)).toEqual(
        expect.arrayContaining(['/tape/observation', '/tape/npcState', '/tape/memories/0/text']),
      );
    });

    it('refuses a known result with a malformed body, but not one of an unknown type [2.6l]', async () => {
      const tape = { observation: 'x' };
      expect(
        codeOf(
          await api.post('/npcs/x1/process', { tape, lastResult: { type: 'QueryVectorResult', memories: 'none' } }),
        ),
      ).toBe('SCHEMA_INVALID');
      expect(
        (await api.post('/npcs/x1/process', { tape, lastResult: { type: 'SmellResult', smell: 'roses' } })).status,
      ).toBe(200);
    });

    it('treats null as absent and ignores unknown members [1.2j, 1.2n]', async () => {
      const tape = {
        observation: 'x',
        npcState: null,
        persona: null,
        actor: null,
        memories: null,
        generatedOutput: null,
        rulesetId: null,
        vectorQueried: null,
        turnId: null,
      };
      const reply = await api.post('/npcs/x2/process', { tape, lastResult: null, unknown: { is: 'ignored' } });
      expect(reply.body).toMatchObject({
        instruction: { type: 'IdentifyActor' },
        tape: { npcState: {}, memories: [], vectorQueried: false },
      });
    });

    it('accepts both an empty body and {} if nothing is required [1.2i, 2.7a, 2.7b, 2.7c]', async () => {
      for (const body of [undefined, {}, { rulesetId: null }]) {
        expect((await api.post('/npcs/x3/directive', body)).body).toMatchObject({
          memoryRecall: { query: '', limit: 5, threshold: 0.5 },
        });
        expect((await api.post('/npcs/x3/context', body)).body).toMatchObject({
          prompt: expect.any(String) as string,
          ctxMessages: null,
        });
        // A verdict needs the text of the model.
        expect(codeOf(await api.post('/npcs/x3/verdict', body))).toBe('SCHEMA_INVALID');
        expect((await api.post('/npcs/x3/verdict', { ...body, generatedOutput: 'Hm.' })).body).toMatchObject({
          valid: true,
        });
      }
    });

    it.each(['%2F', 'a%2Fb', '.', '%2E%2E', '%', '%00', '%20lead', 'e%CC%81', 'x'.repeat(129)])(
      'refuses the id %s with 400 [1.6b]',
      async (id) => {
        // `fetch` would normalise the path before sending it.
        const { port } = new URL(server.url);
        const text = await new Promise<string>((resolve, reject) => {
          const socket = connect(Number(port), '127.0.0.1');
          let answer = '';
          socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
          socket.on('close', () => resolve(answer)).on('error', reject);
          socket.write(
            `GET /npcs/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.ownerKey}\r\nConnection: close\r\n\r\n`,
          );
        });
        expect(text).toMatch(/^HTTP\/1\.1 400 /);
        expect(text).toContain('ID_INVALID');
      },
    );

    it('accepts every printable id, and keeps similar ids distinct [1.6a]', async () => {
      for (const npcId of ['Ünï cødé', '日本', 'a=b', 'a.b', 'a~b', '100%', 'npc:1', 'constructor']) {
        const made = await api.post('/npcs', { npcId, persona: npcId });
        expect(made.body).toMatchObject({ npcId, created: true });
        expect((await api.get(`/npcs/${encodeURIComponent(npcId)}`)).body).toMatchObject({ npcId, persona: npcId });
      }
    });

    it('refuses the same ids for agents, rule sets and levels [1.6a, 1.6b]', async () => {
      for (const id of ['a%2Fb', '%00', 'e%CC%81', 'x'.repeat(129)]) {
        for (const [method, path, body] of [
          ['POST', `/v1/agents/${id}/process`, { input: 'Hello.' }],
          ['GET', `/rules/${id}`, undefined],
          ['PUT', `/levels/${id}`, {}],
        ] as const) {
          expect([path, codeOf(await api(method, path, body))]).toEqual([path, 'ID_INVALID']);
        }
      }
      expect(codeOf(await api.post('/rules', { rulesetId: 'a/b' }))).toBe('ID_INVALID');
      expect((await api.post('/rules', { rulesetId: '日本 1' })).body).toMatchObject({ rulesetId: '日本 1' });
      expect((await api.get(`/rules/${encodeURIComponent('日本 1')}`)).status).toBe(200);
    });

    it('creates a mind by the first act of any kind [1.6f]', async () => {
      const card = { name: 'Bo', description: '', personality: '', scenario: '', first_mes: '', mes_example: '' };
      const acts = [
        ['/npcs/actor-1/process', { tape: { observation: 'x' } }],
        ['/npcs/actor-2/directive', { observation: 'x' }],
        ['/npcs/actor-3/context', { observation: 'x' }],
        ['/npcs/actor-4/verdict', { generatedOutput: 'Hm.' }],
        ['/npcs/actor-5/memory', { text: 'x' }],
        ['/npcs/actor-6/memory/recall', { query: 'x', memories: [{ text: 'x' }] }],
        ['/npcs/actor-7/soul/export', { persona: 'A stranger.' }],
        ['/npcs/actor-8/card', card],
        ['/v1/agents/actor-9/process', { input: 'Hello.' }],
      ] as const;
      for (const [at, [path, body]] of acts.entries()) {
        const npc = `/npcs/actor-${String(at + 1)}`;
        expect([path, (await api.get(npc)).status]).toEqual([path, 404]);
        const reply = await api.post(path, body);
        expect([path, reply.status], reply.text).toEqual([path, 200]);
        expect([path, (await api.get(npc)).status]).toEqual([path, 200]);
      }
    });

    it('answers 404 when an unknown NPC is read [1.6h]', async () => {
      for (const path of ['', '/history', '/state', '/turns', '/turns/t1', '/events']) {
        expect((await api.get(`/npcs/never-seen${path}`)).status, path).toBe(404);
      }
      for (const path of ['/npcs/never-seen/replays', '/v1/agents/never-seen/soul/export']) {
        const reply = await api.post(path, {});
        expect([reply.status, codeOf(reply)], path).toEqual([404, 'NPC_NOT_FOUND']);
      }
    });

    it('generates ids from letters, digits, "_" and "-" only, and timestamps in UTC with milliseconds [1.6e, 1.10a]', async () => {
      const { keyId } = await keyWith({});
      const step = await api.post('/npcs/clockwork/process', { tape: { observation: 'What time is it?' } });
      const { turnId } = (step.body as { tape: { turnId: string } }).tape;
      const requestId = String((await api.get('/status')).headers.get('x-request-id'));
      const memory = (await api.post('/npcs/clockwork/memory', { text: 'It is noon.' })).body as { id: string };
      const rules = (await api.post('/rules', {})).body as { rulesetId: string };
      const ghost = (await api.post('/v1/ghost/run', { goal: 'collect_metrics', steps: 1 })).body as { id: string };
      const replay = (await api.post('/npcs/clockwork/replays', {})).body as { replayId: string };
      const told = (await api.get('/npcs/clockwork/history')).body as { events: { id: string }[] };
      const made = [memory.id, rules.rulesetId, ghost.id, replay.replayId, ...told.events.map(({ id }) => id)];
      for (const id of [keyId, turnId, requestId, ...made]) expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
      const { updatedAt } = (await api.get('/npcs/clockwork')).body as { updatedAt: string };
      const { events } = (await api.get('/npcs/clockwork/history')).body as { events: { at: string }[] };
      for (const at of [updatedAt, ...events.map((event) => event.at)]) {
        expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      }
    });

    it('prefers npcId to id, and refuses a registration with neither [2.1b]', async () => {
      expect((await api.post('/npcs', { npcId: 'one', id: 'other', initialState: { hp: 1 } })).body).toMatchObject({
        npcId: 'one',
        data: { hp: 1 },
      });
      expect((await api.get('/npcs/other')).status).toBe(404);
      const reply = await api.post('/npcs', { persona: 'Without an id.' });
      expect([reply.status, codeOf(reply)]).toEqual([400, 'SCHEMA_INVALID']);
    });

    it('parses JSON inside a string as strictly as a body [1.2h]', async () => {
      for (const jsonData of ['{"hp": ', '{"hp": 1, "hp": 2}', '{"__proto__": {}}']) {
        const reply = await api.post('/npcs', { npcId: 'inner', initialState: { jsonData } });
        expect([reply.status, codeOf(reply)], jsonData).toEqual([400, 'MALFORMED_JSON']);
      }
    });

    it('refuses a body that is too large with 413 and one that is not JSON with 415 [1.2q]', async () => {
      const large = await sendRaw(
        server.url,
        server.ownerKey,
        '/npcs',
        `{"npcId": "big", "persona": "${'x'.repeat(1024 * 1024)}"}`,
      );
      expect([large.status, codeOf(large)]).toEqual([413, 'BODY_TOO_LARGE']);
      const text = await sendRaw(server.url, server.ownerKey, '/npcs', 'npcId=1', 'text/plain');
      expect([text.status, codeOf(text)]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
      const parameters = await sendRaw(
        server.url,
        server.ownerKey,
        '/npcs',
        '{"npcId": "typed"}',
        'application/json; charset=utf-8',
      );
      expect(parameters.status).toBe(200);
    });

    it('refuses a request that would exceed one write before anything is recorded [1.2x]', async () => {
      const context = { filler: 'y'.repeat(1_000_500) };
      const reply = await api.post('/npcs/heavy/process', { tape: { observation: 'x', context } });
      expect([reply.status, codeOf(reply)]).toEqual([413, 'EVENTS_TOO_LARGE']);
      expect((await api.get('/npcs/heavy')).status).toBe(404);
    });

    it.each(['/bridge/validate', '/bridge/validate/nobody'])(
      'refuses to check what could not be recorded, even if nothing would be: %s',
      async (path) => {
        const context = { npcState: { filler: 'y'.repeat(600_000) } };
        const reply = await api.post(path, { action: { type: 'WAVE' }, context });
        expect([reply.status, codeOf(reply)]).toEqual([413, 'EVENTS_TOO_LARGE']);
      },
    );

    it('returns the same response, marked, to a repeat with an Idempotency-Key, and 422 to another body [1.7b, 1.7c, 1.7e, 1.7j]', async () => {
      const once = { 'idempotency-key': 'turn-1' };
      const body = { tape: { observation: 'Only once.' } };
      const first = await api.post('/npcs/once/process', body, once);
      const again = await api.post('/npcs/once/process', { tape: { observation: 'Only once.' } }, once);
      expect(again.text).toBe(first.text);
      expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
        null,
        'true',
      ]);
      expect(codeOf(await api.post('/npcs/once/process', { tape: { observation: 'Other.' } }, once))).toBe(
        'IDEMPOTENCY_KEY_REUSED',
      );
      const elsewhere = await api.post('/npcs/twice/process', body, once);
      expect(elsewhere.headers.get('idempotency-replayed')).toBeNull();
      expect(((await api.get('/npcs/once/history')).body as { events: unknown[] }).events).toHaveLength(1);
      const keys = { 'idempotency-key': 'key-1' };
      expect((await api.post('/keys', { name: 'shown once' }, keys)).body).toHaveProperty('key');
      expect((await api.post('/keys', { name: 'shown once' }, keys)).body).not.toHaveProperty('key');
    });

    it('runs a recall, a check of an action and a verification again instead of repeating their responses [1.7l]', async () => {
      await api.post('/npcs', { npcId: 'asked' });
      for (const [path, body] of [
        ['/npcs/asked/memory/recall', { query: 'the old gate' }],
        ['/bridge/validate', { action: { type: 'WAVE' } }],
        ['/verdicts/verify', { npcId: 'asked', signature: 'x.y.z', verdict: {} }],
      ] as const) {
        for (let times = 0; times < 2; times += 1) {
          const reply = await api.post(path, body, { 'idempotency-key': 'asked-twice' });
          expect([reply.status, reply.headers.get('idempotency-replayed')], path).toEqual([200, null]);
        }
      }
    });

    it('waits for the revision that a read requests, and answers 503 when it does not arrive [1.8a, 1.8c]', async () => {
      await api.post('/npcs', { npcId: 'reader', persona: 'x' });
      const read = await api.get('/npcs/reader', { 'anima-min-revision': '0' });
      expect([read.status, read.headers.get('anima-revision')]).toEqual([200, '0']);
      for (const path of ['/npcs/reader', '/npcs/reader/history', '/npcs/reader/turns']) {
        const behind = await api.get(path, { 'anima-min-revision': '99' });
        expect([behind.status, codeOf(behind), behind.headers.get('retry-after')], path).toEqual([
          503,
          'READ_MODEL_BEHIND',
          '1',
        ]);
      }
      expect(codeOf(await api.get('/npcs/reader', { 'anima-min-revision': 'soon' }))).toBe('HEADER_INVALID');
    });

    it('gives every response a request id, keeps one that was sent, and includes it in errors [1.5g]', async () => {
      const named = await api.get('/nowhere', { 'x-request-id': 'my-id' });
      expect(named.headers.get('x-request-id')).toBe('my-id');
      expect((named.body as { error: { requestId: string } }).error.requestId).toBe('my-id');
      expect((await api.get('/status')).headers.get('x-request-id')).toBeTruthy();
    });

    it('documents every route in OpenAPI, and every error code on the docs page [1.5b, 10.9a, 10.9b]', async () => {
      const document = (await anonymous.get('/openapi.json')).body as {
        openapi: string;
        paths: Record<string, unknown>;
      };
      expect(document.openapi).toMatch(/^3\.1/);
      for (const path of [
        '/npcs',
        '/npcs/{npcId}/process',
        '/rules',
        '/bridge/validate/{npcId}',
        '/npcs/{npcId}/events',
        '/keys',
        '/verdicts/verify',
      ]) {
        expect(Object.keys(document.paths)).toContain(path);
      }
      expect((await anonymous.get('/docs')).text).toContain('href="/docs/errors"');
      const page = (await anonymous.get('/docs/errors')).text;
      for (const code of ['SCHEMA_INVALID', 'IDEMPOTENCY_KEY_REUSED', 'READ_MODEL_BEHIND', 'STORE_FULL'])
        expect(page).toContain(code);
    });

    it('ends event streams of a revoked key, and allows sixteen of them [10.1l]', async () => {
      await api.post('/npcs', { npcId: 'watched', persona: 'x' });
      const { key, keyId } = await keyWith({ scopes: ['audit'] });
      const streams = await Promise.all(
        Array.from({ length: 16 }, () =>
          fetch(`${server.url}/npcs/watched/events`, { headers: { authorization: `Bearer ${key}` } }),
        ),
      );
      expect(streams.every(({ status }) => status === 200)).toBe(true);
      expect(codeOf(await patientApiOf(server.url, key).get('/npcs/watched/events'))).toBe('TOO_MANY_STREAMS');
      expect((await api('DELETE', `/keys/${keyId}`)).status).toBe(204);
      for (const stream of streams) expect(await stream.text()).toContain('id: 0');
    });
  });

  describe(`settings on ${profile}`, () => {
    it('never log keys or the personas of clients, even at the highest log level [2.1d]', async () => {
      await using server = await open({ LOG_LEVEL: 'debug' });
      const api = patientApiOf(server.url, server.ownerKey);
      const client = { apiKey: 'a client secret', apiUrl: 'http://client.secret' };
      await api.post('/npcs', { npcId: 'quiet', persona: 'a private persona', ...client });
      for (const sent of ['a client secret', 'http://client.secret', 'a private persona'])
        expect(server.output).not.toContain(sent);
      expect(server.output.length).toBeGreaterThan(0);
      expect(server.output).not.toContain(server.ownerKey);
    });

    it('name the issuer and the algorithm in the signatures of verdicts [2.9b, 2.9c]', async () => {
      await using server = await open({
        ANIMA_PUBLIC_URL: 'https://minds.example/base/',
        ANIMA_JWS_ALG: 'Ed25519',
      });
      const api = patientApiOf(server.url, server.ownerKey);
      const { body: verdict } = await api.post('/npcs/signed/verdict', { generatedOutput: 'Hm.' });
      const signature = String(verdict.signature);
      const issued = { iss: 'https://minds.example/base', sub: 'signed', jti: verdict.turnId as string };
      expect(decodeJwt(signature)).toMatchObject(issued);
      expect(decodeProtectedHeader(signature)).toMatchObject({ alg: 'Ed25519', typ: 'verdict+jwt' });
      expect((await api.post('/verdicts/verify', { npcId: 'signed', signature, verdict })).body.valid).toBe(true);
    });

    it('close only POST /rules when registration is off [1.5e, 5.1i]', async () => {
      await using server = await open({ ANIMA_RULES_REGISTRATION: 'off' });
      const api = patientApiOf(server.url, server.ownerKey);
      const refused = await api.post('/rules', {});
      expect([refused.status, Object.keys(refused.body as object)]).toEqual([403, ['error']]);
      expect(typeof (refused.body as { error: unknown }).error).toBe('string');
      expect((await api.post('/rules/presets/rpg')).status).toBe(200);
    });

    it('expire turns by durable timers that survive a restart, late ones immediately [2.6b]', async () => {
      await using server = await open({ ANIMA_TURN_DEADLINE_MS: '1500' });
      const api = patientApiOf(server.url, server.ownerKey);
      await api.post('/npcs/slow/process', { tape: { observation: 'Wait for me.' } });
      await server.restart('kill');
      const after = patientApiOf(server.url, server.ownerKey);
      const types = async () =>
        ((await after.get('/npcs/slow/history')).body as { events: { type: string }[] }).events.map(({ type }) => type);
      for (let tries = 0; tries < 200 && !(await types()).includes('TurnExpired'); tries += 1) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      expect(await types()).toEqual(['TurnOpened', 'TurnExpired']);
    });
  });
};
