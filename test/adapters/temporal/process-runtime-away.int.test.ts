import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import { ProcessWorkflows } from '../../../src/adapters/temporal/process-workflows.js';
import { TemporalProcessRuntime } from '../../../src/adapters/temporal/process-runtime.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import { ProcessRepository } from '../../../src/kernel/processes/process-repository.js';
import { makeProcessId } from '../../../src/kernel/crypto/process-id.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import { statuses } from '../../../src/kernel/http/statuses.js';
import { openBareTemporal } from '../../support/bare-temporal.js';
import { seededRandom } from '../../support/seeded-random.js';
import { followersOf } from '../../support/signal-followers.js';
import { quiet } from '../../support/temporal.js';

/** Callers should not all return in the same second. */
const unavailable = { code: 'ENGINE_UNAVAILABLE', retryAfter: 1, retrySpread: 2 };

describe('The Temporal runtime while Temporal is away', () => {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let runtime: TemporalProcessRuntime | undefined;
  afterEach(async () => {
    await runtime?.[Symbol.asyncDispose]();
    for (const socket of sockets) socket.destroy();
    server?.close();
  });

  const listening = (): Promise<number> =>
    new Promise((resolve) => {
      // Accepts connections and never answers, as a stopped process does.
      server = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1', () => {
        resolve((server?.address() as AddressInfo).port);
      });
    });
  const ref = { process: 'turn', id: makeProcessId('t', -1, 0, 'away'), stream: npcStream('studio', 'mira') };
  const by = { tenant: 'studio', actor: 'key', commandId: 'c', correlationId: 'c', causationId: null };
  const engineAt = (port: number): TemporalProcessRuntime => {
    const events = new MemoryEventStore();
    runtime = new TemporalProcessRuntime({
      shards: { count: 1, processes: [] },
      address: `127.0.0.1:${String(port)}`,
      temporalNamespace: 'default',
      namespace: 'nobody',
      events,
      repository: new ProcessRepository(events),
      processes: {},
      clock: systemClock,
      random: seededRandom('away'),
      logger: quiet,
    });
    return runtime;
  };
  const ask = (port: number) => engineAt(port).ask(ref, [], by);

  it('refuses with ENGINE_UNAVAILABLE and Retry-After when nothing listens', async () => {
    const port = await listening();
    await new Promise((resolve) => server?.close(resolve));
    await expect(ask(port)).rejects.toMatchObject(unavailable);
  });

  it('refuses with ENGINE_UNAVAILABLE when the server accepts connections and does not answer', async () => {
    await expect(ask(await listening())).rejects.toMatchObject(unavailable);
    expect(statuses.ENGINE_UNAVAILABLE).toBe(503);
  });

  it('refuses with ENGINE_UNAVAILABLE when the server does not accept the caller', async () => {
    await using temporal = await openBareTemporal({ apiKey: 'of somebody else' });
    const refused = ask(Number(temporal.address.split(':')[1]));
    await expect(refused).rejects.toMatchObject(unavailable);
    expect(temporal.authorizations.length).toBeGreaterThan(0);
    await runtime?.[Symbol.asyncDispose]();
  });

  it('refuses waits for outcomes too, and notices when the caller has gone', async () => {
    const away = engineAt(await listening());
    await expect(away.outcome(ref, by, { withinMs: 60_000 })).rejects.toMatchObject(unavailable);
    const signal = AbortSignal.abort(new Error('the client has gone'));
    await expect(away.outcome(ref, by, { withinMs: 60_000, signal })).rejects.toThrow('the client has gone');
  });

  it('leaves no listeners on the signals of its callers once they were answered', async () => {
    const { signal } = new AbortController();
    const away = engineAt(await listening());
    await expect(away.outcome(ref, by, { withinMs: 60_000, signal })).rejects.toMatchObject({
      code: 'ENGINE_UNAVAILABLE',
    });
    // A call without a waiting caller ends a moment later.
    await expect.poll(() => followersOf(signal), { timeout: 20_000 }).toBe(0);
    await using temporal = await openBareTemporal({ apiKey: 'of somebody else' });
    const at = { address: temporal.address, temporalNamespace: 'default', namespace: 'nobody' };
    await using workflows = new ProcessWorkflows(at, systemClock);
    const update = { name: 'ask', argOf: () => null, idOf: () => 'update', timeoutMs: 2_000, signal };
    await expect(workflows.update(ref, update)).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect(temporal.calls.length).toBeGreaterThan(1);
    expect(followersOf(signal)).toBe(0);
  });

  it('starts without Temporal, and looks for open processes in the background', async () => {
    const refused = ask(await listening());
    await runtime?.start();
    await expect(refused).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
  });
});
