import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { findBreak } from '../../support/find-break.js';
import { yieldToEventLoop } from '../../../src/concurrency/yield-to-event-loop.js';
import { Lane, type Recorded } from '../../../src/app/streams/lane.js';
import { PAGE_EVENTS } from '../../../src/app/streams/stream-pages.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { eventsOf, heldStore, note, onBehalf, storeWith, STREAM, texts, textsOf } from '../../support/streams.js';

const put = (lane: Lane<readonly string[]>, ...words: string[]): Promise<Recorded<readonly string[]> | null> =>
  lane.append(words.map(note), onBehalf(words.join()), 0);
const wasWritten = (recorded: Recorded<readonly string[]> | null): boolean => recorded !== null;

/** A loaded lane on a store that others may write to as well; `elsewhere` is what another server writes. */
const setUp = async (store: EventStore = new MemoryEventStore(), clock = new ManualClock()) => {
  const lane = new Lane(STREAM, texts, store, clock);
  await lane.load();
  const elsewhere = async (word: string): Promise<void> => {
    const other = new Lane(STREAM, texts, store, clock);
    await other.load();
    await put(other, word);
  };
  return { store, clock, lane, elsewhere };
};

describe('a lane', () => {
  it('sends appends ahead of each other, in order and with a whole chain', async () => {
    const { store, lane } = await setUp();
    const outcomes = await Promise.all([put(lane, 'a'), put(lane, 'b', 'c'), put(lane, 'd')]);
    expect(outcomes.map(wasWritten)).toEqual([true, true, true]);
    expect(await textsOf(store)).toEqual(['a', 'b', 'c', 'd']);
    expect(findBreak(await eventsOf(store))).toBeNull();
    expect([lane.state, lane.revision, lane.confirmedRevision]).toEqual([['a', 'b', 'c', 'd'], 3, 3]);
  });

  it('waits for the append before where others write too, and does not where nobody else can', async () => {
    for (const soleWriter of [undefined, true] as const) {
      let sent = 0;
      const memory = new MemoryEventStore();
      const held = heldStore(memory);
      const append: EventStore['append'] = (...asked) => {
        sent += 1;
        return held.store.append(...asked);
      };
      const counted = storeWith(held.store, { append, ...(soleWriter === undefined ? {} : { soleWriter }) });
      const { lane } = await setUp(counted);
      const both = [put(lane, 'a'), put(lane, 'b')];
      expect(sent).toBe(soleWriter === true ? 2 : 1);
      for (const appended of both) {
        held.release();
        expect(await appended).not.toBeNull();
      }
      expect(await textsOf(memory)).toEqual(['a', 'b']);
    }
  });

  it('shows at once what is placed, and says when it is durable', async () => {
    const { store, release } = heldStore(new MemoryEventStore());
    const { lane } = await setUp(store);
    const appended = put(lane, 'a');
    expect([lane.state, lane.revision, lane.writing]).toEqual([['a'], 0, true]);
    expect([lane.confirmedState, lane.confirmedRevision]).toEqual([[], -1]);
    release();
    await appended;
    expect(await lane.confirmed()).toBe(true);
    expect([lane.confirmedState, lane.confirmedRevision, lane.writing]).toEqual([['a'], 0, false]);
  });

  it('throws everything behind a refused append back to what is confirmed, and goes on behind what others wrote', async () => {
    const { store, lane, elsewhere } = await setUp();
    await put(lane, 'a');
    await elsewhere('foreign');
    const behind = await Promise.all([put(lane, 'b'), put(lane, 'c')]);
    expect(behind.map(wasWritten)).toEqual([false, false]);
    expect(await lane.confirmed()).toBe(false);
    await lane.load();
    expect([lane.state, lane.revision, await lane.confirmed()]).toEqual([['a', 'foreign'], 1, true]);
    expect(await put(lane, 'b')).not.toBeNull();
    expect(findBreak(await eventsOf(store))).toBeNull();
  });

  it('throws everything behind a failed append back to what is confirmed', async () => {
    const memory = new MemoryEventStore();
    const { store, release } = heldStore(memory);
    const { lane } = await setUp(store);
    const [first, second] = [put(lane, 'a'), put(lane, 'b')];
    release(false);
    await expect(first).rejects.toThrow('the disk is full');
    expect(await second).toBeNull();
    await lane.load();
    expect([lane.state, lane.revision]).toEqual([[], -1]);
    const again = put(lane, 'c');
    release();
    expect(await again).not.toBeNull();
    expect(await textsOf(memory)).toEqual(['c']);
  });

  it('sends nothing behind a head that was thrown back, though a foreign event stands where it should have been', async () => {
    const { store, lane, elsewhere } = await setUp();
    await put(lane, 'a');
    await elsewhere('foreign');
    await put(lane, 'refused');
    // Who had loaded the lane just before places behind what never came to be.
    expect(await put(lane, 'behind')).toBeNull();
    expect(await textsOf(store)).toEqual(['a', 'foreign']);
  });

  it('loads page by page, and afterwards reads only what is new', async () => {
    const memory = new MemoryEventStore();
    const words = Array.from({ length: 600 }, (_, n) => String(n));
    const { lane: writer } = await setUp(memory);
    for (let from = 0; from < words.length; from += 100) await put(writer, ...words.slice(from, from + 100));
    const froms: unknown[] = [];
    const read: EventStore['read'] = (stream, range) => {
      froms.push(range.from);
      return memory.read(stream, range);
    };
    const { lane } = await setUp(storeWith(memory, { read }));
    expect(lane.state).toEqual(words);
    await lane.load();
    expect(froms).toEqual([0, PAGE_EVENTS]);
    await put(writer, 'new');
    expect(await put(lane, 'late')).toBeNull();
    await lane.load();
    expect(lane.state.at(-1)).toBe('new');
    expect(froms).toEqual([0, PAGE_EVENTS, 600]);
  });

  it('never lets time decrease within a stream, whatever the clock does', async () => {
    const store = new MemoryEventStore();
    const { lane } = await setUp(store, new ManualClock('2026-01-01T00:01:00.000Z'));
    await put(lane, 'a');
    const { lane: late, clock } = await setUp(store, new ManualClock('2026-01-01T00:00:30.000Z'));
    await put(late, 'b');
    await clock.advance(60_000);
    await put(late, 'c');
    expect((await eventsOf(store)).map(({ meta }) => meta.at)).toEqual([
      '2026-01-01T00:01:00.000Z',
      '2026-01-01T00:01:00.000Z',
      '2026-01-01T00:01:30.000Z',
    ]);
  });

  it('never takes another version of its event for its own: the store shows a conflict, and the chain stays whole', async () => {
    const { store, lane, clock } = await setUp();
    const again = new Lane(STREAM, texts, store, clock);
    await again.load();
    // The same step of the same process, taken once more after a while elsewhere.
    await put(lane, 'step');
    await clock.advance(10_000);
    expect(await put(again, 'step')).toBeNull();
    await again.load();
    expect(await put(again, 'next')).not.toBeNull();
    expect(findBreak(await eventsOf(store))).toBeNull();
  });

  it('records on whose behalf, and keeps the mark of a process outside the hash', async () => {
    const { store, lane } = await setUp();
    const mark = { name: 'turn', id: 't', open: true, due: null };
    await lane.append([{ ...note('a'), process: mark }], { ...onBehalf('x'), causationId: 'why' }, 5);
    const [recorded] = await eventsOf(store);
    expect(recorded?.meta).toMatchObject({ ...onBehalf('x'), causationId: 'why', process: mark });
    expect(findBreak(await eventsOf(store))).toBeNull();
  });

  it('sees with `latest` what others appended, and goes on behind it', async () => {
    const { lane, elsewhere } = await setUp();
    await put(lane, 'a');
    await elsewhere('foreign');
    expect([lane.state, lane.revision]).toEqual([['a'], 0]);
    expect(await lane.latest()).toMatchObject({ state: ['a', 'foreign'], revision: 1 });
    expect(await put(lane, 'b')).not.toBeNull();
    expect(lane.state).toEqual(['a', 'foreign', 'b']);
  });

  it('takes nothing by `latest` from those who append meanwhile', async () => {
    const { store, release } = heldStore(new MemoryEventStore());
    const { lane } = await setUp(store);
    const appended = [put(lane, 'a'), put(lane, 'b')];
    expect(await lane.latest()).toMatchObject({ state: [], revision: -1 });
    for (const each of appended) {
      release();
      expect(await each).not.toBeNull();
    }
    expect(lane.state).toEqual(['a', 'b']);
  });

  it('makes one read for all who ask for the latest while another is under way, and none of them sees less than was there', async () => {
    const memory = new MemoryEventStore();
    const held: (() => void)[] = [];
    let slow = false;
    const read: EventStore['read'] = async (...asked) => {
      const page = await memory.read(...asked);
      if (slow) await new Promise<void>((resolve) => held.push(resolve));
      return page;
    };
    const { lane, elsewhere } = await setUp(storeWith(memory, { read }));
    slow = true;
    const early = lane.latest();
    await yieldToEventLoop();
    slow = false;
    await elsewhere('meanwhile');
    slow = true;
    const late = [lane.latest(), lane.latest(), lane.latest()];
    held.shift()?.();
    expect((await early).state).toEqual([]);
    await yieldToEventLoop();
    expect(held).toHaveLength(1);
    held.shift()?.();
    for (const each of await Promise.all(late)) expect(each.state).toEqual(['meanwhile']);
  });

  it('that is retired takes no more appends', async () => {
    const { store, lane } = await setUp();
    lane.retire();
    expect(await put(lane, 'a')).toBeNull();
    expect(await textsOf(store)).toEqual([]);
  });
});
