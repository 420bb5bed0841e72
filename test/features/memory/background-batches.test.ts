import { describe, expect, it, vi } from 'vitest';

import { cachedEmbedder } from '../../../src/adapters/embedders/cached-embedder.js';
import type { Embedder } from '../../../src/ports/embedder.js';
import { ASIDE_MS, BackgroundBatches } from '../../../src/features/memory/background-batches.js';
import { EMBED_TEXTS } from '../../../src/ports/embedder.js';
import { memories } from '../../../projections/memories.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { MemoryRows, memoryRow, NumberEmbedder, STREAM } from '../../support/recall-scene.js';

const openScene = async (count: number, more = '') => {
  const rows = new MemoryRows();
  await rows.store(...Array.from({ length: count }, (_, at) => memoryRow(at, `${String(at)} 1${more}`)));
  const embedder = new NumberEmbedder();
  const { models, clock } = rows;
  const vectors = async () =>
    (await models.vectors(memories, { embedder: embedder.id, stream: STREAM, limit: 100 })).length;
  const batchesOf = (by: Embedder) => {
    const batches = new BackgroundBatches({ rowSearch: models, embedder: by, clock });
    return () => batches.next({ urgent: false });
  };
  return { embedder, vectors, batchesOf, embed: batchesOf(embedder), clock };
};

describe('embedding missing vectors', () => {
  it('finds the texts that fail, and embeds all others', async () => {
    const { embedder, vectors, embed } = await openScene(50);
    for (const at of [0, 17, 18, 49]) embedder.refused.add(`${String(at)} 1`);
    const { embedded, failed } = await embed();
    expect(failed.map(({ text }) => text).sort()).toEqual(['0 1', '17 1', '18 1', '49 1']);
    expect([embedded.length, await vectors()]).toEqual([46, 46]);
  });

  it('processes long texts a few at a time, so that results are stored early', async () => {
    const { embed, vectors } = await openScene(20, ' of a long story'.repeat(320));
    const done: number[] = [];
    for (let rounds = 0; rounds < 3; rounds += 1) {
      await embed();
      done.push(await vectors());
    }
    expect(done).toEqual([4, 8, 12]);
  });

  it('blames a text that fails alone only if another one can be embedded', async () => {
    const { embedder, embed } = await openScene(1);
    embedder.refused.add('0 1');
    expect((await embed()).failed).toHaveLength(1);
    embedder.isAway = true;
    await expect(embed()).rejects.toMatchObject({ code: 'EMBEDDER_UNAVAILABLE' });
  });

  it('puts a text aside on which alone the embedder fails, and embeds the others [3.9c]', async () => {
    const { embedder, embed, vectors, clock } = await openScene(3);
    const take = embedder.embed.bind(embedder);
    embedder.embed = async (texts, options) => {
      if (texts.includes('1 1')) throw new Rejection('EMBEDDER_UNAVAILABLE', { retryAfter: 1 });
      return take(texts, options);
    };
    const aside: string[] = [];
    for (let calls = 0; calls < 8; calls += 1) {
      const outcome = await embed().catch(() => null);
      if (outcome?.aside) aside.push(outcome.aside.text);
    }
    expect([aside, await vectors()]).toEqual([['1 1'], 2]);
    embedder.embed = take;
    await clock.advance(ASIDE_MS - 1);
    expect((await embed()).embedded).toEqual([]);
    await clock.advance(1);
    expect((await embed()).embedded.map(({ text }) => text)).toEqual(['1 1']);
  });

  it('embeds all texts in few calls by an embedder that is too slow for many at a time [3.9c]', async () => {
    const { embedder, embed, vectors } = await openScene(EMBED_TEXTS);
    const take = embedder.embed.bind(embedder);
    let calls = 0;
    embedder.embed = async (texts, options) => {
      calls += 1;
      if (texts.length > 8) throw new Rejection('EMBEDDER_UNAVAILABLE', { retryAfter: 1 });
      return take(texts, options);
    };
    while ((await vectors()) < EMBED_TEXTS && calls < 100) await embed().catch(() => undefined);
    expect(await vectors()).toBe(EMBED_TEXTS);
    expect(embedder.embedded).toHaveLength(EMBED_TEXTS);
    expect(calls).toBeLessThanOrEqual(3 + 2 * 8);
  });

  it('blames no text if everything is refused, even if it has a vector of the text that it tries', async () => {
    const { embedder, batchesOf } = await openScene(1);
    embedder.refused.add('0 1');
    const embed = batchesOf(cachedEmbedder(embedder, 1_000_000));
    expect((await embed()).failed).toHaveLength(1);
    embedder.refused.add('The sun rises.');
    await expect(embed()).rejects.toMatchObject({ code: 'EMBEDDER_UNAVAILABLE' });
  });

  it('calls an unavailable embedder once, not once for each text', async () => {
    const { embedder, embed } = await openScene(50);
    embedder.isAway = true;
    const calls = vi.spyOn(embedder, 'embed');
    await expect(embed()).rejects.toMatchObject({ code: 'EMBEDDER_UNAVAILABLE' });
    expect(calls).toHaveBeenCalledTimes(1);
  });

  it('blames no text when too many calls are waiting', async () => {
    const { embedder, embed } = await openScene(2);
    const calls = vi.spyOn(embedder, 'embed').mockRejectedValueOnce(new Rejection('BUSY', { retryAfter: 1 }));
    await expect(embed()).rejects.toMatchObject({ code: 'BUSY' });
    expect(calls).toHaveBeenCalledTimes(1);
  });
});
