import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { heldStore, note, onBehalf, storeWith, texts } from '../../support/streams.js';

/** Longer than a released writer can be reused, in milliseconds. */
const GONE_MS = 1_001;

const setUp = (options: ConstructorParameters<typeof StreamWriters>[2], store: EventStore = new MemoryEventStore()) => {
  const clock = new ManualClock();
  const writers = new StreamWriters(store, clock, options);
  const write = async (stream: string, text = 'x'): Promise<boolean> => {
    const writer = await writers.open(stream, texts);
    return (await writer.append([note(text)], onBehalf(stream), 0)) !== null;
  };
  return { clock, writers, store, write };
};

describe('stream writers', () => {
  it('are cached up to a number, and the least recently used one is released', async () => {
    const { clock, writers } = setUp({ kept: 2 });
    const [a, b] = [await writers.open('a', texts), await writers.open('b', texts)];
    expect(await writers.open('a', texts)).toBe(a);
    const c = await writers.open('c', texts);
    await clock.advance(GONE_MS);
    expect(await writers.open('a', texts)).toBe(a);
    expect(await writers.open('c', texts)).toBe(c);
    expect(await writers.open('b', texts)).not.toBe(b);
  });

  it('include a writer that was released a moment ago, and one that is writing however long ago', async () => {
    const { store, release } = heldStore(new MemoryEventStore());
    const { clock, writers } = setUp({ kept: 1 }, store);
    const writing = await writers.open('writing', texts);
    const appended = writing.append([note('a')], onBehalf('x'), 0);
    const idle = await writers.open('idle', texts);
    await writers.open('other', texts);
    expect(await writers.open('idle', texts)).toBe(idle);
    await clock.advance(10 * GONE_MS);
    expect(await writers.open('writing', texts)).toBe(writing);
    release();
    expect(await appended).not.toBeNull();
    await clock.advance(GONE_MS);
    expect(await writers.open('idle', texts)).not.toBe(idle);
  });

  it('refuse no stream, however many more are in use than can be cached', async () => {
    const memory = new MemoryEventStore();
    const read: EventStore['read'] = async (...asked) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return memory.read(...asked);
    };
    const { write } = setUp({ kept: 4 }, storeWith(memory, { read }));
    const streams = Array.from({ length: 32 }, (_, n) => `stream ${n}`);
    expect(await Promise.all(streams.map((stream) => write(stream)))).toEqual(streams.map(() => true));
  });

  it('are cached up to a size, also for streams that are written once', async () => {
    const { clock, writers, write } = setUp({ bytes: 4 * 1024 * 1024 });
    const first = await writers.open('stream 0', texts);
    for (let n = 0; n < 40; n += 1) await write(`stream ${n}`, 'x'.repeat(100_000));
    await clock.advance(GONE_MS);
    expect(await writers.open('stream 39', texts)).toBe(await writers.open('stream 39', texts));
    expect(await writers.open('stream 0', texts)).not.toBe(first);
  });

  it('accept no append from a released writer, so that the append is staged again through its successor', async () => {
    const { clock, writers, store } = setUp({ kept: 1 });
    const gone = await writers.open('a', texts);
    await writers.open('b', texts);
    await clock.advance(GONE_MS);
    const again = await writers.open('a', texts);
    expect(await again.append([note('one')], onBehalf('one'), 0)).not.toBeNull();
    expect(await gone.append([note('two')], onBehalf('two'), 0)).toBeNull();
    expect((await store.read('a', { direction: 'forwards', limit: 9 })).events).toHaveLength(1);
  });

  it('are one per stream also for concurrent callers', async () => {
    const writers = new StreamWriters(new MemoryEventStore(), new ManualClock());
    const [one, other] = await Promise.all([writers.open('a', texts), writers.open('a', texts)]);
    expect(one).toBe(other);
  });
});
