import { beforeAll, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import {
  exportHistory,
  type HistoryEvent,
  type HistoryQuery,
  readHistory,
} from '../../../src/kernel/streams/history.js';
import { revisionAt } from '../../../src/kernel/streams/history-filter.js';
import { event } from '../../support/events.js';
import { STREAM } from '../../support/streams.js';

const START_MS = Date.parse('2026-01-01T00:00:00.000Z');
/** Two events in each minute. */
const minute = (n: number): number => START_MS + n * 60_000;

describe('a filtered history', () => {
  const COUNT = 40;
  const store = new MemoryEventStore();
  beforeAll(async () => {
    const events = Array.from({ length: COUNT }, (_, n) =>
      event(`e${String(n)}`, {
        type: n % 2 === 0 ? 'Even' : 'Odd',
        data: n % 5 === 0 ? { turnId: `t${String(n % 10)}` } : {},
        meta: { at: new Date(minute(Math.floor(n / 2))).toISOString(), actor: n % 3 === 0 ? 'key-3' : 'system' },
      }),
    );
    await store.append(STREAM, 'no_stream', events);
  });

  /** Every matching event, page by page. */
  const all = async (query: Omit<HistoryQuery, 'limit'>): Promise<readonly number[]> => {
    const seen: number[] = [];
    for (let from = query.from; ;) {
      const page = await readHistory(store, STREAM, { ...query, limit: 3, ...(from === undefined ? {} : { from }) });
      expect(page.revision).toBe(COUNT - 1);
      seen.push(...page.events.map((text) => (JSON.parse(text) as HistoryEvent).revision));
      from = page.next;
      if (from === undefined) return seen;
    }
  };
  const revisions = Array.from({ length: COUNT }, (_, n) => n);

  it.each([
    ['of a turn', { turns: new Set(['t5']) }, (n: number) => n % 10 === 5],
    ['of two turns', { turns: new Set(['t0', 't5', 't6']) }, (n: number) => n % 5 === 0],
    ['of who acted', { actors: new Set(['key-3']) }, (n: number) => n % 3 === 0],
    [
      'of all of these',
      { types: new Set(['Odd']), actors: new Set(['key-3']), turns: new Set(['t5']) },
      (n: number) => n % 30 === 15,
    ],
  ])('has the events that are %s [10.1b]', async (_, filter, keep) => {
    const wanted = revisions.filter(keep);
    expect(await all({ direction: 'forwards', filter })).toEqual(wanted);
    expect(await all({ direction: 'backwards', filter })).toEqual(wanted.toReversed());
  });

  it.each([
    ['since a minute', { sinceMs: minute(10) }, [20, 39]],
    ['since between two', { sinceMs: minute(10) + 1 }, [22, 39]],
    ['until a minute, included', { untilMs: minute(10) }, [0, 21]],
    ['within', { sinceMs: minute(3), untilMs: minute(4) }, [6, 9]],
    ['before it began', { untilMs: START_MS - 1 }, null],
    ['after its end', { sinceMs: minute(99) }, null],
    ['in no time', { sinceMs: minute(4), untilMs: minute(3) }, null],
  ])('has the events that happened %s [10.1b]', async (_, times, bounds) => {
    const wanted = bounds === null ? [] : revisions.slice(bounds[0], (bounds[1] ?? 0) + 1);
    expect(await all({ direction: 'forwards', times })).toEqual(wanted);
    expect(await all({ direction: 'backwards', times })).toEqual(wanted.toReversed());
    expect(await all({ direction: 'forwards', times, from: 8 })).toEqual(wanted.filter((n) => n >= 8));
    expect(await all({ direction: 'backwards', times, from: 8 })).toEqual(wanted.filter((n) => n <= 8).toReversed());
    const lines: string[] = [];
    for await (const chunk of exportHistory(
      store,
      STREAM,
      { filter: {}, times },
      ({ revision }) => `${String(revision)}\n`,
    ))
      lines.push(...chunk.split('\n').filter((line) => line !== ''));
    expect(lines.map(Number)).toEqual(wanted);
  });

  it('finds the first event that is not before a time', async () => {
    for (const [timeMs, revision] of [
      [START_MS, 0],
      [minute(7), 14],
      [minute(7) - 1, 14],
      [minute(7) + 1, 16],
      [minute(20), COUNT],
    ] as const)
      expect(await revisionAt(store, STREAM, timeMs)).toBe(revision);
    expect(await revisionAt(store, 'npc-studio.nobody', START_MS)).toBe(0);
  });
});
