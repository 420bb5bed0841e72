import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { ApiEmbedder, type ApiChoice } from '../../../src/adapters/embedders/api-embedder.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import { TextRefused } from '../../../src/ports/embedder.js';
import { embedderContract } from '../../contracts/embedder.js';
import {
  type EmbeddingsServer,
  type Misbehaviour,
  reply,
  startEmbeddingsServer,
} from '../../support/embeddings-server.js';
import { ManualClock } from '../../support/manual-clock.js';
import { seededRandom } from '../../support/seeded-random.js';
import { followersOf } from '../../support/signal-followers.js';

const KEY = 'sk-a-key-that-nobody-may-read';
const random = seededRandom('embedder');
const calm = { urgent: false };
const unavailable = { code: 'EMBEDDER_UNAVAILABLE' };

let server: EmbeddingsServer;
beforeAll(async () => {
  server = await startEmbeddingsServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const choice = (): ApiChoice => ({ kind: 'api', url: server.url, model: 'words', key: KEY, related: 0.3 });
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

embedderContract('A server', async () => new ApiEmbedder(choice(), { clock: systemClock, random, log: silent }));

describe('an embedder on a server', () => {
  let clock: ManualClock;
  let lines: unknown[];
  let embedder: ApiEmbedder;

  beforeEach(() => {
    clock = new ManualClock();
    lines = [];
    const write = (fields: object, message: string): void => void lines.push({ ...fields, message });
    embedder = new ApiEmbedder(choice(), { clock, random, log: { info: write, warn: write, error: write } });
    server.seen.splice(0);
  });
  afterEach(() => embedder[Symbol.asyncDispose]());

  const answers = (...next: readonly Misbehaviour[]): void => void server.next.push(...next);
  const status =
    (code: number, headers = {}): Misbehaviour =>
    (response, { headers: { authorization } }) => {
      reply(response, code, { error: `Incorrect API key: ${authorization ?? ''}` }, headers);
    };
  const data =
    (value: unknown): Misbehaviour =>
    (response) => {
      reply(response, 200, value);
    };
  const silence: Misbehaviour = () => undefined;
  const slam: Misbehaviour = (response) => void response.destroy();
  /** Advances the clock through the pauses between attempts until the work is done. */
  const whilePausesPass = async <T>(work: Promise<T>): Promise<T> => {
    const state = { done: false };
    const ended = work.finally(() => (state.done = true));
    ended.catch(() => undefined);
    for (let turns = 0; turns < 2_000 && !state.done; turns += 1) {
      await clock.advance(5);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return ended;
  };

  it('sends the key and the model, and is named after the model alone', async () => {
    expect(embedder.id).toBe('api:words@1');
    await embedder.embed(['a word', ''], calm);
    expect(server.seen).toEqual([
      {
        path: '/v1/embeddings',
        headers: expect.objectContaining({ authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }),
        body: { model: 'words', input: ['a word'], encoding_format: 'float' },
      },
    ]);
    const without = new ApiEmbedder({ ...choice(), key: null }, { clock, random, log: silent });
    await without.embed(['a word'], calm);
    expect(server.seen[1]?.headers.authorization).toBeUndefined();
  });

  it('leaves no listeners on the signal of its caller', async () => {
    const { signal } = new AbortController();
    await embedder.embed(['a word'], { ...calm, signal });
    answers(status(401));
    await expect(embedder.embed(['a word'], { ...calm, signal })).rejects.toMatchObject(unavailable);
    expect(followersOf(signal)).toBe(0);
  });

  it('handles many concurrent calls without a warning from Node', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warn);
    await Promise.all(Array.from({ length: 20 }, () => embedder.embed(['a word'], calm)));
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  it('sends no request for texts without meaning', async () => {
    expect(await embedder.embed(['', ' '], calm)).toEqual([null, null]);
    expect(server.seen).toEqual([]);
  });

  it('embeds a long text in windows, and few bytes in a request', async () => {
    const long = Array.from({ length: 300 }, (_, n) => `word${String(1_000 + n)} `).join('');
    expect(await embedder.embed([long, 'word'], calm)).toHaveLength(2);
    expect(server.seen.map(({ body }) => body.input.length)).toEqual([3]);
    const texts = Array.from({ length: 13 }, (_, n) => `${String(n)} ${'word '.repeat(285)}`);
    expect(await embedder.embed(texts, calm)).toHaveLength(13);
    expect(server.seen.map(({ body }) => body.input.length)).toEqual([3, 12, 1]);
  });

  it('halves a request that gets no answer in time [3.9c]', async () => {
    const atMost8: Misbehaviour = (response, { body: { input } }) => {
      const words = input.map((_, index) => ({ index, embedding: [1, 0] }));
      if (input.length <= 8) reply(response, 200, { data: words });
    };
    answers(...Array.from({ length: 100 }, () => atMost8));
    const texts = Array.from({ length: 64 }, (_, n) => `text ${String(n)}`);
    const first = embedder.embed(texts, calm);
    const failing = expect(first).rejects.toMatchObject(unavailable);
    for (const requests of [1, 2, 3]) {
      await server.came(requests);
      await clock.advance(20_000);
    }
    await failing;
    const second = embedder.embed(texts, calm);
    await server.came(4);
    await clock.advance(20_000);
    expect(await second).toHaveLength(64);
    expect(server.seen.map(({ body }) => body.input.length)).toEqual([64, 32, 16, 16, 8, 8, 8, 8, 8, 8, 8, 8]);
    server.next.splice(0);
  });

  it('keeps what was answered before a call failed [3.9c]', async () => {
    const texts = Array.from({ length: 13 }, (_, n) => `${String(n)} ${'word '.repeat(285)}`);
    answers(data({ data: Array.from({ length: 12 }, () => ({ embedding: [1, 0] })) }), status(401));
    await expect(embedder.embed(texts, calm)).rejects.toMatchObject(unavailable);
    answers(data({ data: [{ embedding: [0, 1] }] }));
    expect(await embedder.embed(texts, calm)).toHaveLength(13);
    expect(server.seen.map(({ body }) => body.input.length)).toEqual([12, 1, 1]);
  });

  it.each([
    ['429', status(429)],
    ['500', status(500)],
    ['503 with a pause', status(503, { 'retry-after': '1' })],
    ['a closed connection', slam],
  ])('retries after %s', async (_, misbehave) => {
    answers(misbehave, misbehave);
    expect(await whilePausesPass(embedder.embed(['word'], calm))).toHaveLength(1);
    expect(server.seen).toHaveLength(3);
  });

  it('gives up after four attempts, and logs the outage and the recovery once each', async () => {
    for (const _ of [1, 2]) {
      answers(status(503), status(503), status(503), status(503));
      await expect(whilePausesPass(embedder.embed(['word'], calm))).rejects.toMatchObject(unavailable);
    }
    expect(server.seen).toHaveLength(8);
    expect(embedder.down()).toBe('The embedder is unavailable or rejects requests: HTTP 503.');
    await embedder.embed(['word'], calm);
    expect(embedder.down()).toBeNull();
    expect(lines).toEqual([
      { embedder: 'api:words@1', reason: 'HTTP 503', message: 'Embedder is unavailable or rejects requests' },
      { embedder: 'api:words@1', message: 'Embedder is available again' },
    ]);
  });

  it.each([
    ['401', status(401)],
    ['404', status(404)],
    ['a pause that is too long', status(429, { 'retry-after': '3600' })],
    ['a redirect', status(302, { location: 'http://127.0.0.1:1/' })],
    ['something other than JSON', (response) => void response.end('<html>')],
    ['too few embeddings', data({ data: [] })],
    ['the same index twice', data({ data: [1, 2].map(() => ({ index: 0, embedding: [1, 0] })) })],
    ['vectors of different lengths', data({ data: [[1], [1, 2]].map((embedding, index) => ({ index, embedding })) })],
    ['no numbers', data({ data: [['x'], ['y']].map((embedding, index) => ({ index, embedding })) })],
    ['empty vectors', data({ data: [[], []].map((embedding, index) => ({ index, embedding })) })],
  ] as readonly (readonly [string, Misbehaviour])[])(
    'does not retry after %s, and reveals no key',
    async (_, misbehave) => {
      answers(misbehave);
      const failing = whilePausesPass(embedder.embed(['one', 'two'], calm));
      await expect(failing).rejects.toMatchObject(unavailable);
      expect(server.seen).toHaveLength(1);
      const told = JSON.stringify([lines, await failing.catch((error: unknown) => [String(error), error])]);
      expect(lines).toHaveLength(1);
      expect(told).not.toContain('nobody-may-read');
    },
  );

  it.each([
    [400, true],
    [413, true],
    [422, true],
    [401, false],
    [404, false],
    [429, false],
    [503, false],
  ])('distinguishes a rejected text from an unavailable server: HTTP %i', async (code, isOfText) => {
    answers(status(code), status(code), status(code), status(code));
    const error: unknown = await whilePausesPass(embedder.embed(['word'], calm)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(unavailable);
    expect(error instanceof TextRefused).toBe(isOfText);
    server.next.splice(0);
  });

  it('refuses vectors of another length than before, because they belong to another model', async () => {
    await embedder.embed(['word'], calm);
    answers(data({ data: [{ index: 0, embedding: [1, 0] }] }));
    await expect(embedder.embed(['word'], calm)).rejects.toMatchObject(unavailable);
  });

  it('treats a zero vector as a text without meaning', async () => {
    answers(data({ data: [{ index: 0, embedding: [0, 0] }] }));
    expect(await embedder.embed(['???'], calm)).toEqual([null]);
  });

  it('waits at most 1.8 s for an urgent answer', async () => {
    answers(silence);
    const failing = expect(embedder.embed(['word'], { urgent: true })).rejects.toMatchObject(unavailable);
    await server.came(1);
    await clock.advance(1_799);
    expect(lines).toEqual([]);
    await clock.advance(1);
    await failing;
    expect(lines).toEqual([expect.objectContaining({ reason: 'no response within 1800 ms' })]);
  });

  it('retries when a server is silent for 20 s, and gives up after a minute', async () => {
    answers(silence, silence, silence, silence);
    const failing = expect(embedder.embed(['word'], calm)).rejects.toMatchObject(unavailable);
    await server.came(1);
    await clock.advance(20_000);
    await clock.advance(500);
    await server.came(2);
    await clock.advance(40_000);
    await failing;
    server.next.splice(0);
  });

  it('ends a call with the reason of its signal, and all calls on disposal', async () => {
    answers(silence, silence);
    const abort = new AbortController();
    const aborted = expect(embedder.embed(['word'], { ...calm, signal: abort.signal })).rejects.toThrow('enough');
    const disposed = expect(embedder.embed(['word'], calm)).rejects.toMatchObject(unavailable);
    await server.came(2);
    abort.abort(new Error('enough'));
    await aborted;
    await embedder[Symbol.asyncDispose]();
    await disposed;
    expect(lines).toEqual([]);
  });
});
