import { describe, expect, it } from 'vitest';

import { permitLargeBody } from '../../../../src/kernel/http/middleware/permit-large-body.js';
import type { RequestContext } from '../../../../src/kernel/http/request-state.js';
import { gate } from '../../../support/gate.js';

const large = { 'content-length': '2000000' };

describe('the permits for large bodies', () => {
  it('are limited, more strictly for one tenant, and are released when the response is made [1.2t, 8.1g]', async () => {
    const permit = permitLargeBody();
    /** @returns ends the request */
    const enter = (tenant: string, headers: Record<string, string>): (() => Promise<void>) => {
      const { opened: answered, open: answer } = gate();
      const ctx = { req: { headers }, state: { principal: { tenant } } } as unknown as RequestContext;
      const done = permit(ctx, () => answered) as Promise<void>;
      return () => {
        answer();
        return done;
      };
    };
    const busy = expect.objectContaining({ code: 'BUSY', retryAfter: 1 }) as Error;
    const first = enter('a', large);
    for (let taken = 1; taken < 4; taken += 1) enter('a', large);
    expect(() => enter('a', large)).toThrow(busy);
    for (let taken = 0; taken < 4; taken += 1) enter('b', large);
    expect(() => enter('c', large)).toThrow(busy);
    expect(() => enter('c', { 'transfer-encoding': 'chunked' })).toThrow(busy);
    await enter('a', { 'content-length': '1048576' })();
    await enter('a', {})();
    await first();
    enter('a', large);
  });
});
