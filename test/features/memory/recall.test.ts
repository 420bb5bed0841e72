import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { cachedEmbedder } from '../../../src/adapters/embedders/cached-embedder.js';
import type { Embedder } from '../../../src/ports/embedder.js';
import { pause } from '../../../src/kernel/concurrency/pause.js';
import { createRecall, type RecallQuery, type Recalled } from '../../../src/features/memory/recall.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { memories as projection, type MemoryRow } from '../../../projections/memories.js';
import type { VectorSearch } from '../../../src/ports/vector-search.js';
import { MemoryRows, memoryRow, NumberEmbedder, TENANT, unitOf } from '../../support/recall-scene.js';
import { settle } from '../../support/settle.js';
import { countTurns } from '../../support/loop-turns.js';

/** Compares with the arithmetic of the tests, so that scores are equal to the last bit. */
const plainSearch: VectorSearch = {
  nearest: (matrix, query, count) =>
    Array.from({ length: matrix.length / query.length }, (_, row) => ({
      row,
      cosine: query.reduce((sum, value, at) => sum + value * (matrix[row * query.length + at] ?? 0), 0),
    }))
      .sort((one, other) => other.cosine - one.cosine)
      .slice(0, count),
};

const CACHE_BYTES = 1024 * 1024;
const EVER = 1_000_000;

/** @param asked the embedder that the recall calls */
const openRecall = (
  embedder = new NumberEmbedder(),
  cacheBytes = CACHE_BYTES,
  rows = new MemoryRows(),
  asked: Embedder = embedder,
) => {
  const { models, clock } = rows;
  const events = new MemoryEventStore();
  const writers = new StreamWriters(events, clock);
  const ports = {
    events,
    writers,
    clock,
    embedder: asked,
    readModels: models,
    rowSearch: models,
    vectorSearch: plainSearch,
  };
  const recall = createRecall(ports, cacheBytes);
  /** As of a revision that no mind has reached: everything, without reading the events. */
  const ask = (query: string, more: Partial<RecallQuery> = {}): Promise<Recalled> =>
    recall({ tenant: TENANT, npcId: 'mira', query, limit: 10, minScore: 0, asOf: EVER, ...more });
  return { rows, models, embedder, recall, ask };
};
const openCached = () => {
  const embedder = new NumberEmbedder();
  return openRecall(embedder, CACHE_BYTES, new MemoryRows(), cachedEmbedder(embedder, CACHE_BYTES));
};
const texts = ({ memories }: Recalled): readonly string[] => memories.map(({ row }) => row.text);

