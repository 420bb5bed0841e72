import { EventEmitter } from 'node:events';

import { describe, expect, it } from 'vitest';

import { permitLargeBody } from '../../../src/http/middleware/permit-large-body.js';
import type { RequestContext } from '../../../src/http/request-state.js';

/** A request of a tenant, which is answered when `close` is called. */
const requestOf = (tenant: string, headers: Record<string, string>) => {
  const res = Object.assign(new EventEmitter(), { closed: false, socket: {} });
  const ctx = { req: { headers, socket: {} }, res, state: { principal: { tenant } } } as unknown as RequestContext;
  return { ctx, close: () => res.emit('close') };
};
const large = { 'content-length': '2000000' };

describe('the permits for large bodies', () => {
  it('are few, for one tenant fewer, and are given back when the answer was taken', async () => {
    const permit = permitLargeBody();
    const enter = async (tenant: string, headers: Record<string, string>): Promise<() => boolean> => {
      const { ctx, close } = requestOf(tenant, headers);
      await permit(ctx, () => Promise.resolve());
      return close;
    };
    const busy = expect.objectContaining({ code: 'BUSY', retryAfter: 1 }) as Error;
    const first = await enter('a', large);
    for (let taken = 1; taken < 4; taken += 1) await enter('a', large);
    await expect(enter('a', large)).rejects.toThrow(busy);
    for (let taken = 0; taken < 4; taken += 1) await enter('b', large);
    await expect(enter('c', large)).rejects.toThrow(busy);
    await expect(enter('c', { 'transfer-encoding': 'chunked' })).rejects.toThrow(busy);
    await enter('a', { 'content-length': '1048576' });
    await enter('a', {});
    first();
    await enter('a', large);
  });
});
