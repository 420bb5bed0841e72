import { Readable } from 'node:stream';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { StoreConnection } from '../../../src/adapters/eventstore/store-connection.js';
import { StoreWatch } from '../../../src/adapters/eventstore/store-watch.js';

/** A store that is asked, and answers once it is told to. */
const asked = () => {
  const reads: Readable[] = [];
  const client = {
    readAll: () => {
      const read = Object.assign(new Readable({ objectMode: true, read: () => undefined }), {
        cancel: () => Promise.resolve(),
      });
      reads.push(read);
      return read;
    },
  };
  return { watch: new StoreWatch({ client } as unknown as StoreConnection), reads };
};
const unavailable = { code: 'STORE_UNAVAILABLE' };

describe('StoreWatch', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('asks nothing while the store answers', async () => {
    const { watch, reads } = asked();
    await watch.there();
    expect([watch.isSilent, reads.length]).toEqual([false, 0]);
  });

  it('asks a silent store one question for all who wait, and refuses them when it has no answer', async () => {
    const { watch, reads } = asked();
    watch.silence.noted();
    const waiting = Promise.allSettled(Array.from({ length: 100 }, () => watch.there()));
    await vi.advanceTimersByTimeAsync(499);
    expect(reads).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    for (const outcome of await waiting) expect(outcome).toMatchObject({ status: 'rejected', reason: unavailable });
    expect([watch.isSilent, reads.length]).toEqual([true, 1]);
  });

  it('lets those go on who wait when the store answers, and asks no more', async () => {
    const { watch, reads } = asked();
    watch.silence.noted();
    const waiting = Promise.all([watch.there(), watch.there()]);
    await vi.advanceTimersByTimeAsync(100);
    reads[0]?.push({});
    await waiting;
    await watch.there();
    expect([watch.isSilent, reads.length]).toEqual([false, 1]);
  });

  it('asks again for who comes after a question without an answer', async () => {
    const { watch, reads } = asked();
    watch.silence.noted();
    const first = expect(watch.there()).rejects.toMatchObject(unavailable);
    await vi.advanceTimersByTimeAsync(1_500);
    await first;
    const second = watch.there();
    reads[1]?.push(null);
    await second;
    expect(watch.isSilent).toBe(false);
  });

  it('gives the question as long as any read has, so that a slow store comes back', async () => {
    const { watch, reads } = asked();
    watch.silence.noted();
    const early = expect(watch.there()).rejects.toMatchObject(unavailable);
    await vi.advanceTimersByTimeAsync(600);
    await early;
    reads[0]?.push({});
    await vi.advanceTimersByTimeAsync(1);
    await watch.there();
    expect([watch.isSilent, reads.length]).toEqual([false, 1]);
  });

  it('knows from any read that the store answers', async () => {
    const { watch, reads } = asked();
    watch.silence.noted();
    watch.silence.broken();
    await watch.there();
    expect(reads).toHaveLength(0);
  });
});
