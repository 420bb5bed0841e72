import { join } from 'node:path';

import { Type } from '@sinclair/typebox';
import { afterEach, describe, expect, it } from 'vitest';

import { EmbeddedIdempotencyStore } from '../../../src/adapters/embedded/idempotency-store.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import { isObject } from '../../../src/kernel/base/json.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { parseCommandId } from '../../../src/kernel/streams/command-id.js';
import type { Answer, Call, RouteDefinition } from '../../../src/kernel/http/route.js';
import type { KeyedRequest } from '../../../src/ports/idempotency-store.js';
import { gate } from '../../support/gate.js';
import { startApp, type TestApp, testPrincipal } from '../../support/http.js';
import { ManualClock } from '../../support/manual-clock.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { jsonStream, runRoute } from './fake-routes.js';

const KEY = { 'idempotency-key': 'once' };

describe('a POST with an Idempotency-Key', () => {
  let app: TestApp;
  const calls: Call[] = [];
  const start = async (
    handler: (call: Call) => Answer | Promise<Answer>,
    over: Parameters<typeof startApp>[1] = {},
  ) => {
    calls.length = 0;
    const counted = (call: Call) => {
      calls.push(call);
      return handler(call);
    };
    const body = Type.Object({ a: Type.Optional(Type.Unknown()), n: Type.Optional(Type.Number()) });
    app = await startApp(
      [
        runRoute(counted, { body }),
        runRoute(counted, { operationId: 'other', path: '/npcs/:npcId/run', body }),
        runRoute(counted, { operationId: 'wide', path: '/wide', body, retention: 'never', writesWidely: true }),
        runRoute(counted, { operationId: 'spoken', path: '/spoken', reads: ['X-Player-Id'] }),
        runRoute(counted, { operationId: 'look', path: '/look', body, retention: 'never' }),
        runRoute(counted, {
          operationId: 'issue',
          path: '/keys',
          retention: 'always',
          keepAnswer: (answer) => (isObject(answer) ? { keyId: answer['keyId'] ?? null } : answer),
        }),
      ],
      over,
    );
  };
  afterEach(() => app.stop());

  it('returns the first response again [1.7b]', async () => {
    await start(() => ({ status: 201, headers: { 'Anima-Revision': '7' }, body: { n: calls.length } }));
    const first = await app.post('/run', { a: 1, n: 2 }, KEY);
    const second = await app.post('/run', { n: 2, a: 1 }, KEY);
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([201, null]);
    expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(second.headers.get('anima-revision')).toBe('7');
    expect(second.text).toBe(first.text);
    expect(calls).toHaveLength(1);
  });

  it('does not take a body that names a player for one whose header does [1.7c, 12.1f]', async () => {
    await start(() => ({ body: { n: calls.length } }));
    const said = { input: 'Hi.' };
    await app.post('/spoken', said, { ...KEY, 'x-player-id': 'ann' });
    const [other, again] = [
      await app.post('/spoken', { 'X-Player-Id': 'ann', body: said }, KEY),
      await app.post('/spoken', said, { ...KEY, 'x-player-id': 'ann' }),
    ];
    expect([other.status, again.headers.get('idempotency-replayed')]).toEqual([422, 'true']);
  });

  it('records the end of the log for a command on many streams, and its first attempt at the latest', async () => {
    let position = 46;
    await start(() => ({ body: { n: calls.length } }), { lastPosition: () => Promise.resolve(position) });
    await app.post('/wide', {}, KEY);
    position += 1;
    await app.post('/wide', {}, KEY);
    await app.post('/wide');
    expect(parseCommandId(calls[0]?.commandId ?? '')).toMatchObject({ lastRevision: -1, position: 46 });
    expect(calls.map(({ commandId }) => parseCommandId(commandId).position)).toEqual([46, 46, 0]);
  });

  it('runs again with the first seed if a part of the command was refused for now', async () => {
    await start(() => ({ body: { n: calls.length }, isPassing: calls.length === 1 }));
    const replies = [await app.post('/run', {}, KEY), await app.post('/run', {}, KEY), await app.post('/run', {}, KEY)];
    expect(replies.map(({ body }) => body)).toEqual([{ n: 1 }, { n: 2 }, { n: 2 }]);
    expect(replies.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, null, 'true']);
    expect(calls.map(({ resumed, done }) => [resumed, done])).toEqual([
      [false, false],
      [true, false],
    ]);
    expect(new Set(calls.map(({ commandId }) => commandId)).size).toBe(1);
  });

  it('runs again with the first seed, one at a time, if the route stores no responses [1.7l]', async () => {
    await start(() => ({ body: { n: calls.length } }));
    const [first, second] = [await app.post('/look', { a: 1 }, KEY), await app.post('/look', { a: 1 }, KEY)];
    expect([first.body, second.body, second.headers.get('idempotency-replayed')]).toEqual([{ n: 1 }, { n: 2 }, null]);
    expect(calls.map(({ resumed }) => resumed)).toEqual([false, true]);
    expect(new Set(calls.map(({ commandId }) => commandId)).size).toBe(1);
    expect((await app.post('/look', { a: 2 }, KEY)).body).toMatchObject({ error: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  });

  it('runs again with the first seed once the budget of its tenant has no room for its response [1.7n]', async () => {
    const idempotency = EmbeddedIdempotencyStore.open(':memory:', systemClock, 1_000);
    await start(() => ({ body: { n: calls.length, text: 'x'.repeat(400) } }), { idempotency });
    const keys = ['a', 'b', 'c'].map((key) => ({ 'Idempotency-Key': key }));
    for (const key of keys) await app.post('/run', {}, key);
    expect((await app.post('/run', {}, keys[2])).headers.get('idempotency-replayed')).toBe('true');
    expect((await app.post('/run', { a: 1 }, keys[0])).status).toBe(422);
    const again = await app.post('/run', {}, keys[0]);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect(calls[3]).toMatchObject({ commandId: calls[0]?.commandId, resumed: true, done: true });
    await app.stop();
    await idempotency[Symbol.asyncDispose]();
    await start(() => ({ body: {} }));
  });

  it('is refused before anything is reserved when its route has no free slot', async () => {
    let refusal: Rejection | null = new Rejection('BUSY', { retryAfter: 2 });
    const reserved: string[] = [];
    const clock = new ManualClock();
    const idempotency = EmbeddedIdempotencyStore.open(':memory:', clock);
    const reserve = idempotency.reserve.bind(idempotency);
    idempotency.reserve = (...given) => {
      reserved.push(given[1]);
      return reserve(...given);
    };
    let left = 0;
    const enter = () => {
      if (refusal !== null) throw refusal;
      return () => (left += 1);
    };
    app = await startApp([runRoute(() => ({ body: {} }), { enter })], { idempotency, clock });
    const refused = await app.post('/run', {}, KEY);
    expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([503, 'BUSY', '2']);
    expect([reserved, left]).toEqual([[], 0]);
    refusal = null;
    expect((await app.post('/run', {}, KEY)).status).toBe(200);
    expect([reserved.length, left]).toEqual([1, 1]);
  });

  it('returns a stored response again even while its route has no free slot [1.7p]', async () => {
    let hasPlace = true;
    const enter = () => {
      if (!hasPlace) throw new Rejection('ENGINE_UNAVAILABLE', { retryAfter: 2 });
      return () => undefined;
    };
    app = await startApp([runRoute(() => ({ body: { n: 1 } }), { enter })]);
    const first = await app.post('/run', { a: 1 }, KEY);
    hasPlace = false;
    const again = await app.post('/run', { a: 1 }, KEY);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(again.text).toBe(first.text);
    for (const [body, key] of [
      [{ a: 2 }, KEY],
      [{ a: 1 }, { 'idempotency-key': 'another' }],
      [{ a: 1 }, {}],
    ] as const) {
      expect((await app.post('/run', body, key)).body.error.code).toBe('ENGINE_UNAVAILABLE');
    }
  });

  it.each(['BUSY', 'ENGINE_UNAVAILABLE'] as const)(
    'is refused as its route refuses it (%s) when stored responses cannot be looked up, which is tried only while the engine is down',
    async (code) => {
      const clock = new ManualClock();
      const idempotency = EmbeddedIdempotencyStore.open(':memory:', clock);
      let looked = 0;
      idempotency.storedAnswer = () => {
        looked += 1;
        return Promise.reject(new Rejection('DATABASE_UNAVAILABLE', { retryAfter: 1 }));
      };
      const enter = () => {
        throw new Rejection(code, { retryAfter: 2 });
      };
      app = await startApp([runRoute(() => ({ body: {} }), { enter })], { idempotency, clock });
      const { headers, body } = await app.post('/run', {}, KEY);
      expect([body.error.code, headers.get('retry-after')]).toEqual([code, '2']);
      expect(looked).toBe(code === 'BUSY' ? 0 : 1);
    },
  );

  it('is refused with another body [1.7c]', async () => {
    await start(() => ({ body: {} }));
    await app.post('/run', { a: 1 }, KEY);
    const { status, body } = await app.post('/run', { a: 2 }, KEY);
    expect([status, body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('is the same request with an empty body and with {} [1.7b]', async () => {
    await start(() => ({ body: {} }));
    await app.post('/run', undefined, KEY);
    expect((await app.post('/run', {}, KEY)).headers.get('idempotency-replayed')).toBe('true');
  });

  it('is refused while the first is still running [1.7d]', async () => {
    const { opened: finished, open: finish } = gate<Answer>();
    const { opened: running, open: begun } = gate();
    await start(() => {
      begun();
      return finished;
    });
    const first = app.post('/run', {}, KEY);
    await running;
    const second = await app.post('/run', {}, KEY);
    expect([second.status, second.body.error.code, second.headers.get('retry-after')]).toEqual([
      409,
      'IDEMPOTENCY_IN_PROGRESS',
      '1',
    ]);
    finish({ body: { done: true } });
    expect((await first).body).toEqual({ done: true });
  });

  it('is another request under another path, id or API key, but the same under another escaping [1.7e]', async () => {
    await start(() => ({ body: {} }), { keys: { good: testPrincipal(), other: testPrincipal({ keyId: 'k2' }) } });
    await app.post('/run', {}, KEY);
    await app.post('/run', {}, { ...KEY, authorization: 'Bearer other' });
    await app.post('/npcs/mira/run', {}, KEY);
    await app.post('/npcs/olm/run', {}, KEY);
    expect(calls).toHaveLength(4);
    await app.post('/npcs/%6Dira/run?x=1', {}, KEY);
    expect(calls).toHaveLength(4);
  });

  it('returns a domain refusal again, with the id of the new request [1.7i, 1.7o]', async () => {
    await start(() => {
      throw new Rejection('CONFLICT', { details: { n: 1 } });
    });
    await app.post('/run', {}, { ...KEY, 'x-request-id': 'first' });
    const again = await app.post('/run', {}, { ...KEY, 'x-request-id': 'second' });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([409, 'true']);
    expect(again.headers.get('x-request-id')).toBe('second');
    expect(again.body.error).toMatchObject({ code: 'CONFLICT', details: { n: 1 }, requestId: 'second' });
    expect(calls).toHaveLength(1);
  });

  it('stores a refusal with many details without them, because they may repeat much of the request [1.7o]', async () => {
    const detailsOf = (bytes: number) => ({ id: 'x'.repeat(bytes - '{"id":""}'.length) });
    for (const [bytes, kept] of [
      [4_096, detailsOf(4_096)],
      [4_097, {}],
    ] as const) {
      await start(() => {
        throw new Rejection('MEMORY_NOT_FOUND', { details: detailsOf(bytes) });
      });
      await app.post('/run', {}, KEY);
      const again = await app.post('/run', {}, KEY);
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([404, 'true']);
      expect([again.body.error.code, again.body.error.details]).toEqual(['MEMORY_NOT_FOUND', kept]);
      await app.stop();
    }
    await start(() => ({ body: {} }));
  });

  it.each([
    [429, () => new Rejection('CONCURRENT_NPC_LIMIT')],
    [503, () => new Rejection('STORE_UNAVAILABLE')],
    [500, () => new Error('a defect')],
    [409, () => new Rejection('CONFLICT', { retryAfter: 1 })],
  ])('runs again, as the same command, after a temporary response %i [1.7i]', async (status, failure) => {
    await start(() => {
      if (calls.length === 1) throw failure();
      return { body: {} };
    });
    expect((await app.post('/run', {}, KEY)).status).toBe(status);
    expect((await app.post('/run', {}, KEY)).status).toBe(200);
    expect(calls[1]?.commandId).toBe(calls[0]?.commandId);
  });

  it('is not remembered when it violates its schema [1.7i]', async () => {
    await start(() => ({ body: {} }));
    expect((await app.post('/run', { n: 'x' }, KEY)).status).toBe(400);
    expect((await app.post('/run', { n: 1 }, KEY)).status).toBe(200);
  });

  it('is completed by the repeat when its process died half way [1.7g]', async () => {
    const clock = new ManualClock();
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'idempotency.db');
    const dead = EmbeddedIdempotencyStore.open(file, clock);
    let seed = '';
    const watching = {
      reserve: async (request: KeyedRequest, newSeed: string) => {
        seed = newSeed;
        return dead.reserve(request, newSeed);
      },
      storedAnswer: dead.storedAnswer.bind(dead),
      complete: () => Promise.reject(new Error('killed')),
      release: () => Promise.reject(new Error('killed')),
    };
    await start(() => ({ body: {} }), { clock, idempotency: watching });
    await app.post('/run', {}, KEY);
    expect(app.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    await app.stop();
    await dead[Symbol.asyncDispose]();
    await using next = EmbeddedIdempotencyStore.open(file, clock);
    await start(() => ({ body: {} }), { clock, idempotency: next });
    await app.post('/run', {}, KEY);
    expect([calls[0]?.commandId, calls[0]?.resumed]).toEqual([seed, true]);
  });

  it('is forgotten after 24 hours [1.7f]', async () => {
    await start(() => ({ body: {} }));
    await app.post('/run', { a: 1 }, KEY);
    await app.clock.advance(24 * 60 * 60 * 1000);
    expect((await app.post('/run', { a: 2 }, KEY)).status).toBe(200);
  });

  it('is answered again without values that are shown only once [1.7j]', async () => {
    await start(() => ({ status: 201, body: { keyId: 'k9', key: 'am_live_secret' } }));
    expect((await app.post('/keys', {}, KEY)).body.key).toBe('am_live_secret');
    const again = await app.post('/keys', {}, KEY);
    expect([again.status, again.body]).toEqual([201, { keyId: 'k9' }]);
  });

  it('returns a streamed response again, made anew from what was stored [1.7k]', async () => {
    const kept: unknown[] = [];
    let made = 0;
    const answer = (): Answer => {
      const chunks = async function* () {
        yield JSON.stringify({ made: (made += 1) });
      };
      return { stream: { type: 'application/json', chunks }, kept: { thing: 7 }, revision: 3 };
    };
    const idempotency = EmbeddedIdempotencyStore.open(':memory:', new ManualClock());
    const complete = idempotency.complete.bind(idempotency);
    idempotency.complete = (request, answer, retention) => {
      kept.push(answer);
      return complete(request, answer, retention);
    };
    const restore: RouteDefinition['restore'] = async ({ keyed }, thing) => {
      if (made === 2) throw new Rejection('SOUL_EXCHANGE_EXPIRED');
      return { ...answer(), headers: { 'X-Thing': JSON.stringify([thing, keyed]) } };
    };
    app = await startApp([runRoute(answer, { responses: jsonStream, restore })], { idempotency });
    const first = await app.post('/run', {}, KEY);
    expect([first.body, first.headers.get('idempotency-replayed')]).toEqual([{ made: 1 }, null]);
    expect(kept).toEqual([{ status: 200, headers: { 'Anima-Revision': '3' }, body: { thing: 7 } }]);
    const again = await app.post('/run', {}, KEY);
    expect([again.body, again.headers.get('x-thing')]).toEqual([{ made: 2 }, '[{"thing":7},false]']);
    expect([again.headers.get('idempotency-replayed'), again.headers.get('anima-revision')]).toEqual(['true', '3']);
    expect((await app.post('/run', {}, KEY)).body.error.code).toBe('SOUL_EXCHANGE_EXPIRED');
    expect((await app.post('/run', { a: 1 }, KEY)).body.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  it('is answered again also when the response has no body', async () => {
    await start(() => ({ status: 204 }));
    await app.post('/run', {}, KEY);
    const again = await app.post('/run', {}, KEY);
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([204, '', 'true']);
  });

  it.each(['two words', 'x'.repeat(129), 'ä'])('is refused when the key is %j [1.7a]', async (key) => {
    await start(() => ({ body: {} }));
    const { status, body } = await app.post('/run', {}, { 'idempotency-key': key });
    expect([status, body.error.code]).toEqual([400, 'HEADER_INVALID']);
  });

  it.each(['!', '~'.repeat(128)])('is accepted when the key is %j [1.7a]', async (key) => {
    await start(() => ({ body: {} }));
    await app.post('/run', {}, { 'idempotency-key': key });
    const again = await app.post('/run', {}, { 'idempotency-key': key });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
  });

  it('has a new command id each time without a key', async () => {
    await start(() => ({ body: {} }));
    await app.post('/run');
    await app.post('/run');
    expect(calls[0]?.commandId).not.toBe(calls[1]?.commandId);
    expect(calls.map(({ resumed }) => resumed)).toEqual([false, false]);
  });
});
