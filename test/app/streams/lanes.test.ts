import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { Lanes } from '../../../src/app/streams/lanes.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { heldStore, note, onBehalf, storeWith, texts } from '../../support/streams.js';

/** Longer than a lane that was let go can be taken back, in milliseconds. */
const GONE_MS = 1_001;

const setUp = (options: ConstructorParameters<typeof Lanes>[2], store: EventStore = new MemoryEventStore()) => {
  const clock = new ManualClock();
  const lanes = new Lanes(store, clock, options);
  const write = async (stream: string, text = 'x'): Promise<boolean> => {
    const lane = await lanes.open(stream, texts);
    return (await lane.append([note(text)], onBehalf(stream), 0)) !== null;
  };
  return { clock, lanes, store, write };
};

describe('lanes', () => {
  it('keep as many as they may, and let the longest unused one go', async () => {
    const { clock, lanes } = setUp({ kept: 2 });
    const [a, b] = [await lanes.open('a', texts), await lanes.open('b', texts)];
    expect(await lanes.open('a', texts)).toBe(a);
    const c = await lanes.open('c', texts);
    await clock.advance(GONE_MS);
    expect(await lanes.open('a', texts)).toBe(a);
    expect(await lanes.open('c', texts)).toBe(c);
    expect(await lanes.open('b', texts)).not.toBe(b);
  });

  it('give back a lane that was let go a moment ago, and one that is writing however long ago', async () => {
    const { store, release } = heldStore(new MemoryEventStore());
    const { clock, lanes } = setUp({ kept: 1 }, store);
    const writing = await lanes.open('writing', texts);
    const appended = writing.append([note('a')], onBehalf('x'), 0);
    const idle = await lanes.open('idle', texts);
    await lanes.open('other', texts);
    expect(await lanes.open('idle', texts)).toBe(idle);
    await clock.advance(10 * GONE_MS);
    expect(await lanes.open('writing', texts)).toBe(writing);
    release();
    expect(await appended).not.toBeNull();
    await clock.advance(GONE_MS);
    expect(await lanes.open('idle', texts)).not.toBe(idle);
  });

  it('refuse nobody, however many more streams are in use than may be kept', async () => {
    const memory = new MemoryEventStore();
    const read: EventStore['read'] = async (...asked) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return memory.read(...asked);
    };
    const { write } = setUp({ kept: 4 }, storeWith(memory, { read }));
    const streams = Array.from({ length: 32 }, (_, n) => `stream ${n}`);
    expect(await Promise.all(streams.map((stream) => write(stream)))).toEqual(streams.map(() => true));
  });

  it('keep no more than they may by size, also of streams that are written once', async () => {
    const { clock, lanes, write } = setUp({ bytes: 4 * 1024 * 1024 });
    const first = await lanes.open('stream 0', texts);
    for (let n = 0; n < 40; n += 1) await write(`stream ${n}`, 'x'.repeat(100_000));
    await clock.advance(GONE_MS);
    expect(await lanes.open('stream 39', texts)).toBe(await lanes.open('stream 39', texts));
    expect(await lanes.open('stream 0', texts)).not.toBe(first);
  });

  it('take no append from a lane that was let go, so that the append is placed again through its successor', async () => {
    const { clock, lanes, store } = setUp({ kept: 1 });
    const gone = await lanes.open('a', texts);
    await lanes.open('b', texts);
    await clock.advance(GONE_MS);
    const again = await lanes.open('a', texts);
    expect(await again.append([note('one')], onBehalf('one'), 0)).not.toBeNull();
    expect(await gone.append([note('two')], onBehalf('two'), 0)).toBeNull();
    expect((await store.read('a', { direction: 'forwards', limit: 9 })).events).toHaveLength(1);
  });

  it('are one per stream also for those who ask at once', async () => {
    const lanes = new Lanes(new MemoryEventStore(), new ManualClock());
    const [one, other] = await Promise.all([lanes.open('a', texts), lanes.open('a', texts)]);
    expect(one).toBe(other);
  });
});
