import { describe, expect, it } from 'vitest';

import { BatchQueue } from '../../../src/kernel/concurrency/batch-queue.js';
import { yieldToEventLoop } from '../../../src/kernel/concurrency/yield-to-event-loop.js';

/** A queue that doubles numbers, and the batches that it handled. Zero breaks a batch. */
const doubling = (limits: ConstructorParameters<typeof BatchQueue>[0]) => {
  const batches: number[][] = [];
  const queue = new BatchQueue<number, number>(limits, (items) => {
    batches.push([...items]);
    if (items.includes(0)) throw new Error('zero');
    return items.map((item) => item * 2);
  });
  return { batches, queue };
};
const busy = { code: 'BUSY', retryAfter: 1 };

describe('A batch queue', () => {
  it('handles the items of one turn of the event loop together, and gives each its own result', async () => {
    const { batches, queue } = doubling({ queued: 9, batched: 9 });
    expect(await Promise.all([1, 2, 3].map((item) => queue.add(item)))).toEqual([2, 4, 6]);
    expect(await queue.add(4)).toBe(8);
    expect(batches).toEqual([[1, 2, 3], [4]]);
  });

  it('rejects every item of a failing batch, and no other', async () => {
    const { queue } = doubling({ queued: 9, batched: 2 });
    const results = await Promise.allSettled([1, 0, 3].map((item) => queue.add(item)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });

  it('limits a batch by count and by weight, but accepts a single item that is too heavy', async () => {
    const { batches, queue } = doubling({ queued: 9, batched: 2, batchedWeight: 10 });
    const items = [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 10],
      [5, 99],
    ] as const;
    await Promise.all(items.map(([item, weight]) => queue.add(item, weight)));
    expect(batches).toEqual([[1, 2], [3], [4], [5]]);
  });

  it('refuses items over its limits, and has room again once a batch is handled', async () => {
    const { queue } = doubling({ queued: 2, queuedWeight: 10, batched: 9 });
    const all = [queue.add(1, 9)];
    await expect(queue.add(2, 2)).rejects.toMatchObject(busy);
    all.push(queue.add(3, 1));
    await expect(queue.add(4)).rejects.toMatchObject(busy);
    await yieldToEventLoop();
    all.push(queue.add(5, 10));
    expect(await Promise.all(all)).toEqual([2, 6, 10]);
  });

  it('handles all waiting items immediately when it is flushed', async () => {
    const { batches, queue } = doubling({ queued: 9, batched: 1 });
    const all = Promise.all([1, 2].map((item) => queue.add(item)));
    queue.flush();
    expect(batches).toEqual([[1], [2]]);
    expect(await all).toEqual([2, 4]);
  });
});
