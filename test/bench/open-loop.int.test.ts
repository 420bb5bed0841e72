import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from 'vitest';

import { requestBytes } from '../../bench/connection.js';
import { capacity, latencies, type Target } from '../../bench/open-loop.js';

/** A server that answers as specified, and a target with one connection to it. */
const openTarget = async (listener: RequestListener) => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const target: Target = { port, connections: 1, requests: [requestBytes(port, 'key', '/', '{"a":"ä"}')] };
  return {
    target,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

describe('a load with planned send times', () => {
  it('counts a delayed response in the latency of every request that was planned behind it', async () => {
    const heldMs = 300;
    let asked = 0;
    await using opened = await openTarget((_, response) => {
      asked += 1;
      if (asked === 1) setTimeout(() => response.end('{}'), heldMs);
      else response.end('{}');
    });
    // Twenty requests within the first 200 ms: all of them wait for the only connection.
    const measured = await latencies(opened.target, 100, 0.2);
    expect(measured).toHaveLength(20);
    expect(asked).toBe(20);
    expect(measured[0]).toBeGreaterThan(heldMs - 200);
  });

  it('sends complete requests and reads complete responses, even if they arrive in pieces', async () => {
    const bodies: string[] = [];
    await using opened = await openTarget((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => bodies.push(text));
      request.on('end', () => {
        response.writeHead(200, { 'Content-Length': 4 });
        response.write('ab');
        setTimeout(() => response.end('cd'), 5);
      });
    });
    expect(await latencies(opened.target, 1_000, 0.01)).toHaveLength(10);
    expect(bodies).toEqual(Array.from({ length: 10 }, () => '{"a":"ä"}'));
  });

  const measures: readonly (readonly [string, (target: Target) => Promise<unknown>])[] = [
    ['with planned times', (target) => latencies(target, 100, 0.1)],
    ['at capacity', (target) => capacity(target, 0.1)],
  ];
  const faults: readonly (readonly [string, RequestListener, string])[] = [
    ['an answer is a refusal', (_, response) => response.writeHead(503, { 'Content-Length': 0 }).end(), 'status 503'],
    ['an answer does not say how long it is', (_, response) => response.writeHead(200).end('{}'), 'how long'],
    ['the server goes away', (request) => request.socket.destroy(), 'closed'],
  ];
  for (const [how, measure] of measures) {
    it.each(faults)(`measures nothing ${how} when %s`, async (_, listener, reason) => {
      await using opened = await openTarget(listener);
      await expect(measure(opened.target)).rejects.toThrow(reason);
    });
  }
});
