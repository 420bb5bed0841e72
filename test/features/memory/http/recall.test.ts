import { EventEmitter } from 'node:events';

import { describe, expect, it } from 'vitest';

import type { Recalled } from '../../../../src/features/memory/recall.js';
import { recallRoutes } from '../../../../src/features/memory/http/recall.js';
import { type Json, jsonBytes } from '../../../../src/kernel/base/json.js';
import { PAGE_BYTES } from '../../../../src/kernel/base/page-size.js';
import { memoryRow } from '../../../support/recall-scene.js';

type Asked = {
  readonly body?: object;
  readonly asked?: unknown[];
  readonly pending?: number;
  readonly byWords?: string | null;
};

const answerOf = async (
  operationId: string,
  memories: Recalled['memories'],
  { body = { query: 'x', limit: 100 }, asked = [], pending = 0, byWords = null }: Asked = {},
): Promise<{ readonly body: readonly Json[]; readonly headers: object }> => {
  const recall = (query: unknown) => {
    asked.push(query);
    return Promise.resolve({ memories, embedder: 'words@1', pending, byWords, revision: 1 });
  };
  const found = recallRoutes({ recall } as never).find((route) => route.operationId === operationId);
  const call = {
    params: { npcId: 'mira', agentId: 'mira' },
    principal: { tenant: 'studio' },
    body,
    header: () => undefined,
    koa: { req: { socket: {} }, res: Object.assign(new EventEmitter(), { socket: {} }) },
    keyed: false,
  };
  const answer = await found?.handler(call as never);
  return { body: answer?.body as readonly Json[], headers: answer?.headers ?? {} };
};
const recalled = (count: number, metadataBytes: number): Recalled['memories'] =>
  Array.from({ length: count }, (_, at) => ({
    row: memoryRow(at, '\u0001'.repeat(8_192), { metadata: { notes: 'x'.repeat(metadataBytes) } }),
    score: 1,
    scoreParts: {},
  }));

describe('the response of a recall', () => {
  it.each(['recallMemories', 'recallAgentMemories'])(
    'ends near 4 MiB, with the best memories (%s) [3.3g]',
    async (route) => {
      const { body } = await answerOf(route, recalled(100, 100_000));
      expect(body.length).toBeLessThan(100);
      expect(body[0]).toMatchObject({ id: 'm0' });
      expect(jsonBytes(body)).toBeGreaterThan(PAGE_BYTES);
      expect(jsonBytes(body.slice(0, -1))).toBeLessThan(PAGE_BYTES);
    },
  );

  it.each([
    ['recallMemories', {}, { limit: 10, minScore: 0 }],
    ['recallMemories', { threshold: 0.4 }, { limit: 10, minScore: 0.4 }],
    ['recallMemories', { similarity: 0.3, threshold: 0.4, limit: 7 }, { limit: 7, minScore: 0.3 }],
    ['recallAgentMemories', {}, { limit: 5, minScore: 0.5 }],
  ])('has the limit of the request or the default: %s %j [3.3a, 3.5d]', async (route, body, limits) => {
    const asked: unknown[] = [];
    await answerOf(route, [], { body: { query: 'x', ...body }, asked });
    expect(asked).toMatchObject([limits]);
  });

  it.each(['recallMemories', 'recallAgentMemories'])(
    'names the number of memories without a vector, if there are any (%s) [3.6d]',
    async (route) => {
      const [some, none] = [await answerOf(route, [], { pending: 3 }), await answerOf(route, [])];
      expect(some.headers).toMatchObject({ 'Anima-Embedding-Pending': '3' });
      expect(none.headers).not.toHaveProperty('Anima-Embedding-Pending');
    },
  );

  it.each(['recallMemories', 'recallAgentMemories'])(
    'says what was compared by its words (%s) [3.7c]',
    async (route) => {
      const [some, none] = [await answerOf(route, [], { byWords: 'memories' }), await answerOf(route, [])];
      expect(some.headers).toMatchObject({ 'Anima-Compared-By-Words': 'memories' });
      expect(none.headers).not.toHaveProperty('Anima-Compared-By-Words');
    },
  );

  it.each(['recallMemories', 'recallAgentMemories'])('names the embedder (%s) [3.9d]', async (route) => {
    expect((await answerOf(route, [])).headers).toMatchObject({ 'Anima-Embedder': 'words@1' });
  });

  it('contains all memories of ordinary length', async () => {
    expect((await answerOf('recallAgentMemories', recalled(40, 10))).body).toHaveLength(40);
  });
});
