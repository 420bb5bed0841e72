import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { type Api, apiOf, codeOf } from '../../../support/api.js';
import type { ServerUnderTest } from '../../../scenarios/server-under-test.js';

describe('POST /ghost/replay', () => {
  let server: ServerUnderTest;
  let api: Api;
  let brought: object;
  const idle = { text: '{"action": "IDLE"}' };
  beforeAll(async () => {
    server = await openEmbeddedServer();
    api = apiOf(server.url, server.ownerKey);
    const { digest } = (await api.get('/levels/faulty')).body as { readonly digest: string };
    brought = {
      format: 'anima-ghost-repro/1',
      finding: { kind: 'unreachable_goal', subject: 'walled-up room', detail: '' },
      level: { levelId: 'faulty', version: null, digest, generated: false },
      ...{ map: null, seed: 1, script: [] },
    };
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const replay = (more: object = {}) => api.post('/ghost/replay', { ...brought, ...more });

  it('plays in a level that the server has, and refuses an unknown level [9.10g, 9.10i]', async () => {
    expect((await replay()).body).toMatchObject({ reproduced: true, steps: 0 });
    const other = { levelId: 'faulty', version: null, digest: 'x'.repeat(43), generated: false };
    const refused = await replay({ level: other });
    expect([refused.status, codeOf(refused)]).toEqual([422, 'REPRO_INVALID']);
    expect((refused.body as { error: object }).error).toMatchObject({ details: { problems: [expect.anything()] } });
  });

  it('accepts at most 20,000 texts, each of at most 524,288 characters [9.10h]', async () => {
    expect((await replay({ script: Array.from({ length: 20_001 }, () => idle) })).status).toBe(400);
    expect((await replay({ script: [{ text: 'x'.repeat(524_289) }] })).status).toBe(400);
    expect((await replay({ script: [{ text: 'x'.repeat(524_288) }] })).status).toBe(200);
  });

  it('takes at most 16 MiB, returns what was found, and records nothing [9.10f]', async () => {
    const found = await replay({ script: [idle] });
    expect(found.body).toEqual({ reproduced: true, findings: expect.any(Array) as object[], steps: 1 });
    const bytes = JSON.stringify({ ...brought, more: '' }).length;
    expect((await replay({ more: 'x'.repeat(16 * 1024 * 1024 - bytes) })).status).toBe(200);
    expect((await replay({ more: 'x'.repeat(16 * 1024 * 1024 - bytes + 1) })).status).toBe(413);
    expect((await api.get('/ghost/history')).body).toEqual({ sessions: [] });
  });

  it('runs twice at a time for one tenant, and refuses the third request with a retry [9.10j]', async () => {
    const script = Array.from({ length: 400 }, () => idle);
    const replies = await Promise.all([replay({ script }), replay({ script }), replay({ script })]);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 503]);
    const busy = replies.find(({ status }) => status === 503);
    expect([busy && codeOf(busy), busy?.headers.has('retry-after')]).toEqual(['BUSY', true]);
  });

  it('runs four times at a time in one process, together with pictures and searches [9.10j]', async () => {
    const script = Array.from({ length: 400 }, () => idle);
    const theirs = await Promise.all(
      ['one', 'other'].map(async (tenantId) => {
        const made = await api.post('/tenants', { tenantId });
        return apiOf(server.url, (made.body as { key: string }).key);
      }),
    );
    const twice = [api, ...theirs].flatMap((each) => [each, each]);
    const replies = await Promise.all(twice.map((each) => each.post('/ghost/replay', { ...brought, script })));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 503, 503]);
    // A tenant with two replays gets neither a picture nor a search.
    const running = Promise.all([replay({ script }), replay({ script })]);
    const others = () =>
      Promise.all(
        ['picture', 'findings/1/repro'].map(async (path) => {
          const { status } = await api.get(`/ghost/g0_0_aaaaaaaaaaaaaaaa/${path}`);
          return status;
        }),
      );
    await expect.poll(others, { interval: 5 }).toEqual([503, 503]);
    expect((await running).map(({ status }) => status)).toEqual([200, 200]);
    expect(await others()).toEqual([404, 404]);
  });
});
