import { describe, expect, it } from 'vitest';

import { withMore } from '../../../src/kernel/read-models/with-more.js';
import { settle } from '../../support/settle.js';

/** Batches that arrive when the test releases them. */
const source = () => {
  const waiting: number[] = [];
  let ended = false;
  let left = false;
  let wake = (): void => undefined;
  async function* batches(): AsyncGenerator<number, void, undefined> {
    try {
      while (!ended) {
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      left = true;
    }
  }
  return {
    batches,
    come: (...more: readonly number[]) => {
      waiting.push(...more);
      wake();
    },
    end: () => {
      ended = true;
      wake();
    },
    get left() {
      return left;
    },
  };
};

describe('Batches with a look-ahead', () => {
  it('report whether the next one is available, without waiting for it', async () => {
    const { batches, come, end } = source();
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const { batch, more } of withMore(batches())) seen.push([batch, more]);
    })();
    come(1, 2, 3);
    await settle(8);
    expect(seen).toEqual([
      [1, true],
      [2, true],
      [3, false],
    ]);
    come(4);
    await settle(8);
    expect(seen.at(-1)).toEqual([4, false]);
    end();
    await reading;
    expect(seen).toHaveLength(4);
  });

  it('can be left while the next one is awaited', async () => {
    const given = source();
    const reading = (async () => {
      for await (const { batch } of withMore(given.batches())) throw new Error(`refused ${String(batch)}`);
    })();
    given.come(1);
    await expect(reading).rejects.toThrow('refused 1');
    given.end();
    await settle(2);
    expect(given.left).toBe(true);
  });

  it('throw the error of the source, after the batches before it', async () => {
    const failing = async function* (): AsyncGenerator<number, void, undefined> {
      yield 1;
      await Promise.reject(new Error('gone'));
    };
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const found of withMore(failing())) seen.push(found);
    })();
    await expect(reading).rejects.toThrow('gone');
    expect(seen).toEqual([{ batch: 1, more: false }]);
  });
});
