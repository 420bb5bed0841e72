import { Type } from '@sinclair/typebox';
import { afterEach, describe, expect, it } from 'vitest';

import { accessRoute } from '../../../../src/features/keys/http/access.js';
import { ok, route } from '../../../../src/kernel/http/route.js';
import { ClientId } from '../../../../src/kernel/http/schemas.js';
import type { Scope } from '../../../../src/kernel/base/scopes.js';
import { accessStream } from '../../../../src/kernel/base/stream-names.js';
import { event } from '../../../support/events.js';
import { startApp, type TestApp, testPrincipal } from '../../../support/http.js';
import { MemoryEventStore } from '../../../support/memory/event-store.js';

let app: TestApp;
afterEach(() => app.stop());

/** A route about a mind that needs this scope. */
const routeOf = (scope: Scope) =>
  route('GET', `/npcs/:npcId/${scope}`, {
    ...{ operationId: `get-${scope}`, tag: 'Test', summary: 'Something', scope },
    params: Type.Object({ npcId: Type.String() }),
    responses: ok('It.', Type.Object({})),
    handler: () => ({ body: {} }),
  });

describe('who read what', () => {
  it('is told of each request that is let in to a route of an auditor or operator [11.13a]', async () => {
    const told: unknown[] = [];
    const keys = { good: testPrincipal(), poor: testPrincipal({ keyId: 'poor', scopes: ['npc'] }) };
    const onAccess = (...of: [{ keyId: string }, string, string | null]) => void told.push([of[0].keyId, of[1], of[2]]);
    const scopes = ['audit', 'ops', 'retract', 'acknowledge', 'admin', 'npc', 'memory', 'read'] as const;
    app = await startApp(scopes.map(routeOf), { keys, onAccess });
    for (const scope of scopes) await app.get(`/npcs/mira/${scope}`);
    expect((await app.get('/npcs/mira/audit', { authorization: 'Bearer poor' })).status).toBe(403);
    expect(told).toEqual(scopes.slice(0, 5).map((scope) => ['k1', `get-${scope}`, 'mira']));
  });

  it('is told of requests that are refused later [11.13a]', async () => {
    const told: unknown[] = [];
    const asked = route('GET', '/npcs/:npcId/asked', {
      ...{ operationId: 'asked', tag: 'Test', summary: 'Something', scope: 'audit' },
      params: Type.Object({ npcId: ClientId }),
      query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1 })) }),
      responses: ok('It.', Type.Object({})),
      handler: () => ({ body: {} }),
    });
    app = await startApp([asked], { onAccess: (_, operation, npcId) => void told.push([operation, npcId]) });
    expect((await app.get('/npcs/mira/asked?limit=0')).status).toBe(400);
    expect((await app.get('/npcs/%00/asked')).status).toBe(400);
    expect(told).toEqual([
      ['asked', 'mira'],
      ['asked', null],
    ]);
  });

  it('is listed newest first, page by page, for the own tenant alone [11.13b]', async () => {
    const events = new MemoryEventStore();
    const accesses = [0, 1, 2].map((count) => ({
      ...event(`a${String(count)}`),
      type: 'HistoryAccessed',
      data: { keyId: 'k1', operation: 'history', npcId: null, minute: '2026-05-01T10:00:00.000Z', count },
    }));
    await events.append(accessStream('local'), 'no_stream', accesses);
    await events.append(accessStream('other'), 'no_stream', [{ ...event('b'), type: 'HistoryAccessed', data: {} }]);
    app = await startApp([accessRoute({ events })]);
    const countsOf = (body: readonly { readonly count: number }[]) => body.map(({ count }) => count);
    const whole = await app.get('/access');
    expect([countsOf(whole.body), whole.headers.get('link')]).toEqual([[2, 1, 0], null]);
    const first = await app.get('/access?limit=2');
    expect(countsOf(first.body)).toEqual([2, 1]);
    const next = /<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await app.get(next);
    expect([countsOf(second.body), second.headers.get('link')]).toEqual([[0], null]);
    expect((await app.get('/access?cursor=eA')).status).toBe(400);
  });
});
