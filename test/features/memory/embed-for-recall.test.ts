import { describe, expect, it } from 'vitest';

import { embedForRecall } from '../../../src/features/memory/embed-for-recall.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { MemoryRows, memoryRow, NumberEmbedder, STREAM } from '../../support/recall-scene.js';

const never = new AbortController().signal;

/** An embedder that records the number of texts of each call, and runs something before each. */
class Noting extends NumberEmbedder {
  readonly calls: number[] = [];
  before: () => void = () => undefined;

  override async embed(...asked: Parameters<NumberEmbedder['embed']>) {
    this.calls.push(asked[0].length);
    this.before();
    return super.embed(...asked);
  }
}

const openScene = async (texts: readonly string[]) => {
  const rows = new MemoryRows();
  await rows.store(...texts.map((text, at) => memoryRow(at, text)));
  const embedder = new Noting();
  const deps = { rowSearch: rows.models, embedder };
  return { embedder, embed: (signal = never) => embedForRecall(deps, { stream: STREAM, within: {} }, signal) };
};
const short = (count: number) => Array.from({ length: count }, (_, at) => `${String(at)} 1`);

describe('embedding for a waiting recall', () => {
  it('proceeds in growing groups of up to 64 texts, with long texts last and alone', async () => {
    const long = `1 ${'x'.repeat(5_000)}`;
    const { embedder, embed } = await openScene([...short(40), long, long, ...short(30)]);
    expect(await embed()).toBe(true);
    // The newest come first.
    expect(embedder.calls).toEqual([1, 2, 4, 8, 16, 16, 15, 1, 1]);
    expect(embedder.urgent).not.toContain(false);
    expect([await embed(), await embed()]).toEqual([true, false]);
  });

  it('keeps the finished vectors when its time is up', async () => {
    const { embedder, embed } = await openScene(short(64));
    const late = new AbortController();
    embedder.before = () => {
      if (embedder.calls.length === 3) late.abort();
    };
    expect(await embed(late.signal)).toBe(true);
    expect(embedder.calls).toEqual([1, 2, 4]);
    embedder.before = () => undefined;
    await embed();
    expect(embedder.embedded).toHaveLength(64);
  });

  it('leaves the rest for later when the embedder is unavailable or busy', async () => {
    const { embedder, embed } = await openScene(short(64));
    embedder.before = () => {
      if (embedder.calls.length === 2) throw new Rejection('BUSY', { retryAfter: 1 });
      if (embedder.calls.length > 3) embedder.isAway = true;
    };
    expect(await embed()).toBe(true);
    expect(embedder.embedded).toHaveLength(1);
    expect(await embed()).toBe(true);
    expect(embedder.embedded).toHaveLength(2);
  });

  it('fails on any other error', async () => {
    const { embedder, embed } = await openScene(short(1));
    embedder.before = () => {
      throw new Error('broken');
    };
    await expect(embed()).rejects.toThrow('broken');
  });
});
