import { describe, expect, it, vi } from 'vitest';

import { type MindVectors, OPEN_ROWS, OPEN_ROWS_MS, VectorCache } from '../../../src/features/memory/vector-cache.js';
import { memories } from '../../../projections/memories.js';
import { revisionOrder } from '../../../src/kernel/read-models/row-order.js';
import { MemoryRows, memoryRow, NumberEmbedder, STREAM, unitOf } from '../../support/recall-scene.js';

const openCache = (maxBytes = 1024 * 1024) => {
  const rows = new MemoryRows();
  const embedder = new NumberEmbedder();
  const { models, clock } = rows;
  const cache = new VectorCache({ rowSearch: models, embedder, clock }, maxBytes);
  const look = (upTo: string): Promise<MindVectors> => cache.of({ stream: STREAM, within: {} }, upTo);
  /** The revisions up to a bound that have a vector there. */
  const revisions = async (upTo: number, stream = STREAM): Promise<readonly number[]> => {
    return revisionsOf(await cache.of({ stream, within: {} }, revisionOrder(upTo)));
  };
  const revisionsOf = async ({ parts }: MindVectors): Promise<readonly number[]> => {
    const found: number[] = [];
    for await (const part of parts) for (let at = 0; at < part.count; at += 1) found.push(Number(part.orderOf(at)));
    return found;
  };
  const vectorCalls = () => vi.spyOn(models, 'vectors').mock.calls;
  const setAll = async (limit = 10_000): Promise<void> => {
    const lacking = await models.withoutVector(memories, { embedder: embedder.id, limit });
    await models.setVectors(
      memories,
      embedder.id,
      lacking.map((row) => ({ ...row, vector: unitOf(row.text) })),
    );
  };
  return { rows, models, clock, embedder, cache, look, revisions, revisionsOf, vectorCalls, setAll };
};
const many = (count: number, stream = STREAM) =>
  Array.from({ length: count }, (_, at) => memoryRow(at, `${String(at)} 1`, { stream }));

