import { describe, expect, it } from 'vitest';
import { createMindClient } from '../../src/body/mind-client.js';
import { MindError, type FetchLike } from '../../src/body/mind-request.js';

type Sent = { readonly url: string; readonly init: RequestInit };

const client = (answers: readonly (() => Promise<Response>)[], more: { readonly timeoutMs?: number } = {}) => {
  const sent: Sent[] = [];
  const slept: number[] = [];
  const fetch: FetchLike = (url, init) => {
    sent.push({ url, init });
    const answer = answers[Math.min(sent.length, answers.length) - 1];
    return answer === undefined ? Promise.reject(new Error('no answer left')) : answer();
  };
  const sleep = (ms: number): Promise<void> => {
    slept.push(ms);
    return Promise.resolve();
  };
  return {
    mind: createMindClient({ baseUrl: 'http://mind:8080/', key: 'am_live_k', fetch, sleep, ...more }),
    sent,
    slept,
  };
};

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  () =>
    Promise.resolve(new Response(JSON.stringify(body), { status, headers }));
const failureOf = async (call: Promise<unknown>): Promise<MindError> => {
  const outcome = await call.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(MindError);
  return outcome as MindError;
};

describe('the mind client', () => {
  it('sends JSON with its key to a path with the escaped id', async () => {
    const { mind, sent } = client([json(200, { memoryRecall: { query: 'q', limit: 5, threshold: 0.5 } })]);
    await mind.directive('old man/river', { observation: 'Hello' });
    expect(sent).toMatchObject([
      {
        url: 'http://mind:8080/npcs/old%20man%2Friver/directive',
        init: {
          method: 'POST',
          body: '{"observation":"Hello"}',
          headers: { authorization: 'Bearer am_live_k', 'content-type': 'application/json' },
        },
      },
    ]);
  });

  it('reads history with only the parameters that were given', async () => {
    const { mind, sent } = client([json(200, { npcId: 'a', revision: 3, events: [] })]);
    await mind.history('a', { from: 2, type: 'StateChanged,VerdictRefused' });
    await mind.history('a');
    expect(sent.map(({ url }) => url)).toEqual([
      'http://mind:8080/npcs/a/history?from=2&type=StateChanged%2CVerdictRefused',
      'http://mind:8080/npcs/a/history',
    ]);
  });

  it("throws the server's code, message, details and request id", async () => {
    const body = {
      error: { code: 'SCHEMA_INVALID', message: 'Does not fit.', details: { issues: [] }, requestId: 'r' },
    };
    const { mind } = client([json(400, body, { 'x-request-id': 'r-1', 'retry-after': '7' })]);
    const error = await failureOf(mind.npc('a'));
    expect(error).toMatchObject({
      code: 'SCHEMA_INVALID',
      message: 'Does not fit.',
      status: 400,
      details: { issues: [] },
      requestId: 'r-1',
      retryAfter: 7,
    });
  });

  it('reads the one refusal that is only a message', async () => {
    const { mind } = client([json(403, { error: 'Registration is switched off.' })]);
    expect(await failureOf(mind.registerRules({}))).toMatchObject({
      code: 'HTTP_403',
      message: 'Registration is switched off.',
    });
  });

  it('reports a response that is not JSON', async () => {
    const { mind } = client([() => Promise.resolve(new Response('<html>', { status: 502 }))]);
    expect(await failureOf(mind.npc('a'))).toMatchObject({ code: 'BAD_ANSWER', status: 502 });
  });

  it('gives up at its timeout, even on a fetch that ignores its signal', async () => {
    const { mind } = client([() => new Promise(() => undefined)], { timeoutMs: 20 });
    expect(await failureOf(mind.npc('a'))).toMatchObject({ code: 'TIMEOUT', status: 0, requestId: null });
  });

  it('stops when its caller cancels', async () => {
    const caller = new AbortController();
    const { mind } = client([() => new Promise(() => undefined)]);
    const call = failureOf(mind.process('a', { tape: { observation: '' } }, { signal: caller.signal }));
    caller.abort();
    expect((await call).code).toBe('ABORTED');
  });

  it('never repeats a request without a key', async () => {
    const { mind, sent } = client([() => Promise.reject(new TypeError('fetch failed'))]);
    expect((await failureOf(mind.process('a', { tape: { observation: '' } }))).code).toBe('UNREACHABLE');
    expect(sent).toHaveLength(1);
  });

  it("repeats a request with an Idempotency-Key when its response was lost, after the server's Retry-After", async () => {
    const away = { error: { code: 'STORE_UNAVAILABLE', message: 'Away.', details: {} } };
    const { mind, sent, slept } = client([
      () => Promise.reject(new TypeError('fetch failed')),
      json(503, away, { 'retry-after': '2' }),
      json(200, { instruction: { type: 'IdentifyActor' }, tape: {} }),
    ]);
    const answer = await mind.process('a', { tape: { observation: '' } }, { idempotencyKey: 'one' });
    expect(answer.instruction.type).toBe('IdentifyActor');
    expect(sent.map(({ init }) => new Headers(init.headers).get('idempotency-key'))).toEqual(['one', 'one', 'one']);
    expect(slept).toEqual([500, 2000]);
  });

  it('gives up after three attempts, and immediately on a refusal', async () => {
    const lost = client([() => Promise.reject(new TypeError('fetch failed'))]);
    await failureOf(lost.mind.registerNpc({ npcId: 'a' }, { idempotencyKey: 'one' }));
    expect(lost.sent).toHaveLength(3);
    const refused = client([json(422, { error: { code: 'IDEMPOTENCY_KEY_REUSED', message: '', details: {} } })]);
    await failureOf(refused.mind.registerNpc({ npcId: 'a' }, { idempotencyKey: 'one' }));
    expect(refused.sent).toHaveLength(1);
  });
});
