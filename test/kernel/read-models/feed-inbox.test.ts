import { describe, expect, it } from 'vitest';

import { FeedInbox } from '../../../src/kernel/read-models/feed-inbox.js';
import type { FeedBatch } from '../../../src/ports/event-feed.js';
import { settle } from '../../support/settle.js';

const batchOf = (partition: number, links: number, bytes: number): FeedBatch => ({
  partition,
  links: Array.from({ length: links }, () => ({ partitions: 9, follows: 0, position: 1, event: null })),
  bytes,
  isStale: () => false,
});

const roundsOf = async (sizes: readonly (readonly [links: number, bytes: number])[]): Promise<readonly number[]> => {
  const inbox = new FeedInbox({ links: 10, bytes: 1_000 });
  for (const [partition, [links, bytes]] of sizes.entries()) void inbox.put(batchOf(partition, links, bytes));
  const rounds: number[] = [];
  for (let left = sizes.length; left > 0;) {
    const taken = (await inbox.take()).length;
    rounds.push(taken);
    left -= taken;
  }
  return rounds;
};

describe('The inbox of a feed', () => {
  it('does not grow while partitions move and no batch is taken', async () => {
    const inbox = new FeedInbox({ links: 10, bytes: 1_000 });
    const answers: string[] = [];
    let stale = false;
    const put = (name: string, batch: FeedBatch): void =>
      void inbox.put(batch).then((handled) => answers.push(`${name} ${String(handled)}`));
    put('moved', { ...batchOf(1, 1, 1), isStale: () => stale });
    put('first', batchOf(0, 1, 1));
    stale = true;
    put('second', batchOf(0, 1, 1));
    const taken = await inbox.take();
    for (const { done } of taken) done(true);
    await settle(4);
    expect(taken.map(({ batch }) => batch.partition)).toEqual([0]);
    expect(answers.sort()).toEqual(['first false', 'moved false', 'second true']);
  });

  it('joins batches up to a number of events', async () => {
    expect(await roundsOf(Array.from({ length: 7 }, () => [4, 1]))).toEqual([3, 3, 1]);
  });

  it('joins batches up to a size', async () => {
    expect(await roundsOf(Array.from({ length: 7 }, () => [1, 400]))).toEqual([3, 3, 1]);
    expect(
      await roundsOf([
        [1, 5_000],
        [1, 5_000],
      ]),
    ).toEqual([1, 1]);
  });

  it.each([
    ['many', 10, 1],
    ['large', 1, 1_000],
  ])('reports when the waiting ones are %s', (_, links, bytes) => {
    const inbox = new FeedInbox({ links: 10, bytes: 1_000 });
    let calls = 0;
    const stop = inbox.onFull(() => (calls += 1));
    void inbox.put(batchOf(0, links - 1, bytes - 1));
    expect([inbox.isFull, calls]).toEqual([false, 0]);
    void inbox.put(batchOf(1, 1, 1));
    expect([inbox.isFull, calls]).toEqual([true, 1]);
    stop();
    void inbox.put(batchOf(2, 1, 1));
    expect(calls).toBe(1);
  });
});
