import { describe, expect, it } from 'vitest';

import { reembed } from '../../../src/features/memory/reembed.js';
import { EMBED_TEXTS } from '../../../src/ports/embedder.js';
import { memories } from '../../../projections/memories.js';
import { MemoryRows, memoryRow, NumberEmbedder, STREAM } from '../../support/recall-scene.js';

const stored = async (count: number): Promise<MemoryRows> => {
  const rows = new MemoryRows();
  await rows.store(...Array.from({ length: count }, (_, at) => memoryRow(at, `${String(at)} 1`)));
  return rows;
};

describe('re-embedding everything', () => {
  it('embeds memories without a vector of this embedder, reports its progress, and then does nothing [3.6b, 11.5g]', async () => {
    const { models, clock } = await stored(150);
    await reembed({ rowSearch: models, clock, embedder: new NumberEmbedder('old@1') });
    const embedder = new NumberEmbedder('new@1');
    const told: string[] = [];
    const embedded = await reembed({ rowSearch: models, clock, embedder }, (progress) =>
      told.push(`${String(progress.embedded)} of ${String(progress.total)}`),
    );
    expect(embedded).toBe(150);
    expect(told).toEqual(['0 of 150', '64 of 150', '128 of 150', '150 of 150']);
    const query = { embedder: 'new@1', stream: STREAM, limit: 1_000 };
    expect(await models.vectors(memories, query)).toHaveLength(150);
    expect(await models.vectors(memories, { ...query, embedder: 'old@1' })).toEqual([]);
    expect(await reembed({ rowSearch: models, clock, embedder })).toBe(0);
    expect(embedder.embedded).toHaveLength(150);
  });

  it('continues after a kill with the rest: only the running batch is embedded twice', async () => {
    const { models, clock } = await stored(200);
    const embedder = new NumberEmbedder();
    const set = models.setVectors.bind(models);
    let batches = 0;
    const killed = Object.assign(Object.create(models) as typeof models, {
      withoutVector: models.withoutVector.bind(models),
      countWithoutVector: models.countWithoutVector.bind(models),
      setVectors: async (...asked: Parameters<typeof set>) => {
        if ((batches += 1) === 3) throw new Error('killed');
        return set(...asked);
      },
    });
    await expect(reembed({ rowSearch: killed, clock, embedder })).rejects.toThrow('killed');
    expect(await reembed({ rowSearch: models, clock, embedder })).toBe(200 - 2 * EMBED_TEXTS);
    expect(embedder.embedded).toHaveLength(200 + EMBED_TEXTS);
  });

  it('skips texts that keep failing, and reports their number', async () => {
    const { models, clock } = await stored(150);
    const embedder = new NumberEmbedder();
    for (const at of [0, 1, 149]) embedder.refused.add(`${String(at)} 1`);
    let passedOver = 0;
    expect(await reembed({ rowSearch: models, clock, embedder }, (progress) => ({ passedOver } = progress))).toBe(147);
    expect(passedOver).toBe(3);
    expect(await reembed({ rowSearch: models, clock, embedder })).toBe(0);
  });

  it('ends when vectors are not accepted', async () => {
    const { models, clock } = await stored(2);
    const deaf = Object.assign(Object.create(models) as typeof models, {
      withoutVector: models.withoutVector.bind(models),
      countWithoutVector: models.countWithoutVector.bind(models),
      setVectors: () => Promise.resolve(),
    });
    await expect(reembed({ rowSearch: deaf, clock, embedder: new NumberEmbedder() })).rejects.toThrow(
      'was not accepted',
    );
  });
});
