import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { findBreak } from '../../support/find-break.js';
import { yieldToEventLoop } from '../../../src/kernel/concurrency/yield-to-event-loop.js';
import { StreamWriter, type Recorded } from '../../../src/kernel/streams/stream-writer.js';
import { PAGE_EVENTS } from '../../../src/kernel/streams/stream-pages.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { eventsOf, heldStore, note, onBehalf, storeWith, STREAM, texts, textsOf } from '../../support/streams.js';

const put = (
  writer: StreamWriter<readonly string[]>,
  ...words: string[]
): Promise<Recorded<readonly string[]> | null> => writer.append(words.map(note), onBehalf(words.join()), 0);
const wasWritten = (recorded: Recorded<readonly string[]> | null): boolean => recorded !== null;

/** A loaded writer on a store that others may write to as well; `elsewhere` writes as another server. */
const setUp = async (store: EventStore = new MemoryEventStore(), clock = new ManualClock()) => {
  const writer = new StreamWriter(STREAM, texts, store, clock);
  await writer.load();
  const elsewhere = async (word: string): Promise<void> => {
    const other = new StreamWriter(STREAM, texts, store, clock);
    await other.load();
    await put(other, word);
  };
  return { store, clock, writer, elsewhere };
};

describe('a stream writer', () => {
  it('pipelines appends, in order and with an intact chain', async () => {
    const { store, writer } = await setUp();
    const outcomes = await Promise.all([put(writer, 'a'), put(writer, 'b', 'c'), put(writer, 'd')]);
    expect(outcomes.map(wasWritten)).toEqual([true, true, true]);
    expect(await textsOf(store)).toEqual(['a', 'b', 'c', 'd']);
    expect(findBreak(await eventsOf(store))).toBeNull();
    expect([writer.state, writer.revision, writer.confirmedRevision]).toEqual([['a', 'b', 'c', 'd'], 3, 3]);
  });

  it('waits for the previous append if others write too, and does not if it is the only writer', async () => {
    for (const soleWriter of [undefined, true] as const) {
      let sent = 0;
      const memory = new MemoryEventStore();
      const held = heldStore(memory);
      const append: EventStore['append'] = (...asked) => {
        sent += 1;
        return held.store.append(...asked);
      };
      const counted = storeWith(held.store, { append, ...(soleWriter === undefined ? {} : { soleWriter }) });
      const { writer } = await setUp(counted);
      const both = [put(writer, 'a'), put(writer, 'b')];
      expect(sent).toBe(soleWriter === true ? 2 : 1);
      for (const appended of both) {
        held.release();
        expect(await appended).not.toBeNull();
      }
      expect(await textsOf(memory)).toEqual(['a', 'b']);
    }
  });

  it('shows staged events immediately, and reports when they are durable', async () => {
    const { store, release } = heldStore(new MemoryEventStore());
    const { writer } = await setUp(store);
    const appended = put(writer, 'a');
    expect([writer.state, writer.revision, writer.writing]).toEqual([['a'], 0, true]);
    expect([writer.confirmedState, writer.confirmedRevision]).toEqual([[], -1]);
    release();
    await appended;
    expect(await writer.confirmed()).toBe(true);
    expect([writer.confirmedState, writer.confirmedRevision, writer.writing]).toEqual([['a'], 0, false]);
  });

  it('discards everything behind a refused append, and continues behind the events of others', async () => {
    const { store, writer, elsewhere } = await setUp();
    await put(writer, 'a');
    await elsewhere('foreign');
    const behind = await Promise.all([put(writer, 'b'), put(writer, 'c')]);
    expect(behind.map(wasWritten)).toEqual([false, false]);
    expect(await writer.confirmed()).toBe(false);
    await writer.load();
    expect([writer.state, writer.revision, await writer.confirmed()]).toEqual([['a', 'foreign'], 1, true]);
    expect(await put(writer, 'b')).not.toBeNull();
    expect(findBreak(await eventsOf(store))).toBeNull();
  });

  it('discards everything behind a failed append', async () => {
    const memory = new MemoryEventStore();
    const { store, release } = heldStore(memory);
    const { writer } = await setUp(store);
    const [first, second] = [put(writer, 'a'), put(writer, 'b')];
    release(false);
    await expect(first).rejects.toThrow('the disk is full');
    expect(await second).toBeNull();
    await writer.load();
    expect([writer.state, writer.revision]).toEqual([[], -1]);
    const again = put(writer, 'c');
    release();
    expect(await again).not.toBeNull();
    expect(await textsOf(memory)).toEqual(['c']);
  });

  it('sends nothing behind a discarded head, even if a foreign event is at its revision', async () => {
    const { store, writer, elsewhere } = await setUp();
    await put(writer, 'a');
    await elsewhere('foreign');
    await put(writer, 'refused');
    // A caller that loaded the writer just before stages behind an event that was never written.
    expect(await put(writer, 'behind')).toBeNull();
    expect(await textsOf(store)).toEqual(['a', 'foreign']);
  });

  it('loads page by page, and afterwards reads only new events', async () => {
    const memory = new MemoryEventStore();
    const words = Array.from({ length: 600 }, (_, n) => String(n));
    const { writer: before } = await setUp(memory);
    for (let from = 0; from < words.length; from += 100) await put(before, ...words.slice(from, from + 100));
    const froms: unknown[] = [];
    const read: EventStore['read'] = (stream, range) => {
      froms.push(range.from);
      return memory.read(stream, range);
    };
    const { writer } = await setUp(storeWith(memory, { read }));
    expect(writer.state).toEqual(words);
    await writer.load();
    expect(froms).toEqual([0, PAGE_EVENTS]);
    await put(before, 'new');
    expect(await put(writer, 'late')).toBeNull();
    await writer.load();
    expect(writer.state.at(-1)).toBe('new');
    expect(froms).toEqual([0, PAGE_EVENTS, 600]);
  });

  it('never lets time decrease within a stream, whatever the clock does [10.1h]', async () => {
    const store = new MemoryEventStore();
    const { writer } = await setUp(store, new ManualClock('2026-01-01T00:01:00.000Z'));
    await put(writer, 'a');
    const { writer: late, clock } = await setUp(store, new ManualClock('2026-01-01T00:00:30.000Z'));
    await put(late, 'b');
    await clock.advance(60_000);
    await put(late, 'c');
    expect((await eventsOf(store)).map(({ meta }) => meta.at)).toEqual([
      '2026-01-01T00:01:00.000Z',
      '2026-01-01T00:01:00.000Z',
      '2026-01-01T00:01:30.000Z',
    ]);
  });

  it('never mistakes another version of its event for its own: the store reports a conflict, and the chain stays intact', async () => {
    const { store, writer, clock } = await setUp();
    const again = new StreamWriter(STREAM, texts, store, clock);
    await again.load();
    // The same step of the same process, run again elsewhere after a while.
    await put(writer, 'step');
    await clock.advance(10_000);
    expect(await put(again, 'step')).toBeNull();
    await again.load();
    expect(await put(again, 'next')).not.toBeNull();
    expect(findBreak(await eventsOf(store))).toBeNull();
  });

  it('records the actor, and keeps the mark of a process outside the hash', async () => {
    const { store, writer } = await setUp();
    const mark = { name: 'turn', id: 't', open: true, due: null };
    await writer.append([{ ...note('a'), process: mark }], { ...onBehalf('x'), causationId: 'why' }, 5);
    const [recorded] = await eventsOf(store);
    expect(recorded?.meta).toMatchObject({ ...onBehalf('x'), causationId: 'why', process: mark });
    expect(findBreak(await eventsOf(store))).toBeNull();
  });

  it('sees the appends of others with `latest`, and continues behind them', async () => {
    const { writer, elsewhere } = await setUp();
    await put(writer, 'a');
    await elsewhere('foreign');
    expect([writer.state, writer.revision]).toEqual([['a'], 0]);
    expect(await writer.latest()).toMatchObject({ state: ['a', 'foreign'], revision: 1 });
    expect(await put(writer, 'b')).not.toBeNull();
    expect(writer.state).toEqual(['a', 'foreign', 'b']);
  });

  it('loses nothing of concurrent appends to `latest`', async () => {
    const { store, release } = heldStore(new MemoryEventStore());
    const { writer } = await setUp(store);
    const appended = [put(writer, 'a'), put(writer, 'b')];
    expect(await writer.latest()).toMatchObject({ state: [], revision: -1 });
    for (const each of appended) {
      release();
      expect(await each).not.toBeNull();
    }
    expect(writer.state).toEqual(['a', 'b']);
  });

  it('makes one read for all callers of `latest` during another one, and none of them misses an earlier event', async () => {
    const memory = new MemoryEventStore();
    const held: (() => void)[] = [];
    let slow = false;
    const read: EventStore['read'] = async (...asked) => {
      const page = await memory.read(...asked);
      if (slow) await new Promise<void>((resolve) => held.push(resolve));
      return page;
    };
    const { writer, elsewhere } = await setUp(storeWith(memory, { read }));
    slow = true;
    const early = writer.latest();
    await yieldToEventLoop();
    slow = false;
    await elsewhere('meanwhile');
    slow = true;
    const late = [writer.latest(), writer.latest(), writer.latest()];
    held.shift()?.();
    expect((await early).state).toEqual([]);
    await yieldToEventLoop();
    expect(held).toHaveLength(1);
    held.shift()?.();
    for (const each of await Promise.all(late)) expect(each.state).toEqual(['meanwhile']);
  });

  it('accepts no appends once it is retired', async () => {
    const { store, writer } = await setUp();
    writer.retire();
    expect(await put(writer, 'a')).toBeNull();
    expect(await textsOf(store)).toEqual([]);
  });
});
