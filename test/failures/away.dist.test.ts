import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { drawPorts } from '../../scripts/servers/ports.js';
import { type Api, apiOf, codeOf, type Reply } from '../support/api.js';
import { type Namespace, openNamespace, type ServingProcess, urlOf } from '../support/distributed-server.js';
import { openSharedServers, type OwnServers } from '../support/own-servers.js';
import { eventsOfStep, resultsOf } from '../support/writers.js';

/**
 * A refusal takes at most 2 s. The tests allow 5 s, because the servers, the processes and the tests share two cores. A wrong refusal would wait for the
 * timeout of some client, the shortest of which is 8 s.
 */
const REFUSAL_LIMIT_MS = 5_000;
/** How long an automatic recovery may take, in milliseconds. */
const RECOVERY_LIMIT_MS = 150_000;
const LOOK_MS = 100;
const SHORT_DEADLINE_MS = 6_000;

const expectRefused = async (ask: () => Promise<Reply>, code: string): Promise<void> => {
  const began = performance.now();
  const reply = await ask();
  expect(performance.now() - began, code).toBeLessThan(REFUSAL_LIMIT_MS);
  expect([reply.status, codeOf(reply)], reply.text).toEqual([503, code]);
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
};

/** Requests until the response is 200; temporary refusals are retried. */
const untilOk = async (ask: () => Promise<Reply>): Promise<Reply> => {
  const late = Date.now() + RECOVERY_LIMIT_MS;
  for (;;) {
    const reply = await ask();
    if (reply.status === 200) return reply;
    expect([503, 409], reply.text).toContain(reply.status);
    if (Date.now() > late) throw new Error(`still ${String(reply.status)} after that time: ${reply.text}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
};

describe('an unavailable dependency', () => {
  let servers: OwnServers;
  let namespace: Namespace;
  let http: ServingProcess;
  let worker: ServingProcess;
  let feeds: ServingProcess;
  let api: Api;

  beforeAll(async () => {
    servers = await openSharedServers('eventstore', 'temporal', 'kafka', 'postgres');
    namespace = await openNamespace(servers.env);
    [http, worker, feeds] = await Promise.all([
      namespace.start('http'),
      namespace.start('worker'),
      namespace.start('projector,relay'),
    ]);
    api = apiOf(http.url, namespace.ownerKey);
  });
  afterAll(async () => {
    await namespace[Symbol.asyncDispose]();
    await servers[Symbol.asyncDispose]();
  });

  const bodyOf = (npcId: string, by = api) => {
    const results = resultsOf(npcId);
    const path = `/npcs/${npcId}`;
    let tape: object = { observation: `Somebody speaks to ${npcId}.` };
    const step = (n: number) =>
      by.post(`${path}/process`, { tape, lastResult: results[n] }, { 'idempotency-key': `${npcId}-${String(n)}` });
    return {
      path,
      step,
      /** Plays these rounds, with as many attempts as each needs. */
      play: async (from: number, to: number) => {
        for (let n = from; n < to; n += 1) tape = ((await untilOk(() => step(n))).body as { tape: object }).tape;
      },
      types: async () =>
        ((await untilOk(() => by.get(`${path}/history`))).body as { events: { type: string }[] }).events.map(
          ({ type }) => type,
        ),
    };
  };
  const listed = async (npcId: string): Promise<boolean> =>
    ((await untilOk(() => api.get('/npcs'))).body as { npcId: string }[]).some((npc) => npc.npcId === npcId);

  it.each(['dead', 'hanging'] as const)(
    'is Temporal, %s: steps are refused soon, reads and registrations work, and the turn continues afterwards [1.5h]',
    async (how) => {
      const body = bodyOf(`temporal-${how}`);
      await body.play(0, 2);
      if (how === 'dead') await servers.kill('temporal');
      else await servers.hang('temporal', true);
      try {
        await expectRefused(() => body.step(2), 'ENGINE_UNAVAILABLE');
        await expectRefused(() => bodyOf(`opened-${how}`).step(0), 'ENGINE_UNAVAILABLE');
        expect(await body.types()).toEqual(eventsOfStep.slice(0, 2).flat());
        expect((await api.get(body.path)).status).toBe(200);
        expect((await api.get('/npcs')).status).toBe(200);
        // A busy machine may refuse it for a moment on behalf of the event store, but never because of Temporal.
        await untilOk(async () => {
          const registered = await api.post('/npcs', { npcId: `registered-${how}` });
          expect(codeOf(registered), registered.text).not.toBe('ENGINE_UNAVAILABLE');
          return registered;
        });
      } finally {
        if (how === 'dead') await servers.restart('temporal');
        else await servers.hang('temporal', false);
      }
      await body.play(2, 4);
      expect(await body.types()).toEqual(eventsOfStep.flat());
    },
    300_000,
  );

  it('is a Temporal that lost its database: open turns continue, and their deadlines still fire', async () => {
    const body = bodyOf('forgotten');
    await body.play(0, 2);
    const hasty = await namespace.start('http', { ANIMA_TURN_DEADLINE_MS: String(SHORT_DEADLINE_MS) });
    const left = bodyOf('left', apiOf(hasty.url, namespace.ownerKey));
    await left.play(0, 1);
    await servers.kill('temporal');
    for (const end of ['', '-wal', '-shm']) {
      await rm(join(servers.directory, 'temporal', `temporal.db${end}`), { force: true });
    }
    await servers.restart('temporal');
    await body.play(2, 4);
    expect(await body.types()).toEqual(eventsOfStep.flat());
    // A worker resumes at its start what no caller asks for.
    await worker.child.kill();
    worker = await namespace.start('worker');
    await expect
      .poll(left.types, { timeout: RECOVERY_LIMIT_MS, interval: LOOK_MS })
      .toEqual(['TurnOpened', 'TurnExpired']);
    await hasty.child.kill();
  }, 300_000);

  it.each(['dead', 'hanging'] as const)(
    'is the event store, %s: appends are refused soon, and work again when it is back [1.5h]',
    async (how) => {
      const body = bodyOf(`store-${how}`);
      await body.play(0, 2);
      if (how === 'dead') await servers.kill('eventstore');
      else await servers.hang('eventstore', true);
      try {
        await expectRefused(() => api.post('/npcs', { npcId: `unwritten-${how}` }), 'STORE_UNAVAILABLE');
        await expectRefused(() => body.step(2), 'STORE_UNAVAILABLE');
        await expectRefused(() => bodyOf(`unopened-${how}`).step(0), 'STORE_UNAVAILABLE');
        expect((await api.get('/livez')).status).toBe(200);
        expect((await api.get('/readyz')).body).toMatchObject({
          ready: false,
          dependencies: { eventStore: { ok: false } },
        });
      } finally {
        if (how === 'dead') await servers.restart('eventstore');
        else await servers.hang('eventstore', false);
      }
      await body.play(2, 4);
      expect(await body.types()).toEqual(eventsOfStep.flat());
      await untilOk(() => api.post('/npcs', { npcId: `written-${how}` }));
      expect(await listed(`written-${how}`)).toBe(true);
    },
    300_000,
  );

  it('is PostgreSQL: lists are refused soon, histories work, and lists work again when it is back [1.5h]', async () => {
    const body = bodyOf('unlisted');
    await body.play(0, 4);
    await servers.kill('postgres');
    await expectRefused(() => api.get('/npcs'), 'DATABASE_UNAVAILABLE');
    await expectRefused(() => body.step(0), 'DATABASE_UNAVAILABLE');
    expect(await body.types()).toEqual(eventsOfStep.flat());
    await servers.restart('postgres');
    await bodyOf('listed').play(0, 4);
    expect(await listed('listed')).toBe(true);
  }, 300_000);

  it.each(['dead', 'hanging'] as const)(
    'is Kafka, %s: everything works except that lists become stale, and they catch up when it is back',
    async (how) => {
      const readyz = apiOf(feeds.url, undefined);
      if (how === 'dead') await servers.kill('kafka');
      else await servers.hang('kafka', true);
      try {
        const body = bodyOf(`kafka-${how}`);
        await body.play(0, 4);
        expect(await body.types()).toEqual(eventsOfStep.flat());
        expect((await api.get(body.path)).status).toBe(200);
        const began = performance.now();
        expect(await listed(`kafka-${how}`)).toBe(false);
        // A list waits 2 s for the writes of its own key, and then answers with the rows it has.
        expect(performance.now() - began).toBeLessThan(REFUSAL_LIMIT_MS);
        const turns = await api.get(`${body.path}/turns`, {
          'anima-min-revision': String(eventsOfStep.flat().length - 1),
        });
        expect([turns.status, codeOf(turns)]).toEqual([503, 'READ_MODEL_BEHIND']);
        expect((await api.get('/readyz')).status).toBe(200);
        expect(await readyz.get('/readyz')).toMatchObject({
          status: 503,
          body: { ready: false, dependencies: { kafka: { ok: false }, eventStore: { ok: true } } },
        });
      } finally {
        if (how === 'dead') await servers.restart('kafka');
        else await servers.hang('kafka', false);
      }
      await expect.poll(() => listed(`kafka-${how}`), { timeout: RECOVERY_LIMIT_MS }).toBe(true);
      await expect.poll(async () => (await readyz.get('/readyz')).status, { timeout: RECOVERY_LIMIT_MS }).toBe(200);
    },
    300_000,
  );

  it('is missing when the roles start: each waits for it and then begins', async () => {
    const names = ['eventstore', 'temporal', 'kafka', 'postgres'] as const;
    await http.child.kill();
    await worker.child.kill();
    await feeds.child.kill();
    const other = await openNamespace(servers.env);
    await using _ = other;
    for (const name of names) await servers.kill(name);
    const [port = 0] = await drawPorts(1);
    const children = ['http', 'worker', 'projector,relay'].map((roles) =>
      other.launch(roles, roles === 'http' ? { PORT: String(port) } : {}),
    );
    const early = apiOf(`http://127.0.0.1:${String(port)}`, other.ownerKey);
    await expect
      .poll(
        () =>
          early.get('/livez').then(
            ({ status }) => status,
            () => null,
          ),
        { timeout: RECOVERY_LIMIT_MS },
      )
      .toBe(200);
    await expectRefused(() => early.get('/npcs'), 'NOT_READY');
    expect((await early.get('/readyz')).status).toBe(503);
    // Each starts alone: no role may depend on their order.
    for (const name of ['postgres', 'temporal', 'kafka', 'eventstore'] as const) await servers.restart(name);
    await Promise.all(children.map(urlOf));
    const body = bodyOf('late', early);
    await body.play(0, 4);
    expect(await body.types()).toEqual(eventsOfStep.flat());
    await expect
      .poll(async () => (await early.get('/npcs')).body as unknown, { timeout: RECOVERY_LIMIT_MS })
      .toMatchObject([{ npcId: 'late' }]);
  }, 300_000);
});
