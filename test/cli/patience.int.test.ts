import { describe, expect, it } from 'vitest';

import { openLoopbackServer } from '../support/loopback-server.js';
import { typed } from './typed.js';

describe('a command whose key is over its rate limit', () => {
  it('waits as long as the server asks, and says so', async () => {
    await using server = await openLoopbackServer();
    const env = { ANIMA_URL: server.url, ANIMA_API_KEY: 'a-key' };
    const refused = JSON.stringify({ error: { code: 'RATE_LIMITED', message: 'Too many requests.', requestId: 'r' } });
    server.answer((_, response) => {
      if (server.seen.length > 1) response.end(JSON.stringify({ ghostStatus: 'stopped' }));
      else response.writeHead(429, { 'Retry-After': '1', 'Content-Type': 'application/json' }).end(refused);
    });
    const status = await typed(['ghost', 'status', 'g0', '--json'], { env });
    expect([status.code, status.stderr]).toEqual([0, 'This key has reached its rate limit. Waiting 1 s ...\n']);
    expect(JSON.parse(status.stdout)).toEqual({ ghostStatus: 'stopped' });

    server.answer((_, response) => {
      response.writeHead(429, { 'Retry-After': '3600', 'Content-Type': 'application/json' }).end(refused);
    });
    const never = await typed(['ghost', 'status', 'g0'], { env });
    expect([never.code, never.stderr]).toEqual([1, expect.stringMatching(/Too many requests.*RATE_LIMITED/)]);
  });
});