describe('the cached vectors of a mind', () => {
  it('are read once, and afterwards only the newer ones', async () => {
    const { rows, revisions, vectorCalls } = openCache();
    await rows.store(...many(3));
    const calls = vectorCalls();
    expect(await revisions(2)).toEqual([0, 1, 2]);
    expect(await revisions(2)).toEqual([0, 1, 2]);
    expect(calls).toHaveLength(1);
    await rows.store(memoryRow(7, '7 1'));
    expect(await revisions(7)).toEqual([0, 1, 2, 7]);
    expect(calls.at(-1)?.[1].within).toEqual({ above: revisionOrder(2), upTo: revisionOrder(7) });
    expect(calls).toHaveLength(2);
  });

  it('include vectors that were added later, between those that were already read', async () => {
    const { rows, revisions, setAll } = openCache();
    await rows.store(...many(200));
    // The read itself embeds the newest 64.
    expect(await revisions(199)).toEqual(Array.from({ length: 64 }, (_, at) => 136 + at));
    await setAll();
    expect(await revisions(199)).toEqual(Array.from({ length: 200 }, (_, at) => at));
  });

  it('stay unchanged for their holder while more are read', async () => {
    const { rows, look, revisionsOf, setAll } = openCache();
    await rows.store(...many(200));
    const newest = Array.from({ length: 64 }, (_, at) => 136 + at);
    const early = await look(revisionOrder(199));
    await setAll();
    const late = await look(revisionOrder(199));
    await rows.store(memoryRow(300, '300 1'));
    await look(revisionOrder(300));
    expect([await revisionsOf(early), (await revisionsOf(late)).length]).toEqual([newest, 200]);
  });

  it('are reread only from time to time if many rows still change, while new rows are read immediately', async () => {
    const { rows, clock, revisions, setAll } = openCache();
    const count = OPEN_ROWS + 400;
    await rows.store(...many(count));
    await setAll(OPEN_ROWS + 64);
    const first = (await revisions(count)).length;
    expect(first).toBeGreaterThan(OPEN_ROWS);
    expect(first).toBeLessThan(count);
    await rows.store(memoryRow(count + 1, '5 1'));
    const second = await revisions(count + 1);
    expect(second).toHaveLength(first + 1);
    expect(second.at(-1)).toBe(count + 1);
    await clock.advance(OPEN_ROWS_MS);
    expect((await revisions(count + 1)).length).toBeGreaterThan(first + 64);
  });

  it('are read by one caller when several ask at the same time', async () => {
    const { rows, revisions, vectorCalls } = openCache();
    await rows.store(...many(3));
    const calls = vectorCalls();
    const all = await Promise.all([revisions(2), revisions(2), revisions(2)]);
    expect(all).toEqual([
      [0, 1, 2],
      [0, 1, 2],
      [0, 1, 2],
    ]);
    expect(calls).toHaveLength(1);
  });

  it('are read on from the point where a failed read ended', async () => {
    const { rows, models, revisions, setAll } = openCache();
    await rows.store(...many(300));
    await setAll();
    const read = models.vectors.bind(models);
    const failing = vi.spyOn(models, 'vectors');
    failing.mockImplementationOnce(read).mockRejectedValueOnce(new Error('away'));
    await expect(revisions(299)).rejects.toThrow('away');
    expect(await revisions(299)).toEqual(Array.from({ length: 300 }, (_, at) => at));
  });

  it('are reread if one was removed during the read', async () => {
    const { rows, models, embedder, revisions, setAll } = openCache();
    await rows.store(...many(3));
    await setAll();
    const read = models.vectors.bind(models);
    const one = { key: `${STREAM}/m1`, text: '1 1', vector: unitOf('1 1') };
    vi.spyOn(models, 'vectors').mockImplementationOnce(async (...asked) => {
      await models.setVectors(memories, 'other@1', [one]);
      return read(...asked);
    });
    expect(await revisions(2)).toEqual([0, 2]);
    await models.setVectors(memories, embedder.id, [one]);
    expect(await revisions(2)).toEqual([0, 1, 2]);
  });

  it('do not wait for texts outside the requested range', async () => {
    const { rows, embedder, cache, revisionsOf } = openCache();
    await rows.store(...many(5));
    const seen = { stream: STREAM, within: { above: revisionOrder(2) } };
    const found = await cache.of(seen, revisionOrder(4));
    expect([found.pending, await revisionsOf(found), embedder.embedded.sort()]).toEqual([0, [3, 4], ['3 1', '4 1']]);
    const all = await cache.of({ stream: STREAM, within: {} }, revisionOrder(4));
    expect([all.pending, await revisionsOf(all)]).toEqual([0, [0, 1, 2, 3, 4]]);
  });

  it('stay within their memory limit: the least recently used minds are dropped first', async () => {
    const { rows, cache, revisions, vectorCalls } = openCache(30_000);
    const streams = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `npc-studio.${name}`);
    for (const stream of streams) await rows.store(...many(40, stream));
    for (const stream of streams) {
      expect(await revisions(39, stream)).toHaveLength(40);
      expect(cache.bytes).toBeLessThanOrEqual(30_000);
    }
    const calls = vectorCalls();
    await revisions(39, streams.at(-1));
    expect(calls).toHaveLength(0);
    await revisions(39, streams[0]);
    expect(calls.length).toBeGreaterThan(0);
  });

  it('of a mind that is too large are read page by page, each time', async () => {
    const { rows, cache, revisions, setAll, vectorCalls } = openCache(20_000);
    await rows.store(...many(500));
    await setAll();
    const calls = vectorCalls();
    expect(await revisions(499)).toEqual(Array.from({ length: 500 }, (_, at) => at));
    expect(await revisions(499)).toEqual(Array.from({ length: 500 }, (_, at) => at));
    expect(cache.bytes).toBe(0);
    for (const [, { limit }] of calls) expect(limit).toBeLessThan(150_000);
  });
});
