import { describe, expect, it } from 'vitest';

import { Semaphore } from '../../../src/kernel/concurrency/semaphore.js';
import { createShownPayloads } from '../../../src/features/souls/shown-payloads.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { gate } from '../../support/gate.js';

const MOST = 8;

/** An archive that has every payload except `none`, and how often each was read. */
const counting = () => {
  const reads = new Map<string, number>();
  const shown = createShownPayloads(async (digest) => {
    reads.set(digest, (reads.get(digest) ?? 0) + 1);
    if (digest === 'broken') throw new Error('no');
    return digest === 'none' ? null : Buffer.from(digest);
  }, new Semaphore(MOST));
  return { shown, reads };
};

describe('payloads in use', () => {
  it('are in memory once, however many readers they have', async () => {
    const { shown, reads } = counting();
    const readers = await Promise.all([shown.open('a'), shown.open('a'), shown.open('b')]);
    expect(readers.map((reader) => String(reader?.bytes))).toEqual(['a', 'a', 'b']);
    expect(readers[0]?.bytes).toBe(readers[1]?.bytes);
    readers[0]?.close();
    readers[0]?.close();
    await shown.open('a');
    expect([...reads]).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
  });

  it('are released with their last reader', async () => {
    const { shown, reads } = counting();
    for (let n = 0; n < 3; n += 1) (await shown.open('a'))?.close();
    expect(reads.get('a')).toBe(3);
  });

  it('are limited in number', async () => {
    const { shown } = counting();
    const names = Array.from({ length: MOST }, (_, n) => String(n));
    const [first] = await Promise.all(names.map((name) => shown.open(name)));
    await expect(shown.open('one more')).rejects.toMatchObject({ code: 'BUSY' });
    await shown.open('1');
    first?.close();
    expect(await shown.open('one more')).not.toBeNull();
  });

  it('that do not exist or cannot be read use no slot', async () => {
    const { shown } = counting();
    for (let n = 0; n <= MOST; n += 1) {
      expect(await shown.open('none')).toBeNull();
      await expect(shown.open('broken')).rejects.toThrow('no');
    }
    expect(await shown.open('a')).not.toBeNull();
  });

  it('are read for each tenant separately, and a refusal affects only its own tenant', async () => {
    const { opened, open } = gate();
    const shown = createShownPayloads(
      async (digest, tenant) => {
        await opened;
        if (tenant === 'one') throw new Rejection('BUSY');
        return Buffer.from(digest);
      },
      new Semaphore(MOST, 1),
    );
    const both = Promise.allSettled([shown.open('a', 'one'), shown.open('a', 'two')]);
    open();
    expect(await both).toMatchObject([{ reason: { code: 'BUSY' } }, { value: { bytes: Buffer.from('a') } }]);
    await expect(shown.open('b', 'two')).rejects.toMatchObject({ code: 'BUSY' });
    expect(await shown.open('b', 'three')).not.toBeNull();
  });
});
