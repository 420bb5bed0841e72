import { describe, expect, it } from 'vitest';

import { inSlices } from '../../../src/kernel/concurrency/in-slices.js';

describe('work in slices', () => {
  it('yields after each slice, and returns the result of the work', async () => {
    const order: string[] = [];
    const work = function* (): Generator<number, string, void> {
      for (const slice of ['first', 'second', 'third']) {
        order.push(slice);
        yield 1;
      }
      return 'done';
    };
    let over = false;
    const others = (): void => {
      order.push('others');
      if (!over) setImmediate(others);
    };
    setImmediate(others);
    const result = await inSlices(work());
    over = true;
    expect(result).toBe('done');
    expect(order).toEqual(['first', 'others', 'second', 'others', 'third', 'others']);
  });
});
