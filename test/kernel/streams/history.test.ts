import { beforeAll, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import {
  exportHistory,
  type HistoryEvent,
  type HistoryQuery,
  readHistory,
  toHistoryEvent,
} from '../../../src/kernel/streams/history.js';
import { PAUSE_BYTES } from '../../../src/kernel/base/page-size.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { event } from '../../support/events.js';
import { countTurns } from '../../support/loop-turns.js';
import { eventsOf, STREAM, storeWith } from '../../support/streams.js';
import { appendNext } from '../../support/append-next.js';

/** A page of the history, with its events parsed. */
const historyOf = async (store: EventStore, stream: string, query: HistoryQuery) => {
  const page = await readHistory(store, stream, query);
  return { ...page, events: page.events.map((text) => JSON.parse(text) as HistoryEvent) };
};

/** A store with this many events in one stream, alternately of type `Odd` and `Even`. */
const storeOf = async (count: number): Promise<MemoryEventStore> => {
  const store = new MemoryEventStore();
  for (let from = 0; from < count; from += 500) {
    const batch = Array.from({ length: Math.min(500, count - from) }, (_, n) =>
      event(`e${from + n}`, { type: (from + n) % 2 === 0 ? 'Even' : 'Odd' }),
    );
    await store.append(STREAM, from === 0 ? 'no_stream' : from - 1, batch);
  }
  return store;
};

describe('the history of a stream', () => {
  let ten: MemoryEventStore;
  beforeAll(async () => {
    ten = await storeOf(10);
  });
  const odd = { filter: { types: new Set(['Odd']) } };

  it.each<[title: string, query: HistoryQuery, revisions: number[], next: number | undefined]>([
    ['forwards from the first event', { direction: 'forwards', limit: 4 }, [0, 1, 2, 3], 4],
    ['forwards from a revision, included', { direction: 'forwards', limit: 3, from: 5 }, [5, 6, 7], 8],
    ['forwards up to the end', { direction: 'forwards', limit: 2, from: 8 }, [8, 9], undefined],
    ['forwards over the end', { direction: 'forwards', limit: 20, from: 8 }, [8, 9], undefined],
    ['forwards from beyond the end', { direction: 'forwards', limit: 4, from: 10 }, [], undefined],
    ['backwards from the last event', { direction: 'backwards', limit: 3 }, [9, 8, 7], 6],
    ['backwards from a revision, included', { direction: 'backwards', limit: 2, from: 4 }, [4, 3], 2],
    ['backwards down to the first event', { direction: 'backwards', limit: 5, from: 4 }, [4, 3, 2, 1, 0], undefined],
    ['of one type', { direction: 'forwards', limit: 2, ...odd }, [1, 3], 4],
    ['of one type, backwards', { direction: 'backwards', limit: 2, ...odd }, [9, 7], 6],
    ['of one type to the end', { direction: 'forwards', limit: 5, ...odd }, [1, 3, 5, 7, 9], undefined],
    [
      'of several types',
      { direction: 'forwards', limit: 3, filter: { types: new Set(['Odd', 'Even', 'Other']) } },
      [0, 1, 2],
      3,
    ],
    [
      'of a type that is not there',
      { direction: 'forwards', limit: 5, filter: { types: new Set(['Other']) } },
      [],
      undefined,
    ],
  ])('is read %s [10.1a]', async (_, query, revisions, next) => {
    const page = await historyOf(ten, STREAM, query);
    expect(page.events.map(({ revision }) => revision)).toEqual(revisions);
    expect(page.next).toBe(next);
    expect('next' in page).toBe(next !== undefined);
    expect(page.revision).toBe(9);
  });

  it('is empty for a stream without events', async () => {
    expect(await historyOf(ten, 'npc-studio.other', { direction: 'backwards', limit: 5 })).toEqual({
      revision: -1,
      events: [],
    });
  });

  it('shows every event once when its pages are followed', async () => {
    const store = await storeOf(1_203);
    for (const direction of ['forwards', 'backwards'] as const) {
      const seen: number[] = [];
      let from: number | undefined;
      do {
        const page = await historyOf(store, STREAM, {
          direction,
          limit: 100,
          ...odd,
          ...(from === undefined ? {} : { from }),
        });
        seen.push(...page.events.map(({ revision }) => revision));
        from = page.next;
      } while (from !== undefined);
      const expected = Array.from({ length: 601 }, (_, n) => 2 * n + 1);
      expect(seen).toEqual(direction === 'forwards' ? expected : expected.reverse());
    }
  });

  it.each([
    ['', undefined],
    [' of one type', new Set(['Large'])],
  ])('ends a page%s near 4 MiB, with a cursor to the rest [10.1c]', async (_, types) => {
    const store = new MemoryEventStore();
    const [count, size] = [20, 500_000];
    for (let n = 0; n < count; n += 1) {
      const large = event(`large${n}`, { type: 'Large', data: { text: 'x'.repeat(size) } });
      await appendNext(store, STREAM, [large, event(`small${n}`, { type: 'Small' })]);
    }
    const pages: number[] = [];
    let seen = 0;
    for (let from: number | undefined = 0; from !== undefined;) {
      const query = {
        direction: 'forwards',
        limit: 500,
        from,
        ...(types === undefined ? {} : { filter: { types } }),
      } as const;
      const page = await historyOf(store, STREAM, query);
      pages.push(JSON.stringify(page).length);
      seen += page.events.length;
      from = page.next;
    }
    expect(seen).toBe(types === undefined ? 2 * count : count);
    expect(pages).toHaveLength(3);
    expect(Math.max(...pages)).toBeLessThan(5_000_000);
  });

  it('looks at a bounded number of events for one response, and returns a cursor [10.1c]', async () => {
    const store = await storeOf(22_000);
    const query = { direction: 'forwards', limit: 5, filter: { types: new Set(['Other']) } } as const;
    const page = await historyOf(store, STREAM, query);
    expect(page.events).toEqual([]);
    expect(page.next).toBe(20_000);
    expect((await historyOf(store, STREAM, { ...query, from: page.next ?? 0 })).next).toBeUndefined();
  });

  it('is exported up to its end when the last page was read [10.1d]', async () => {
    const store = await storeOf(1_500);
    const large = event('large', { data: { text: 'x'.repeat(100_000) } });
    await appendNext(store, STREAM, [large]);
    const reading = storeWith(store, {
      read: async (stream, range) => {
        const page = await store.read(stream, range);
        // Another event arrives after the first page was read.
        if (range.from === 0) await appendNext(store, STREAM, [event('meanwhile')]);
        return page;
      },
    });
    let text = '';
    let chunks = 0;
    for await (const chunk of exportHistory(
      reading,
      STREAM,
      { filter: {}, times: {} },
      ({ revision }) => `${revision}\n`,
    )) {
      text += chunk;
      chunks += 1;
    }
    expect(text.trimEnd().split('\n').map(Number)).toEqual(Array.from({ length: 1_502 }, (_, n) => n));
    expect(chunks).toBeGreaterThan(0);
  });

  it('yields after each portion of a long page', async () => {
    const store = new MemoryEventStore();
    const [count, size] = [400, 2_000];
    const large = Array.from({ length: count }, (_, n) => event(`e${n}`, { data: { text: 'x'.repeat(size) } }));
    await store.append(STREAM, 'no_stream', large);
    using turns = countTurns();
    const { events } = await readHistory(store, STREAM, { direction: 'forwards', limit: count });
    expect(events).toHaveLength(count);
    expect(turns.count).toBeGreaterThanOrEqual(Math.floor((count * size) / PAUSE_BYTES) - 1);
  });

  it('shows the members of an event, and its turn only if it has one [10.1a]', async () => {
    const store = new MemoryEventStore();
    await appendNext(store, STREAM, [event('a'), event('b', { data: { turnId: 't1' } })]);
    const [plain, ofTurn] = (await eventsOf(store)).map(toHistoryEvent);
    expect(plain).toEqual({
      revision: 0,
      id: event('a').id,
      type: 'Happened',
      at: '2026-01-01T00:00:00.000Z',
      actor: 'key-1',
      commandId: 'command-a',
      causationId: null,
      correlationId: 'correlation-a',
      schemaVersion: 1,
      data: { name: 'a' },
      hash: 'a'.repeat(64),
      prevHash: '0'.repeat(64),
    });
    expect(ofTurn?.turnId).toBe('t1');
  });
});
