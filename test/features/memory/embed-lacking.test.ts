import { describe, expect, it, vi } from 'vitest';

import { embedLacking } from '../../../src/features/memory/embed-lacking.js';
import { memories } from '../../../projections/memories.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { MemoryRows, memoryRow, NumberEmbedder, STREAM } from '../../support/recall-scene.js';

const openScene = async (count: number, more = '') => {
  const rows = new MemoryRows();
  await rows.store(...Array.from({ length: count }, (_, at) => memoryRow(at, `${String(at)} 1${more}`)));
  const embedder = new NumberEmbedder();
  const { models } = rows;
  const vectors = async () =>
    (await models.vectors(memories, { embedder: embedder.id, stream: STREAM, limit: 100 })).length;
  return { embedder, vectors, embed: () => embedLacking({ rowSearch: models, embedder }, { urgent: false }) };
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

  it('blames no text for a temporary failure, even if the embedder accepts a short one', async () => {
    const { embedder, embed } = await openScene(1);
    const take = embedder.embed.bind(embedder);
    embedder.embed = async (texts, options) => {
      if (texts.includes('0 1')) throw new Rejection('EMBEDDER_UNAVAILABLE', { retryAfter: 1 });
      return take(texts, options);
    };
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
