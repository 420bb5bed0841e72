import { describe, expect, it } from 'vitest';

import { mapLimited } from '../../../src/kernel/concurrency/map-limited.js';
import { gate } from '../../support/gate.js';
import { settle } from '../../support/settle.js';
import { turnsDuring } from '../../support/turns.js';

const items = Array.from({ length: 20 }, (_, n) => n);

describe('work on many items', () => {
  it('has its results in the order of the items, a limited number at a time', async () => {
    let [running, most] = [0, 0];
    const results = await mapLimited(items, 3, async (n) => {
      running += 1;
      most = Math.max(most, running);
      await settle(5 + (n % 4));
      running -= 1;
      return n * 2;
    });
    expect(results).toEqual(items.map((n) => n * 2));
    expect(most).toBe(3);
    expect(await mapLimited([], 3, () => Promise.reject(new Error('none')))).toEqual([]);
  });

  it('begins no item after an error, and ends what has begun', async () => {
    const { opened, open } = gate();
    const begun: number[] = [];
    let isOver = false;
    const work = mapLimited(items, 2, async (n) => {
      begun.push(n);
      if (n === 0) await opened;
      if (n === 1) throw new Error('one');
    }).finally(() => (isOver = true));
    const refused = expect(work).rejects.toThrow('one');
    await settle(8);
    expect([begun, isOver]).toEqual([[0, 1], false]);
    open();
    await refused;
    expect(begun).toEqual([0, 1]);
  });

  it('lets other work run before each item', async () => {
    expect(await turnsDuring(() => mapLimited(items, 8, () => Promise.resolve()))).toBeGreaterThanOrEqual(items.length);
  });
});
