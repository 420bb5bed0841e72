import { request as httpRequest } from 'node:http';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { MemoryOwnerKeyFile } from '../../../support/memory/owner-key-file.js';
import { createEngines } from '../../../../src/features/engines/engines.js';
import { changeTenant } from '../../../../src/features/keys/api-keys.js';
import { chooseCortex } from '../../../../src/features/keys/domain/decide.js';
import { firstStart } from '../../../../src/features/keys/first-start.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';
import { cortexRoutes } from '../../../../src/features/engines/http/routes.js';
import type { Completion, CortexEngine } from '../../../../src/ports/cortex.js';
import { type KeyServer, openKeyServer } from '../../keys/key-scene.js';
import { startApp, testPrincipal, type TestApp } from '../../../support/http.js';

let server: KeyServer;
let app: TestApp;
let asked: Completion[];
let signals: AbortSignal[];
let answer: (signal: AbortSignal) => Promise<string>;

beforeEach(async () => {
  server = await openKeyServer();
  await firstStart(server, new MemoryOwnerKeyFile());
  asked = [];
  signals = [];
  answer = () => Promise.resolve('Well met.');
  const engine: CortexEngine = {
    id: 'scripted',
    name: 'Scripted',
    runtime: 'builtin',
    parameters: 0,
    state: () => 'ready',
    down: () => null,
    complete: async (completion, signal) => {
      asked.push(completion);
      signals.push(signal);
      return { text: await answer(signal), stats: { ms: 1 } };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const engines = createEngines([engine], engine, (tenant) => server.directory.tenant(tenant).cortexId);
  app = await startApp(cortexRoutes({ engines, ports: { clock: server.clock } }, server), {
    clock: server.clock,
    keys: {
      good: testPrincipal(),
      game: testPrincipal({ scopes: ['npc'] }),
      other: testPrincipal({ scopes: ['rules'] }),
    },
  });
});
afterEach(() => app.stop());

const as = (key: string) => ({ authorization: `Bearer ${key}` });
const complete = (body: object, headers: Record<string, string> = {}) =>
  app.post('/cortex/scripted/complete', body as never, headers);
const hanging = (signal: AbortSignal): Promise<string> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }));
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('the routes of engines', () => {
  it('need the scope npc, and admin for a new default [6.3a]', async () => {
    const init = (key: string, body: object) => app.post('/cortex/init', body as never, as(key));
    for (const { status } of [
      await app.get('/cortex/models', as('other')),
      await init('other', { requestedModel: '' }),
      await complete({ prompt: 'x' }, as('other')),
    ])
      expect(status).toBe(403);
    expect((await init('game', { requestedModel: 'scripted' })).status).toBe(200);
    const refused = await init('game', { requestedModel: 'scripted', default: true });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
    expect(server.directory.tenant('local').cortexId).toBeNull();
    expect((await init('good', { requestedModel: 'scripted', default: true })).status).toBe(200);
    expect(server.directory.tenant('local').cortexId).toBe('scripted');
  });

  it('name the request that helps when this server does not have the engine [6.2b, 6.3d]', async () => {
    const init = async (requestedModel: string): Promise<string> =>
      (await app.post('/cortex/init', { requestedModel })).body.state as string;
    expect(await init('gpt')).toBe(
      'No engine or model on this server has this name. GET /cortex/models lists all engines.',
    );
    const context = { tenant: 'local', actor: 'k', commandId: 'c', correlationId: 'c', causationId: null };
    await changeTenant(server, context, (state) => chooseCortex(state, 'openai'));
    expect(await init('')).toMatch(/"openai", which this server does not have\..* POST \/cortex\/init /);
    const unknown = await app.post('/cortex/gpt/complete', { prompt: 'x' });
    expect([unknown.status, unknown.body.error]).toMatchObject([
      404,
      { code: 'CORTEX_NOT_FOUND', message: expect.stringMatching(/POST \/cortex\/init .*GET \/cortex\/models/) },
    ]);
  });

  it('neither store, log nor return an authKey [6.2d, 6.2e]', async () => {
    const authKey = 'sk-never-kept';
    const replies = [
      await app.post(
        '/cortex/init',
        { requestedModel: 'scripted', authKey, default: true },
        { 'idempotency-key': 'i1' },
      ),
      await app.post('/cortex/init', { requestedModel: 'gpt', authKey }),
      await app.post('/cortex/init', { requestedModel: 7, authKey }),
      await app.post('/cortex/init', { requestedModel: 'scripted', authKey: { authKey } }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 400, 400]);
    const { events } = await server.events.read('tenant-local', { direction: 'forwards', from: 0, limit: 100 });
    expect(events.some(({ type }) => type === 'CortexChosen')).toBe(true);
    expect(JSON.stringify([replies.map(({ text }) => text), events, app.log.lines])).not.toContain(authKey);
    expect(app.log.lines.length).toBeGreaterThan(0);
    expect(asked).toEqual([]);
  });

  it('forward the given options and leave out null [6.3e, 6.3i]', async () => {
    const reply = await complete({ prompt: 'Hello.', maxTokens: 9, temperature: null, stop: ['x'], jsonSchema: null });
    expect(reply.body).toEqual({ id: expect.any(String) as string, text: 'Well met.', stats: { ms: 1 } });
    expect(asked).toEqual([{ prompt: 'Hello.', maxTokens: 9, stop: ['x'] }]);
  });

  it('keep their responses for repeats, however many others are kept [1.7o]', () => {
    const routes = cortexRoutes({ engines: createEngines([], null as never, () => null), ports: server }, server);
    const kept = routes.filter(({ retention }) => retention === 'always').map(({ operationId }) => operationId);
    expect(kept).toEqual(['initCortex', 'completePrompt']);
  });

  it('answer a repeat under its key without asking the engine [1.7o]', async () => {
    for (const [path, body] of [
      ['/cortex/scripted/complete', { prompt: 'Once.' }],
      ['/cortex/init', { requestedModel: 'scripted' }],
    ] as const) {
      const key = { 'idempotency-key': path };
      const first = await app.post(path, body, key);
      const again = await app.post(path, body, key);
      expect([first.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([200, first.text, 'true']);
    }
    expect(asked).toHaveLength(1);
  });

  it('mark completing as deprecated, also in refusals [1.9b]', async () => {
    for (const reply of [
      await complete({ prompt: 'x' }),
      await complete({}),
      await complete({ prompt: 'x' }, as('other')),
    ]) {
      expect(reply.headers.get('deprecation')).toBe('@1767225600');
      expect(reply.headers.get('link')).toBe('</docs#completePrompt>; rel="deprecation"');
    }
    expect((await app.get('/cortex/models')).headers.get('deprecation')).toBeNull();
  });

  it('refuse out-of-range values and unknown engines [6.2b, 6.3f, 6.3g]', async () => {
    for (const [least, most, ...beyond] of [
      [{ maxTokens: 1 }, { maxTokens: 32_768 }, { maxTokens: 0 }, { maxTokens: 32_769 }, { maxTokens: 1.5 }],
      [{ temperature: 0 }, { temperature: 2 }, { temperature: -0.1 }, { temperature: 2.1 }],
      [{ stop: ['x'] }, { stop: Array<string>(16).fill('x'.repeat(256)) }, { stop: [''] }, { stop: ['x'.repeat(257)] }],
      [{ stop: [] }, {}, { stop: Array<string>(17).fill('x') }],
    ]) {
      for (const body of [least, most]) expect((await complete({ prompt: 'x', ...body })).status).toBe(200);
      for (const body of beyond) expect((await complete({ prompt: 'x', ...body })).status).toBe(400);
    }
    expect((await app.post('/cortex/init', { requestedModel: 'x'.repeat(256) })).status).toBe(200);
    expect((await complete({ prompt: 'x'.repeat(1_100_000) })).status).toBe(413);
    expect((await app.post('/cortex/init', { requestedModel: 'x'.repeat(257) })).status).toBe(400);
    const unknown = await app.post('/cortex/gpt/complete', { prompt: 'x' });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'CORTEX_NOT_FOUND']);
  });

  it('answer 503 when the engine is down [6.3g, 6.4b]', async () => {
    answer = () =>
      Promise.reject(new Rejection('CORTEX_UNAVAILABLE', { details: { reason: 'It is down.' }, retryAfter: 5 }));
    const reply = await complete({ prompt: 'x' });
    expect([reply.status, reply.headers.get('retry-after'), reply.body.error.details]).toEqual([
      503,
      '5',
      { reason: 'It is down.' },
    ]);
  });

  it('wait at most 30 seconds [6.3g]', async () => {
    answer = hanging;
    const reply = complete({ prompt: 'x' });
    await until(() => signals.length === 1);
    await server.clock.advance(29_999);
    expect(signals[0]?.aborted).toBe(false);
    await server.clock.advance(1);
    expect([(await reply).status, (await reply).body.error.code]).toEqual([503, 'CORTEX_UNAVAILABLE']);
    expect(signals[0]?.aborted).toBe(true);
  });

  /** Sends a completion and leaves after the engine was asked. */
  const leave = async (headers: Record<string, string>): Promise<void> => {
    const options = { method: 'POST', headers: { ...as('good'), 'content-type': 'application/json', ...headers } };
    const request = httpRequest(`${app.url}/cortex/scripted/complete`, options);
    request.on('error', () => undefined);
    request.end(JSON.stringify({ prompt: 'x' }));
    await until(() => signals.length === 1);
    request.destroy();
  };

  it('cancel a completion whose client has left, and log no error [6.3h]', async () => {
    answer = hanging;
    await leave({});
    await until(() => signals[0]?.aborted === true);
    expect(app.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('continue for a client that can repeat the request, and give the repeat the answer [6.3h]', async () => {
    let finish: (text: string) => void = () => undefined;
    answer = () => new Promise((resolve) => (finish = resolve));
    await leave({ 'idempotency-key': 'k' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(signals[0]?.aborted).toBe(false);
    finish('At last.');
    let repeat = await complete({ prompt: 'x' }, { 'idempotency-key': 'k' });
    while (repeat.status === 409) repeat = await complete({ prompt: 'x' }, { 'idempotency-key': 'k' });
    expect([repeat.body.text, repeat.headers.get('idempotency-replayed')]).toEqual(['At last.', 'true']);
    expect(asked).toHaveLength(1);
  });
});
