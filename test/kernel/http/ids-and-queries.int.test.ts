import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startApp, type TestApp } from '../../support/http.js';
import { echoRoute, looseRoute, runRoute } from './fake-routes.js';

const ours = runRoute(({ params }) => ({ body: { params } }), {
  operationId: 'turn',
  method: 'GET',
  path: '/turns/:turnId/rounds/:round',
});
const preset = runRoute(() => ({ body: { which: 'fixed' } }), {
  operationId: 'presets',
  method: 'GET',
  path: '/rules/presets',
});
const ruleset = runRoute(({ params }) => ({ body: { which: params } }), {
  operationId: 'ruleset',
  method: 'GET',
  path: '/rules/:rulesetId',
});

describe('an id in the path', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp([echoRoute, looseRoute, ours, ruleset, preset]);
  });
  afterAll(() => app.stop());

  const idOf = async (segment: string) => {
    const reply = await app.raw(
      Buffer.concat([
        Buffer.from(
          `POST /npcs/${segment}/echo HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n`,
        ),
        Buffer.from('Content-Length: 12\r\nConnection: close\r\n\r\n{"text":"a"}'),
      ]),
    );
    const body = JSON.parse(reply.slice(reply.indexOf('\r\n\r\n') + 4));
    return body.error?.code ?? body.params.npcId;
  };

  it.each([
    ['mira', 'mira'],
    ['inner%20space', 'inner space'],
    ['a%252Fb', 'a%2Fb'],
    ['%C3%A4', 'ä'],
    ['a+b', 'a+b'],
    ['a.b..c', 'a.b..c'],
    ['constructor', 'constructor'],
    ['__proto__', '__proto__'],
  ])('%s is decoded once [1.6a]', async (segment, id) => {
    expect(await idOf(segment)).toBe(id);
  });

  it.each([
    'a%2Fb',
    'a%2fb',
    '.',
    '..',
    '%2e%2e',
    '%',
    'a%zz',
    '%C3',
    '%00',
    'a%0Ab',
    '%20a',
    'A%CC%88',
    '%ED%A0%80',
    'x'.repeat(129),
  ])('%s is refused [1.6b]', async (segment) => {
    expect(await idOf(segment)).toBe('ID_INVALID');
  });

  it('that has no character at all is an unknown path', async () => {
    expect((await app.post('/npcs//echo', { text: 'a' })).status).toBe(404);
  });

  it('that the server gave out is decoded once too, and refused when it is broken', async () => {
    expect((await app.get('/turns/t%31/rounds/1')).body.params).toEqual({ turnId: 't1', round: '1' });
    for (const id of ['%zz', 'a%2Fb', '%00']) {
      const { status, body } = await app.get(`/turns/${id}/rounds/1`);
      expect([status, body.error.code, body.error.details]).toEqual([400, 'ID_INVALID', { parameter: 'turnId' }]);
    }
  });

  it('gives way to a fixed path', async () => {
    expect((await app.get('/rules/presets')).body).toEqual({ which: 'fixed' });
    expect((await app.get('/rules/other')).body).toEqual({ which: { rulesetId: 'other' } });
  });

  it('in a body is refused with the same code [1.6b]', async () => {
    const { status, body } = await app.post('/loose', { npcId: 'a/b' });
    expect([status, body.error.code]).toEqual([400, 'ID_INVALID']);
    expect(body.error.details.issues[0].pointer).toBe('/npcId');
    expect((await app.post('/loose', { npcId: 7 })).body.error.code).toBe('SCHEMA_INVALID');
  });
});

describe('a query', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp([echoRoute]);
  });
  afterAll(() => app.stop());

  const query = async (text: string) => (await app.post(`/npcs/mira/echo${text}`, { text: 'a' })).body;

  it('gives numbers and truth values', async () => {
    expect((await query('?limit=7&deep=true')).query).toEqual({ limit: 7, deep: true });
    expect((await query('')).query).toEqual({});
  });

  it('may hold unknown parameters [1.2j]', async () => {
    expect((await query('?other=1&__proto__=2&limit=3')).query).toEqual({ limit: 3 });
  });

  it.each(['?limit=', '?limit=1.5', '?limit=0x10', '?limit=%201', '?limit=1e3', '?limit=0', '?deep=1', '?deep='])(
    'is refused as %s',
    async (text) => {
      expect((await query(text)).error.code).toBe('SCHEMA_INVALID');
    },
  );

  it('gives the last whole number that can be counted for a larger one', async () => {
    expect((await query('?limit=99999999999999999999')).query).toEqual({ limit: Number.MAX_SAFE_INTEGER });
    expect((await query('?limit=9007199254740992')).query).toEqual({ limit: Number.MAX_SAFE_INTEGER });
    expect((await query('?limit=9007199254740990')).query).toEqual({ limit: 9007199254740990 });
  });

  it('is refused when it gives a parameter twice, however often and beside other problems [1.2k]', async () => {
    const twice = { in: 'query', pointer: '/limit', message: 'is given more than once' };
    for (const text of ['?limit=1&limit=2', '?limit=2&limit=2', '?limit=1&limit=2&limit=3']) {
      const { code, details } = (await query(text)).error;
      expect([code, details.issues]).toEqual(['SCHEMA_INVALID', [twice]]);
    }
    const issues = (await query('?limit=1&limit=x')).error.details.issues;
    expect(issues).toEqual([twice, { in: 'query', pointer: '/limit', message: 'must be an integer' }]);
    expect((await query('?other=1&other=2&limit=3')).query).toEqual({ limit: 3 });
  });
});
