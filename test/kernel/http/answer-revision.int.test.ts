import { Type } from '@sinclair/typebox';
import { afterEach, describe, expect, it } from 'vitest';

import { route } from '../../../src/kernel/http/route.js';
import { startApp, testPrincipal, type TestApp } from '../../support/http.js';

let app: TestApp;
afterEach(() => app.stop());

/** The revision that each POST reports as written, and the one that each GET gets. */
const serve = async () => {
  const place = { revision: 0, position: 0 };
  const common = { tag: 'Test', summary: 'Test', scope: 'npc', responses: { 200: { description: 'Test.' } } } as const;
  app = await startApp(
    [
      route('POST', '/write', {
        ...common,
        operationId: 'write',
        body: Type.Object({}),
        handler: () => ({ ...place, headers: { 'Anima-Warning': 'kept' }, body: {} }),
      }),
      route('GET', '/list', {
        ...common,
        operationId: 'list',
        handler: ({ wrote }) => ({ body: { wrote } }),
      }),
    ],
    { keys: { good: testPrincipal(), other: testPrincipal({ keyId: 'k2' }) } },
  );
  return place;
};

describe('a response with a revision', () => {
  it('carries its revision as Anima-Revision beside its own headers, if it has one [1.8a]', async () => {
    const place = await serve();
    place.revision = 41;
    const { headers } = await app.post('/write', {});
    expect([headers.get('anima-revision'), headers.get('anima-warning')]).toEqual(['41', 'kept']);
    place.revision = -1;
    expect((await app.post('/write', {})).headers.get('anima-revision')).toBeNull();
  });

  it('makes later requests with the same key, and no other key, wait for the written position [1.8e]', async () => {
    const place = await serve();
    expect((await app.get('/list')).body).toEqual({ wrote: 0 });
    place.position = 7;
    await app.post('/write', {});
    place.position = 0;
    await app.post('/write', {});
    expect((await app.get('/list')).body).toEqual({ wrote: 7 });
    expect((await app.get('/list', { authorization: 'Bearer other' })).body).toEqual({ wrote: 0 });
  });

  it('repeats the revision for a repeated Idempotency-Key, and records only the first write', async () => {
    const place = await serve();
    Object.assign(place, { revision: 3, position: 9 });
    const key = { 'idempotency-key': 'once' };
    await app.post('/write', {}, key);
    Object.assign(place, { revision: 4, position: 12 });
    const again = await app.post('/write', {}, key);
    expect(again.headers.get('anima-revision')).toBe('3');
    expect((await app.get('/list')).body).toEqual({ wrote: 9 });
  });
});
