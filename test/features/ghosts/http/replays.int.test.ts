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

  it('runs twice at a time for one tenant, and refuses the third request with a retry [9.10j]', async () => {
    const script = Array.from({ length: 400 }, () => idle);
    const replies = await Promise.all([replay({ script }), replay({ script }), replay({ script })]);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 503]);
    const busy = replies.find(({ status }) => status === 503);
    expect([busy && codeOf(busy), busy?.headers.has('retry-after')]).toEqual(['BUSY', true]);
  });
});
