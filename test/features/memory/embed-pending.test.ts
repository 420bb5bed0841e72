import { describe, expect, it, vi } from 'vitest';

import { MemoryRelayLease } from '../../support/memory/relay-lease.js';
import { EmbedPending, LOOK_MS, EMBEDDING_STANDBY_MS } from '../../../src/features/memory/embed-pending.js';
import { pause } from '../../../src/kernel/concurrency/pause.js';
import { EMBED_TEXTS, TextRefused } from '../../../src/ports/embedder.js';
import type { RelayLease } from '../../../src/ports/relay-lease.js';
import { memories } from '../../../projections/memories.js';
import { MemoryRows, memoryRow, NumberEmbedder, STREAM } from '../../support/recall-scene.js';

const openScene = () => {
  const rows = new MemoryRows();
  const embedder = new NumberEmbedder();
  const warned: object[] = [];
  const told: object[] = [];
  const log = { warn: (fields: object) => void warned.push(fields), info: (fields: object) => void told.push(fields) };
  const open = (lease: RelayLease | null = null, holder = 'one', share = 0.5): EmbedPending => {
    const { models, clock } = rows;
    const place = lease && { lease, holder };
    const pending = new EmbedPending({ rowSearch: models, embedder, clock, log, place, share });
    pending.start();
    return pending;
  };
  return { rows, embedder, warned, told, open };
};
const many = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => memoryRow(from + at, `${String(at)} 1`));

/** Makes each batch take this long. */
const slowDown = ({ clock }: MemoryRows, embedder: NumberEmbedder, ms: number): void => {
  const embed = embedder.embed.bind(embedder);
  embedder.embed = async (texts, options) => {
    await pause(clock, ms, options.signal);
    return embed(texts, options);
  };
};