describe('a recall', () => {
  it('returns the nearest first, and the newest of equally near ones [3.3b]', async () => {
    const { rows, ask } = openRecall();
    await rows.store(memoryRow(1, '0 1'), memoryRow(2, '1 0'), memoryRow(3, '1 1'), memoryRow(5, '2 0'));
    const recalled = await ask('1 0');
    expect(texts(recalled)).toEqual(['2 0', '1 0', '1 1', '0 1']);
    expect(recalled).toMatchObject({ pending: 0, revision: 5 });
    expect(recalled.memories[0]).toMatchObject({ score: 1, scoreParts: { meaning: 1 } });
    expect(texts(await ask('1 0', { limit: 1 }))).toEqual(['2 0']);
    expect(texts(await ask('1 0', { minScore: 0.5 }))).toEqual(['2 0', '1 0', '1 1']);
  });

  it('finds the newest of many equal matches, wherever the limit cuts [3.3b]', async () => {
    const { rows, ask } = openRecall();
    await rows.store(...Array.from({ length: 40 }, (_, at) => memoryRow(at, at % 2 === 0 ? '1 0' : '-1 0')));
    const revisions = (await ask('1 0', { limit: 25 })).memories.map(({ row }) => row.revision);
    const even = Array.from({ length: 20 }, (_, at) => 38 - 2 * at);
    expect(revisions).toEqual([...even, 39, 37, 35, 33, 31]);
  });

  it('for an agent returns an observation with the same words once, which leaves room for others [7.1f]', async () => {
    const { rows, ask } = openRecall();
    await rows.store(memoryRow(1, '1 1'), ...Array.from({ length: 8 }, (_, at) => memoryRow(2 + at, '1 0')));
    expect(texts(await ask('1 0', { limit: 5, statementsFirst: true }))).toEqual(['1 0', '1 1']);
    expect((await ask('1 0', { limit: 1, statementsFirst: true })).memories[0]?.row.revision).toBe(9);
    expect(texts(await ask('1 0', { limit: 5 }))).toEqual(Array.from({ length: 5 }, () => '1 0'));
  });

  it('for an agent lets questions fill the places that statements leave, best first [3.8a]', async () => {
    const { rows, ask } = openRecall();
    await rows.store(
      memoryRow(1, '1 1'),
      memoryRow(2, '1 2'),
      memoryRow(3, 'Did the mill 1 0 burn?'),
      memoryRow(4, 'Was it 5 1 or more?'),
    );
    const agent = { statementsFirst: true };
    const questions = ['Did the mill 1 0 burn?', 'Was it 5 1 or more?'];
    expect(texts(await ask('1 0', agent))).toEqual(['1 1', '1 2', ...questions]);
    expect(texts(await ask('1 0', { ...agent, limit: 3 }))).toEqual(['1 1', '1 2', questions[0]]);
    expect(texts(await ask('1 0', { ...agent, limit: 1 }))).toEqual(['1 1']);
    expect(texts(await ask('1 0'))).toEqual([...questions, '1 1', '1 2']);
    expect(texts(await ask('1 0', { ...agent, types: ['emotion'] }))).toEqual([]);
  });

  it('for an agent leaves out questions that nearly repeat its input [3.8b]', async () => {
    const { rows, ask } = openRecall();
    const asked = 'Where did the 1 0 ring go?';
    await rows.store(
      memoryRow(1, asked),
      memoryRow(2, 'And where did the 1 0 ring go?'),
      memoryRow(3, 'Is 1 0 a ring?'),
    );
    expect(texts(await ask(asked, { statementsFirst: true }))).toEqual(['Is 1 0 a ring?']);
    expect(texts(await ask(asked))).toHaveLength(3);
  });

  it('embeds the missing vectors of its own mind, and nothing twice [3.6c]', async () => {
    const { rows, embedder, ask } = openCached();
    await rows.store(memoryRow(1, '1 0'), memoryRow(1, '9 9', { stream: 'npc-studio.other' }));
    await ask('1 0');
    await rows.store(memoryRow(2, '0 1'));
    expect(texts(await ask('1 0'))).toEqual(['1 0', '0 1']);
    expect(embedder.embedded.sort()).toEqual(['0 1', '1 0']);
    expect(embedder.urgent).not.toContain(false);
  });

  it('says that texts without a vector were compared by their words [3.7c]', async () => {
    const { rows, ask } = openRecall();
    await rows.store(memoryRow(1, '1 0'));
    expect((await ask('1 0')).byWords).toBeNull();
    expect((await ask('mill')).byWords).toBe('query');
    await rows.store(memoryRow(2, 'the mill'));
    expect((await ask('1 0')).byWords).toBe('memories');
    const large = openRecall(new NumberEmbedder(), 1);
    await large.rows.store(memoryRow(1, '1 0'), memoryRow(2, 'the mill'));
    expect((await large.ask('1 0')).byWords).toBe('memories');
  });

  it('uses only words for a query that the embedder refuses, and refuses no query while the embedder is unavailable', async () => {
    const { rows, embedder, ask } = openRecall();
    await rows.store(memoryRow(1, '1 0'), memoryRow(2, '0 1'));
    await ask('0 1');
    embedder.refused.add('1 0 refused');
    expect(texts(await ask('1 0 refused'))).toContain('1 0');
    embedder.isAway = true;
    expect(texts(await ask('1 0 refused')), 'it is remembered').toContain('1 0');
    await expect(ask('5 5')).rejects.toMatchObject({ code: 'EMBEDDER_UNAVAILABLE' });
  });

  it('fails when the embedder under the same name has changed, rather than return nothing', async () => {
    const { rows, ask } = openRecall();
    await rows.store(memoryRow(1, '1 0'));
    expect(texts(await ask('1 0'))).toEqual(['1 0']);
    await expect(ask('1 0 0')).rejects.toMatchObject({
      code: 'EMBEDDER_UNAVAILABLE',
      message: expect.stringContaining('a different length') as string,
    });
  });

  it('embeds and counts only the memories that it may see [3.6d]', async () => {
    const { rows, embedder, ask } = openRecall();
    await rows.store(...Array.from({ length: 200 }, (_, at) => memoryRow(at, `${String(at)} 1`)));
    expect((await ask('1 0', { asOf: 99 })).pending).toBe(36);
    expect(embedder.embedded.filter((text) => Number(text.split(' ')[0]) > 99)).toEqual([]);
    expect((await ask('1 0', { asOf: 99 })).pending).toBe(0);
  });

  it('embeds 64 texts at a time, and reports how many are left: these are matched by their words [3.3c, 3.6c, 3.6d]', async () => {
    const { rows, ask } = openRecall();
    const name = (at: number): string => `${'abcdefghij'.charAt(at % 10)}${'klmnopq'.charAt(Math.floor(at / 10))}`;
    const many = Array.from({ length: 70 }, (_, at) => memoryRow(at, `${name(at)} 1 0`));
    await rows.store(...many);
    const first = await ask(`${name(0)} 1 0`, { limit: 100 });
    expect(first.pending).toBe(6);
    // The newest are embedded first.
    expect(texts(first)).toContain(`${name(0)} 1 0`);
    expect(first.memories.find(({ row }) => row.revision === 0)?.scoreParts).toEqual({ words: expect.any(Number) });
    expect(first.memories.find(({ row }) => row.revision === 69)?.scoreParts).toHaveProperty('meaning');
    const second = await ask(`${name(0)} 1 0`, { limit: 100 });
    expect(second.pending).toBe(0);
    expect(second.memories).toHaveLength(70);
    for (const { scoreParts } of second.memories) expect(scoreParts).toHaveProperty('meaning');
  });

  it('counts at most 10,000 memories without a vector [3.6d]', async () => {
    const { rows, ask } = openRecall();
    await rows.store(...Array.from({ length: 10_065 }, (_, at) => memoryRow(at, `${String(at)} 1`)));
    expect((await ask('1 0')).pending).toBe(10_000);
    expect((await ask('1 0')).pending).toBe(9_937);
  });

  it('finds vectors that others add later, between rows that were already read', async () => {
    const { rows, models, embedder, ask } = openRecall();
    await rows.store(...Array.from({ length: 130 }, (_, at) => memoryRow(at, `${String(at)} 1`)));
    expect((await ask('1 0', { limit: 100 })).pending).toBe(66);
    const lacking = await models.withoutVector(projection, {
      embedder: embedder.id,
      limit: 100,
    });
    await models.setVectors(
      projection,
      embedder.id,
      lacking.map((row) => ({ ...row, vector: unitOf(row.text) })),
    );
    const recalled = await ask('0 1', { limit: 100 });
    expect(recalled.pending).toBe(0);
    expect(recalled.memories.slice(0, 3).map(({ row }) => row.revision)).toEqual([0, 1, 2]);
  });

  it('finds a text without a vector by its words, and everything by its words if the query has no vector [3.6e]', async () => {
    const { rows, ask } = openRecall();
    await rows.store(memoryRow(1, 'ruby'), memoryRow(2, 'ruby 1 0'), memoryRow(3, 'pearl'));
    expect(texts(await ask('ruby 1 0'))).toEqual(['ruby 1 0', 'ruby']);
    expect(texts(await ask('ruby'))).toEqual(['ruby 1 0', 'ruby']);
  });

  it('ignores the mind of the same name of another tenant, and fails for an unknown mind', async () => {
    const { rows, recall, ask, embedder } = openRecall();
    await rows.store(memoryRow(1, '1 0'));
    const asked = { npcId: 'mira', query: '1 0', limit: 9, minScore: 0 };
    expect(await recall({ ...asked, tenant: 'other' })).toEqual({
      memories: [],
      embedder: 'numbers@1',
      pending: 0,
      byWords: null,
      revision: -1,
    });
    expect(embedder.embedded).toEqual([]);
    expect(texts(await ask('1 0'))).toEqual(['1 0']);
  });

  it('never mixes the vectors of two embedders [3.6b]', async () => {
    const rows = new MemoryRows();
    const one = openRecall(new NumberEmbedder('one@1'), CACHE_BYTES, rows);
    await rows.store(memoryRow(1, '1 0'), memoryRow(2, '0 1'));
    await one.ask('1 0');
    /** The same texts are elsewhere in its space. */
    class Turned extends NumberEmbedder {
      override async embed(...asked: Parameters<NumberEmbedder['embed']>) {
        return (await super.embed(...asked)).map(
          (vector) => vector && Float32Array.of(-(vector[1] ?? 0), vector[0] ?? 0, 0),
        );
      }
    }
    const two = openRecall(new Turned('two@1'), CACHE_BYTES, rows);
    expect(texts(await two.ask('0 1', { minScore: 0.9 }))).toEqual(['0 1']);
    expect([...two.embedder.embedded].sort()).toEqual(['0 1', '0 1', '1 0']);
    // The rows that the first one has read stay in its own space.
    expect(texts(await one.ask('1 0', { minScore: 0.9 }))).toEqual(['1 0']);
  });

  it('fails while the embedder is unavailable, and works when it is back [3.6f]', async () => {
    const { rows, embedder, ask } = openRecall();
    await rows.store(memoryRow(1, '1 0'));
    embedder.isAway = true;
    await expect(ask('1 0')).rejects.toMatchObject({ code: 'EMBEDDER_UNAVAILABLE' });
    embedder.isAway = false;
    expect(texts(await ask('1 0'))).toEqual(['1 0']);
  });

  it('continues without the vector of a text that the embedder refuses', async () => {
    const { rows, embedder, ask } = openRecall();
    await rows.store(memoryRow(1, 'ruby 1 0'), memoryRow(2, 'ruby 0 1'), memoryRow(3, 'ruby 1 1'));
    embedder.refused.add('ruby 0 1');
    const recalled = await ask('ruby 1 0');
    expect(recalled.pending).toBe(1);
    const parts = recalled.memories.map(({ row, scoreParts }) => [row.text, Object.keys(scoreParts)]);
    expect(parts).toContainEqual(['ruby 0 1', ['words']]);
    expect(parts).toContainEqual(['ruby 1 1', ['meaning', 'words']]);
  });

  it('waits 1.2 s for the vectors of its mind, keeps the finished ones, and matches the rest by their words [1.8d, 3.6c]', async () => {
    const { rows, embedder, ask } = openRecall();
    await rows.store(...Array.from({ length: 64 }, (_, at) => memoryRow(at, `ruby ${String(at)} 1`)));
    const embed = embedder.embed.bind(embedder);
    embedder.embed = async (texts, options) => {
      if (texts.some((text) => text.startsWith('ruby'))) await pause(rows.clock, 500, options.signal);
      return embed(texts, options);
    };
    const asked = ask('1 0', { limit: 100 });
    await settle(50);
    await rows.clock.advance(1_200);
    const { pending, memories } = await asked;
    expect(pending).toBe(61);
    expect(memories.filter(({ scoreParts }) => 'meaning' in scoreParts)).toHaveLength(3);
  });

  it('gives the texts of its mind their time even if the model must be loaded first', async () => {
    const { rows, embedder, ask } = openRecall();
    await rows.store(memoryRow(1, '1 0'));
    const embed = embedder.embed.bind(embedder);
    const loaded = pause(rows.clock, 5_000);
    embedder.embed = async (asked, options) => {
      await loaded;
      return embed(asked, options);
    };
    const asked = ask('1 1');
    await settle();
    await rows.clock.advance(5_000);
    expect((await asked).pending).toBe(0);
  });

  it('takes no longer than one when several wait for the same mind', async () => {
    const { rows, embedder, ask } = openRecall();
    await rows.store(...Array.from({ length: 64 }, (_, at) => memoryRow(at, `${String(at)} 1`)));
    const embed = embedder.embed.bind(embedder);
    embedder.embed = async (texts, options) => {
      if (texts[0] !== '1 0') await pause(rows.clock, 60_000, options.signal);
      return embed(texts, options);
    };
    const asked = Promise.all([ask('1 0'), ask('1 0'), ask('1 0')]);
    await settle(50);
    await rows.clock.advance(1_200);
    expect((await asked).map(({ pending }) => pending)).toEqual([64, 64, 64]);
  });

  it('needs no embedder for a cached query: memories without a vector are matched by their words [3.6f]', async () => {
    const { rows, embedder, ask } = openCached();
    await rows.store(memoryRow(1, 'ruby 1 0'));
    await ask('ruby 1 0');
    await rows.store(memoryRow(2, 'ruby 0 1'));
    embedder.isAway = true;
    const recalled = await ask('ruby 1 0');
    expect([texts(recalled), recalled.pending]).toEqual([['ruby 0 1', 'ruby 1 0'], 1]);
  });

  it('waits once for the requested revision', async () => {
    const { rows, models, ask } = openRecall();
    await rows.store(memoryRow(4, '1 0'));
    const waits = vi.spyOn(models, 'reached');
    expect(texts(await ask('1 0', { minRevision: 4 }))).toEqual(['1 0']);
    expect(waits.mock.calls.map(([, , revision]) => revision)).toEqual([4]);
    const late = expect(ask('1 0', { minRevision: 5 })).rejects.toMatchObject({ code: 'READ_MODEL_BEHIND' });
    await settle();
    await rows.clock.advance(2_000);
    await late;
  });

  it('calls the embedder only once for a text, as a query and as a memory of it [3.9b]', async () => {
    const { rows, embedder, ask } = openCached();
    await rows.store(memoryRow(1, '1 0'));
    await ask('0 1');
    await ask('0 1');
    await rows.store(memoryRow(2, '0 1'));
    expect(texts(await ask('0 1'))).toEqual(['0 1', '1 0']);
    expect(embedder.embedded.sort()).toEqual(['0 1', '1 0']);
  });

  it('ends with the reason of its signal', async () => {
    const { rows, recall } = openRecall();
    await rows.store(memoryRow(1, '1 0'));
    const asked = { tenant: TENANT, npcId: 'mira', query: '1 0', limit: 9, minScore: 0, asOf: EVER };
    await expect(recall(asked, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  });

  it('yields after each slice and each page of a mind that is too large for the cache', async () => {
    const { rows, models, ask } = openRecall(new NumberEmbedder(), 20_000);
    const many = Array.from({ length: 400 }, (_, at) => memoryRow(at, `${String(at)} 1`));
    await rows.store(...many);
    for (let left = 400; left > 0; left -= 64) await ask('1 0');
    const pages = vi.spyOn(models, 'vectors');
    using turns = countTurns();
    const recalled = await ask('0 1', { limit: 3 });
    expect(recalled.memories.map(({ row }) => row.revision)).toEqual([0, 1, 2]);
    expect(pages.mock.calls.length).toBeGreaterThan(1);
    expect(turns.count).toBeGreaterThanOrEqual(pages.mock.calls.length);
    // It is not read into the cache repeatedly.
    const calls = pages.mock.calls.length;
    await ask('0 1', { limit: 3 });
    expect(pages.mock.calls.length).toBe(2 * calls);
  });

  it('by words finds what a player may hear among any number of newer secrets of others, with the same score [12.2b]', async () => {
    const { rows, ask } = openRecall();
    const of = (id: string) => ({ player: { id, from: 'body' } as const, turnId: 't1' });
    await rows.store(
      memoryRow(1, 'the mill is haunted'),
      memoryRow(2, 'my uncle owns the mill', of('ann')),
      memoryRow(3, 'an uncle came', of('ann')),
    );
    const heard = () => ask('uncle mill', { player: 'ann', limit: 3 });
    const alone = await heard();
    expect(texts(alone)).toEqual(['my uncle owns the mill', 'an uncle came', 'the mill is haunted']);
    await rows.store(
      ...Array.from({ length: 1_500 }, (_, at) => memoryRow(4 + at, `the mill ${'abc'[at % 3]}`, of('ben'))),
    );
    const among = await heard();
    expect(among.memories).toEqual(alone.memories);
    expect(texts(await ask('uncle mill', { player: '', limit: 3 }))).toEqual(['the mill is haunted']);
    const byAnybody = await ask('mill', { limit: 3 });
    expect(texts(byAnybody)).toEqual(['the mill c', 'the mill b', 'the mill a']);
  });

  it('by words finds everything that a player may hear while memories have no groups yet [12.2b]', async () => {
    const before: typeof projection = { ...projection, version: projection.version - 1, textGroupOf: () => null };
    const { rows, models, ask } = openRecall(undefined, undefined, new MemoryRows(before));
    await rows.store(
      memoryRow(1, 'the mill is haunted'),
      memoryRow(2, 'a secret of the mill', { player: { id: 'ben', from: 'body' } }),
    );
    await models.swapIn(await models.open(before));
    await models.open(projection);
    expect(texts(await ask('mill', { player: 'ann' }))).toEqual(['the mill is haunted']);
  });

  it('returns the same as a comparison with every memory, for any range, filters and limit', async () => {
    const memory = fc.record({
      numbers: fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 3, maxLength: 3 }),
      type: fc.constantFrom('observation', 'emotion'),
      importance: fc.constantFrom(0, 0.25, 0.5, 0.75, 1),
      gap: fc.integer({ min: 1, max: 3 }),
    });
    const asked = fc.record({
      query: fc.constantFrom('1 0 0', '1 2 3', '-1 1 0', '0 0 1'),
      limit: fc.integer({ min: 1, max: 20 }),
      minScore: fc.constantFrom(0, 0.3, 0.5, 0.9),
      types: fc.option(fc.subarray(['observation', 'emotion', 'other'])),
      minImportance: fc.option(fc.constantFrom(0.25, 0.75)),
      asOf: fc.integer({ min: 0, max: 150 }),
      cacheBytes: fc.constantFrom(2_000, CACHE_BYTES),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(memory, { maxLength: 60 }),
        fc.array(asked, { minLength: 1, maxLength: 4 }),
        async (drawn, questions) => {
          const embedder = new NumberEmbedder();
          let revision = 0;
          const stored: MemoryRow[] = drawn.map(({ numbers, gap, ...more }) =>
            memoryRow((revision += gap), numbers.join(' '), more),
          );
          for (const { query, limit, minScore, types, minImportance, asOf, cacheBytes } of questions) {
            const { rows, ask } = openRecall(embedder, cacheBytes);
            await rows.store(...stored);
            const filters = { ...(types && { types }), ...(minImportance !== null && { minImportance }) };
            const { memories } = await ask(query, { limit, minScore, asOf, ...filters });
            const vector = unitOf(query) ?? new Float32Array();
            const expected = stored
              .filter((row) => row.revision <= asOf && (types === null || types.includes(row.type)))
              .filter((row) => minImportance === null || row.importance >= minImportance)
              .flatMap((row) => {
                const other = unitOf(row.text);
                const cosine = other?.reduce((sum, value, at) => sum + value * (vector[at] ?? 0), 0);
                return cosine === undefined ? [] : [{ revision: row.revision, score: embedder.score(cosine) }];
              })
              .filter(({ score }) => score >= minScore)
              .sort((one, other) => other.score - one.score || other.revision - one.revision)
              .slice(0, limit);
            const meant = memories.filter(({ scoreParts }) => 'meaning' in scoreParts);
            expect(meant.map(({ row, score }) => ({ revision: row.revision, score }))).toEqual(
              expected.slice(0, meant.length),
            );
            // Memories without a vector may be included by their words.
            if (stored.every(({ text }) => unitOf(text) !== null)) expect(meant).toHaveLength(expected.length);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
