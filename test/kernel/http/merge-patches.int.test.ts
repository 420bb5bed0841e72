import { Type } from '@sinclair/typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { route, type RouteDefinition } from '../../../src/kernel/http/route.js';
import { FreeObject, nullable } from '../../../src/kernel/http/schemas.js';
import { openApi } from '../../../src/kernel/http/openapi/document.js';
import { startApp, type TestApp } from '../../support/http.js';
import { looseRoute } from './fake-routes.js';

const patchRoute: RouteDefinition = route('PATCH', '/things/:id', {
  operationId: 'patchThing',
  tag: 'Fake',
  summary: 'Patches',
  scope: 'npc',
  body: Type.Object({ name: nullable(Type.String()), data: nullable(FreeObject) }),
  reads: ['If-Match'],
  responses: { 200: { description: 'ok' } },
  handler: ({ body, keyed }) => ({ body: { body, keyed } }),
});

describe('a PATCH', () => {
  let app: TestApp;
  beforeAll(async () => (app = await startApp([patchRoute, looseRoute])));
  afterAll(() => app.stop());

  const patch = (body: string, headers: Record<string, string>) =>
    app.request('PATCH', '/things/one', { body: Buffer.from(body), headers });

  it.each(['application/json', 'application/merge-patch+json', 'Application/Merge-Patch+JSON ; charset=utf-8'])(
    'accepts a body of %s [1.2a, 2.1l]',
    async (type) => {
      const reply = await patch('{"name":"a"}', { 'content-type': type });
      expect([reply.status, reply.body]).toEqual([200, { body: { name: 'a' }, keyed: false }]);
    },
  );

  it.each(['text/plain', 'application/json-patch+json', 'application/merge-patch+jsonx'])(
    'names the media types that it accepts when it refuses %j [1.2a]',
    async (type) => {
      const { status, body } = await patch('{}', { 'content-type': type });
      expect([status, body.error.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
      expect(body.error.message).toBe(
        'Send the body with Content-Type: application/json or application/merge-patch+json.',
      );
    },
  );

  it('alone accepts a merge patch [1.2a]', async () => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const { status, body } = await app.request('POST', '/loose', { body: Buffer.from('{}'), headers });
    expect([status, body.error.message]).toEqual([415, 'Send the body with Content-Type: application/json.']);
  });

  it('keeps null, which removes, and checks everything else [1.2n]', async () => {
    const json = { 'content-type': 'application/json' };
    expect((await patch('{"name":null,"data":{"hp":null}}', json)).body.body).toEqual({
      name: null,
      data: { hp: null },
    });
    expect((await patch('{"data":[]}', json)).body.error.details.issues).toMatchObject([{ pointer: '/data' }]);
    const misspelt = await patch('{"names":null}', json);
    expect([misspelt.status, misspelt.headers.get('anima-warning')]).toEqual([200, 'member-unknown; meant="/name"']);
  });

  it('accepts an Idempotency-Key, whatever its precondition [1.7a, 1.7b, 1.7c]', async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
    for (const [tag, replayed] of [
      ['"1"', null],
      ['"2"', 'true'],
    ] as const) {
      const reply = await patch('{"name":"a"}', { ...headers, 'if-match': tag });
      expect(reply.body).toEqual({ body: { name: 'a' }, keyed: true });
      expect(reply.headers.get('idempotency-replayed')).toBe(replayed);
    }
    const other = await patch('{"name":"b"}', headers);
    expect([other.status, other.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('is documented with both media types, its precondition and its Idempotency-Key', () => {
    const { paths } = JSON.parse(JSON.stringify(openApi([patchRoute])));
    const { requestBody, responses, parameters } = paths['/things/{id}'].patch;
    expect(Object.keys(requestBody.content)).toEqual(['application/json', 'application/merge-patch+json']);
    expect(parameters.map(({ name }: { name: string }) => name)).toEqual([...['id', 'If-Match', 'Idempotency-Key']]);
    expect(responses['400'].description).toContain('`HEADER_INVALID`');
    expect(responses['422'].description).toContain('`IDEMPOTENCY_KEY_REUSED`');
    expect(responses['412'].description).toBe('`PRECONDITION_FAILED`');
  });
});