describe('embedding in the background', () => {
  it('embeds every text of all minds once, in batches, with low priority [3.6d]', async () => {
    const { rows, embedder, open } = openScene();
    await rows.store(...many(100), memoryRow(0, '9 9', { stream: 'npc-other.tom' }));
    await using pending = open();
    for (let look = 0; look < 3; look += 1) await rows.clock.advance(LOOK_MS);
    expect([await pending.pending(), pending.embedded]).toEqual([0, 101]);
    expect(embedder.embedded).toHaveLength(101);
    expect(new Set(embedder.urgent)).toEqual(new Set([false]));
    expect(embedder.urgent).toHaveLength(2);
  });

  it('finds a new text within a second', async () => {
    const { rows, open } = openScene();
    await using pending = open();
    await rows.clock.advance(60_000);
    await rows.store(memoryRow(0, '1 0'));
    await rows.clock.advance(1_000);
    expect(pending.embedded).toBe(1);
  });

  it('rests after each batch, so that it stays within its share of the time', async () => {
    const { rows, embedder, open } = openScene();
    await rows.store(...many(3 * EMBED_TEXTS));
    slowDown(rows, embedder, 1_000);
    await using pending = open(null, 'one', 0.25);
    await rows.clock.advance(0);
    await rows.clock.advance(1_000);
    expect(pending.embedded).toBe(EMBED_TEXTS);
    await rows.clock.advance(3_999);
    expect(pending.embedded).toBe(EMBED_TEXTS);
    await rows.clock.advance(1);
    await rows.clock.advance(1_000);
    expect(pending.embedded).toBe(2 * EMBED_TEXTS);
  });

  it('rests in proportion to the threads that a batch uses', async () => {
    const { rows, embedder, open } = openScene();
    await rows.store(...many(2 * EMBED_TEXTS));
    slowDown(rows, embedder, 1_000);
    embedder.threads = 4;
    await using pending = open(null, 'one', 0.5);
    await rows.clock.advance(0);
    // Four seconds of work on one core, half of the time: eight seconds, one of which the batch itself takes.
    await rows.clock.advance(1_000);
    await rows.clock.advance(6_999);
    await rows.clock.advance(1_000);
    expect(pending.embedded).toBe(EMBED_TEXTS);
    await rows.clock.advance(1);
    expect(pending.embedded).toBe(2 * EMBED_TEXTS);
  });

  it('does not rest for the time of failed calls', async () => {
    const { rows, embedder, open } = openScene();
    await rows.store(...many(2));
    const embed = embedder.embed.bind(embedder);
    embedder.embed = async (texts, options) => {
      if (texts.includes('0 1')) {
        await pause(rows.clock, 60_000, options.signal);
        throw new TextRefused();
      }
      return embed(texts, options);
    };
    await using pending = open(null, 'one', 0.01);
    await rows.clock.advance(1);
    await rows.clock.advance(60_000);
    await rows.clock.advance(60_000);
    expect(pending.embedded).toBe(1);
    await rows.store(memoryRow(2, '2 1'));
    await rows.clock.advance(LOOK_MS);
    await rows.clock.advance(60_000);
    await rows.clock.advance(60_000);
    expect(pending.embedded).toBe(2);
  });

  it('rests for its share after slow batches too, and keeps its lease meanwhile', async () => {
    const { rows, embedder, open } = openScene();
    const lease = new MemoryRelayLease(rows.clock, 8_000);
    await rows.store(...many(2 * EMBED_TEXTS));
    slowDown(rows, embedder, 40_000);
    await using one = open(lease, 'one', 0.25);
    await rows.clock.advance(1);
    await using two = open(lease, 'two', 0.25);
    await rows.clock.advance(40_000);
    expect(one.embedded).toBe(EMBED_TEXTS);
    await rows.clock.advance(159_000);
    expect([one.embedded, two.embedded, await two.pending()]).toEqual([EMBED_TEXTS, 0, null]);
    await rows.clock.advance(2_000);
    expect([one.embedded, two.embedded]).toEqual([2 * EMBED_TEXTS, 0]);
  });

  it('retries while the embedder is unavailable, warns once, and reports the recovery', async () => {
    const { rows, embedder, warned, told, open } = openScene();
    await rows.store(memoryRow(0, '1 0'));
    embedder.isAway = true;
    await using pending = open();
    await rows.clock.advance(30_000);
    expect([warned, told]).toMatchObject([[{ embedder: 'numbers@1' }], []]);
    embedder.isAway = false;
    await rows.clock.advance(10_000);
    expect([pending.embedded, warned.length, told.length]).toEqual([1, 1, 1]);
  });

  it('skips a text that keeps failing alone, warns once, and embeds all others meanwhile [3.6e]', async () => {
    const { rows, embedder, warned, open } = openScene();
    await rows.store(...many(100));
    embedder.refused.add('3 1');
    const embeds = vi.spyOn(embedder, 'embed');
    await using pending = open();
    for (let look = 0; look < 20; look += 1) await rows.clock.advance(LOOK_MS);
    expect([pending.embedded, await pending.pending()]).toEqual([99, 0]);
    expect(warned).toEqual([{ embedder: embedder.id, row: `${STREAM}/m3` }]);
    expect(embeds.mock.calls.filter(([texts]) => texts.join() === '3 1')).toHaveLength(3);
    const query = { embedder: embedder.id, stream: STREAM };
    expect(await rows.models.hasMeaningless(memories, query)).toBe(true);
    await rows.store(memoryRow(200, '200 1'));
    await rows.clock.advance(LOOK_MS);
    expect(pending.embedded).toBe(100);
  });

  it('skips no text because the embedder is unavailable', async () => {
    const { rows, embedder, open } = openScene();
    await rows.store(...many(3));
    embedder.isAway = true;
    await using pending = open();
    await rows.clock.advance(600_000);
    embedder.isAway = false;
    await rows.clock.advance(10_000);
    expect(pending.embedded).toBe(3);
  });

  it('runs in one of several processes, and in another when that one ends', async () => {
    const { rows, embedder, open } = openScene();
    const lease = new MemoryRelayLease(rows.clock);
    const one = open(lease, 'one');
    await rows.clock.advance(1);
    await using two = open(lease, 'two');
    await rows.store(...many(10));
    await rows.clock.advance(10_000);
    expect([one.embedded, two.embedded, await two.pending()]).toEqual([10, 0, null]);
    await one[Symbol.asyncDispose]();
    await rows.store(...many(5, 10));
    await rows.clock.advance(EMBEDDING_STANDBY_MS + LOOK_MS);
    expect([two.embedded, await two.pending()]).toEqual([5, 0]);
    expect(embedder.embedded).toHaveLength(15);
  });

  it('keeps its lease during a long batch', async () => {
    const { rows, embedder, open } = openScene();
    const lease = new MemoryRelayLease(rows.clock, 8_000);
    await rows.store(memoryRow(0, '1 0'));
    slowDown(rows, embedder, 60_000);
    await using one = open(lease, 'one');
    await rows.clock.advance(1);
    await using two = open(lease, 'two');
    await rows.clock.advance(60_000);
    expect([one.embedded, two.embedded]).toEqual([1, 0]);
    expect(embedder.embedded).toEqual(['1 0']);
  });

  it('stops immediately, and gives up the current batch', async () => {
    const { rows, embedder, open } = openScene();
    await rows.store(memoryRow(0, '1 0'));
    embedder.embed = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    const pending = open();
    await rows.clock.advance(1);
    await pending[Symbol.asyncDispose]();
    expect(pending.embedded).toBe(0);
  });
});
