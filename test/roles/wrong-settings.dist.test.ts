import { afterEach, describe, expect, it } from 'vitest';

import { apiOf } from '../support/api.js';
import { type Namespace, openNamespace } from '../support/distributed-server.js';

let namespace: Namespace | undefined;
afterEach(async () => {
  await namespace?.[Symbol.asyncDispose]();
});

describe('A TEMPORAL_NAMESPACE that does not exist', () => {
  it.each(['worker', 'http', ''])(
    'is reported by /readyz of the roles "%s", which end on request',
    async (roles) => {
      namespace = await openNamespace({ TEMPORAL_NAMESPACE: 'nowhere' });
      const { child, url } = await namespace.start(roles);
      const temporal = async () => {
        const { status, body } = await apiOf(url, undefined).get('/readyz');
        return { status, temporal: (body as { dependencies: { temporal?: unknown } }).dependencies.temporal };
      };
      await expect.poll(temporal, { timeout: 10_000 }).toEqual({
        status: roles === 'http' ? 200 : 503,
        temporal: {
          ok: false,
          needed: roles !== 'http',
          detail: expect.stringContaining('TEMPORAL_NAMESPACE') as string,
        },
      });
      child.signal('SIGTERM');
      expect((await child.exited()).code).toBe(0);
    },
    60_000,
  );
});
