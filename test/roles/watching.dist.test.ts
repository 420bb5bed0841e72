import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import { apiOf } from '../support/api.js';
import { type Namespace, openNamespace } from '../support/distributed-server.js';

/** How long Temporal may take to report a new worker, in milliseconds. */
const SEEN_LIMIT_MS = 30_000;
const PROXY = { 'x-forwarded-for': '10.0.0.1' };

let namespace: Namespace | undefined;
let silent: Server | undefined;
const taken: Socket[] = [];
afterEach(async () => {
  await namespace?.[Symbol.asyncDispose]();
  for (const socket of taken.splice(0)) socket.destroy();
  silent?.close();
});

/** An address that accepts connections and never answers. */
const silentAddress = async (): Promise<string> => {
  silent = createServer((socket) => taken.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  return `127.0.0.1:${String((silent.address() as AddressInfo).port)}`;
};

describe('GET /metrics', () => {
  it.each(['projector,relay', 'worker', 'http'])(
    'of the role %s answers this machine and, through a proxy, a key with the scope metrics, while Kafka and PostgreSQL hang',
    async (roles) => {
      const address = await silentAddress();
      namespace = await openNamespace({ KAFKA_BROKERS: address, DATABASE_URL: `postgres://nobody@${address}/none` });
      const { url } = await namespace.start(roles);
      const anybody = apiOf(url, undefined);
      const local = await anybody.get('/metrics');
      expect(local.status).toBe(200);
      expect(local.text).toContain('process_cpu_seconds_total');
      expect(local.text).not.toMatch(/^anima_projection_parked_events /m);
      const owner = apiOf(url, namespace.ownerKey);
      await expect.poll(async () => (await owner.get('/metrics', PROXY)).status, { timeout: SEEN_LIMIT_MS }).toBe(200);
      expect((await anybody.get('/metrics', PROXY)).status).toBe(401);
      if (roles !== 'http') {
        const { status, text } = await owner.get('/npcs');
        expect([status, text]).toEqual([404, expect.stringContaining('does not have the role http (ANIMA_ROLES)')]);
      }
    },
  );
});

describe('GET /readyz', () => {
  it('of the role http reports that no worker runs, and the consequences, until one does [10.6b]', async () => {
    namespace = await openNamespace();
    const { url } = await namespace.start('http');
    const readyz = async () => {
      const { status, body } = await apiOf(url, undefined).get('/readyz');
      return { status, workers: (body as { dependencies: { workers?: unknown } }).dependencies.workers };
    };
    expect(await readyz()).toEqual({
      status: 200,
      workers: {
        ok: false,
        needed: false,
        detail: 'steps of turns are refused: no worker has polled for tasks recently',
      },
    });
    await namespace.start('worker');
    const seen = { status: 200, workers: { ok: true, needed: false } };
    await expect.poll(readyz, { timeout: SEEN_LIMIT_MS }).toEqual(seen);
  });

  it('of the role http reports that requests with an Idempotency-Key are refused while the database hangs', async () => {
    namespace = await openNamespace({ DATABASE_URL: `postgres://nobody@${await silentAddress()}/none` });
    const { url } = await namespace.start('http');
    const { status, body } = await apiOf(url, undefined).get('/readyz');
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        dependencies: expect.objectContaining({
          database: {
            ok: false,
            needed: false,
            detail: expect.stringMatching(/^lists, the archive and requests with an Idempotency-Key are refused: ./),
          },
        }),
      }),
    ]);
  });
});
