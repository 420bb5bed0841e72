import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { yieldToEventLoop } from '../../src/kernel/concurrency/yield-to-event-loop.js';
import { READ_BYTES } from '../../src/kernel/base/page-size.js';
import type {
  AppendOutcome,
  EventStore,
  EventToAppend,
  ExpectedRevision,
  RecordedEvent,
} from '../../src/ports/event-store.js';
import { event, events, namesOf, processEvent } from '../support/events.js';
import { appendNext } from '../support/append-next.js';
import { gate } from '../support/gate.js';

export type OpenedEventStore = {
  readonly store: EventStore;
  /** Closes the store and opens it again; absent if nothing outlives it. */
  readonly reopen?: () => Promise<EventStore>;
  readonly dispose: () => Promise<void>;
};

const forwards = { direction: 'forwards', limit: 4096 } as const;
const backwards = { direction: 'backwards', limit: 4096 } as const;

/** The size of an event towards the limit of an append, as the port defines it. */
const countedBytes = ({ type, data, meta }: EventToAppend): number =>
  Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(meta)) + 2 * type.length;

/** Reads events from a subscription until there are `count` of them. */
const take = async (batches: AsyncIterable<readonly RecordedEvent[]>, count: number): Promise<RecordedEvent[]> => {
  const taken: RecordedEvent[] = [];
  for await (const batch of batches) {
    taken.push(...batch);
    if (taken.length >= count) break;
  }
  return taken;
};

/** The promises of every event store, whatever it is built on. */
export const eventStoreContract = (name: string, open: () => Promise<OpenedEventStore>): void => {
  describe(`${name} as an event store`, () => {
    let opened: OpenedEventStore;
    let store: EventStore;
    let ending: AbortController;

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
      ending = new AbortController();
    });

    afterEach(async () => {
      ending.abort();
      await opened.dispose();
    });

    const names = async (stream: string): Promise<readonly unknown[]> =>
      namesOf((await store.read(stream, forwards)).events);

    describe('appending', () => {
      it('keeps events in the order of appending, with revisions from 0 without gaps', async () => {
        await store.append('s', 'no_stream', events('a', 2));
        await store.append('s', 1, events('b', 3));
        const { events: read, lastRevision } = await store.read('s', forwards);
        expect(namesOf(read)).toEqual(['a-0', 'a-1', 'b-0', 'b-1', 'b-2']);
        expect(read.map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4]);
        expect(lastRevision).toBe(4);
      });

      it('returns every member of an event as it was appended', async () => {
        const given = event('whole', {
          type: 'Täst',
          data: {
            text: 'é 漢字 😀 \u2028 "quoted" \\ \0',
            nested: { list: [1, 2.5, -0.1, null, true, {}] },
            __proto: 'x',
          },
          process: { name: 'turn', id: 't-1', open: true, due: '2026-01-01T00:15:00.000Z' },
          meta: { causationId: 'cause-1', tenant: 'studio' },
        });
        const outcome = await store.append('npc-local.a=20b', 'no_stream', [given]);
        const { events: read } = await store.read('npc-local.a=20b', forwards);
        const position = outcome.ok ? outcome.position : -1;
        expect(read).toEqual([{ ...given, stream: 'npc-local.a=20b', revision: 0, position }]);
        expect(await store.readAll(0, 10)).toEqual(read);
      });

      it("is not affected by later changes to the caller's objects", async () => {
        const data = { list: ['before'] };
        const appended = store.append('s', 'no_stream', [event('a', { data })]);
        data.list.push('after');
        await appended;
        expect((await store.read('s', forwards)).events[0]?.data).toEqual({ list: ['before'] });
      });

      it('returns the revision and position of the last event written', async () => {
        const outcome = await store.append('s', 'no_stream', events('a', 3));
        const last = (await store.read('s', backwards)).events[0];
        expect(outcome).toEqual({ ok: true, revision: 2, position: last?.position, repeated: false });
        expect(await store.lastPosition()).toBe(last?.position);
      });

      const expectations: readonly (readonly [ExpectedRevision, boolean, boolean])[] = [
        ['no_stream', true, false],
        [1, false, true],
        [0, false, false],
        [2, false, false],
      ];
      it.each(expectations)(
        'checks the expected revision %s (to a missing stream: %s, to a stream of two events: %s)',
        async (expected, missing, two) => {
          await store.append('two', 'no_stream', events('two', 2));
          const onMissing = await store.append('missing', expected, [event('x')]);
          const onTwo = await store.append('two', expected, [event('y')]);
          expect(onMissing.ok).toBe(missing);
          expect(onTwo.ok).toBe(two);
          if (!missing) expect(onMissing).toEqual({ ok: false, actual: -1 });
          if (!two) expect(onTwo).toEqual({ ok: false, actual: 1 });
          expect(await names('missing')).toEqual(missing ? ['x'] : []);
          expect(await names('two')).toEqual(two ? ['two-0', 'two-1', 'y'] : ['two-0', 'two-1']);
        },
      );

      it.each(['no_stream', 0] as const)(
        'lets exactly one of many racing appends expecting %s win',
        async (expected) => {
          if (expected === 0) await store.append('s', 'no_stream', [event('first')]);
          const racing = Array.from({ length: 20 }, (_, index) => store.append('s', expected, events(`r${index}`, 2)));
          const outcomes = await Promise.all(racing);
          const winner = outcomes.findIndex(({ ok }) => ok);
          expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
          expect((await names('s')).slice(-2)).toEqual([`r${winner}-0`, `r${winner}-1`]);
          const actual = expected === 0 ? 2 : 1;
          expect(outcomes.filter(({ ok }) => !ok)).toEqual(Array(19).fill({ ok: false, actual }));
        },
      );

      it('writes pipelined appends in the order in which they were sent', async () => {
        const sent: Promise<AppendOutcome>[] = [];
        for (let revision = -1; revision < 49; revision += 1)
          sent.push(store.append('s', revision < 0 ? 'no_stream' : revision, [event(`e${revision + 1}`)]));
        const outcomes = await Promise.all(sent);
        expect(outcomes.map((outcome) => outcome.ok && outcome.revision)).toEqual(
          Array.from({ length: 50 }, (_, i) => i),
        );
        expect(await names('s')).toEqual(Array.from({ length: 50 }, (_, i) => `e${i}`));
      });

      it('answers each of several concurrent appends separately', async () => {
        await store.append('taken', 'no_stream', [event('taken')]);
        const settled = await Promise.allSettled([
          store.append('a', 'no_stream', [event('a')]),
          store.append('taken', 'no_stream', [event('late')]),
          store.append('big', 'no_stream', [event('big', { data: { text: 'x'.repeat(1_000_001) } })]),
          store.append('taken', 'no_stream', [event('taken')]),
          store.append('a', 0, [event('a2')]),
          store.append('a', 'no_stream', [event('a')]),
          store.append('b', 'no_stream', [event('b')]),
        ]);
        expect(settled).toMatchObject([
          { value: { ok: true, revision: 0, repeated: false } },
          { value: { ok: false, actual: 0 } },
          { reason: { code: 'EVENTS_TOO_LARGE' } },
          { value: { ok: true, revision: 0, repeated: true } },
          { value: { ok: true, revision: 1, repeated: false } },
          { value: { ok: true, revision: 0, repeated: true } },
          { value: { ok: true, revision: 0, repeated: false } },
        ]);
        expect(namesOf(await store.readAll(0, 100))).toEqual(['taken', 'a', 'a2', 'b']);
      });

      it('writes an append completely or not at all', async () => {
        await store.append('s', 'no_stream', events('a', 2));
        expect(await store.append('s', 0, events('b', 5))).toEqual({ ok: false, actual: 1 });
        const tooMuch = [...events('c', 3), event('big', { data: { text: 'x'.repeat(1_000_001) } })];
        await expect(store.append('s', 1, tooMuch)).rejects.toMatchObject({ code: 'EVENTS_TOO_LARGE' });
        expect(await names('s')).toEqual(['a-0', 'a-1']);
        expect(await store.readAll(0, 100)).toHaveLength(2);
      });
    });

    describe('repeats', () => {
      it('answers an append to a new stream without writing again', async () => {
        const first = await store.append('s', 'no_stream', events('a', 3));
        await store.append('s', 2, [event('later')]);
        const again = await store.append('s', 'no_stream', events('a', 3));
        expect(again).toEqual({ ...first, repeated: true });
        expect(await names('s')).toEqual(['a-0', 'a-1', 'a-2', 'later']);
      });

      it('answers an append to a stream that exists without writing again', async () => {
        await store.append('s', 'no_stream', [event('first')]);
        const first = await store.append('s', 0, events('a', 2));
        await store.append('s', 2, [event('later')]);
        expect(await store.append('s', 0, events('a', 2))).toEqual({ ...first, repeated: true });
        expect(await store.lastPosition()).toBe((await store.readAll(0, 10)).at(-1)?.position);
        expect(await names('s')).toEqual(['first', 'a-0', 'a-1', 'later']);
      });

      it('answers a repeat of the beginning of an append without writing again', async () => {
        await store.append('s', 'no_stream', events('a', 3));
        const again = await store.append('s', 'no_stream', events('a', 2));
        expect(again).toMatchObject({ ok: true, revision: 1, repeated: true });
      });

      it('reports other ids at the expected revision as a conflict', async () => {
        await store.append('s', 'no_stream', events('a', 2));
        const other = [event('a-0'), event('other')];
        expect(await store.append('s', 'no_stream', other)).toEqual({ ok: false, actual: 1 });
      });

      it('reports known events that are followed by new ones as a conflict', async () => {
        await store.append('s', 'no_stream', events('a', 2));
        expect(await store.append('s', 'no_stream', events('a', 3))).toEqual({ ok: false, actual: 1 });
        expect(await names('s')).toEqual(['a-0', 'a-1']);
      });

      it('compares ids by stream: the same id in another stream is written', async () => {
        await store.append('s', 'no_stream', [event('a')]);
        expect(await store.append('other', 'no_stream', [event('a')])).toMatchObject({ ok: true, repeated: false });
        expect(await names('other')).toEqual(['a']);
      });
    });

    describe('limits', () => {
      it('accepts one event of 900,000 bytes and returns it, and refuses a byte more [1.2w]', async () => {
        const text = 'x'.repeat(900_000 - '{"text":""}'.length);
        const more = event('b', { data: { text: `${text}x` } });
        await expect(store.append('s', 'no_stream', [more])).rejects.toMatchObject({ code: 'EVENTS_TOO_LARGE' });
        expect(await store.append('s', 'no_stream', [event('a', { data: { text } })])).toMatchObject({ ok: true });
        expect((await store.read('s', forwards)).events[0]?.data).toEqual({ text });
      });

      it('accepts 1,048,000 bytes per append and refuses a byte more, counted over all events and in UTF-8 [1.2w]', async () => {
        const half = event('a', { type: 'é', data: { text: `x${'é'.repeat(249_994)}` }, meta: { actor: 'ü' } });
        const rest = (chars: number) => event('b', { data: { text: 'x'.repeat(chars) } });
        const fitting = 1_048_000 - countedBytes(half) - countedBytes(rest(0));
        await expect(store.append('s', 'no_stream', [half, rest(fitting + 1)])).rejects.toMatchObject({
          code: 'EVENTS_TOO_LARGE',
        });
        expect(await store.append('s', 'no_stream', [half, rest(fitting)])).toMatchObject({ ok: true, revision: 1 });
      });

      it('counts the metadata and the types of many small events, too [1.2w]', async () => {
        const many = (chars: number) =>
          Array.from({ length: 500 }, (_, n) => event(`many-${String(n)}`, { data: { text: 'x'.repeat(chars) } }));
        const most = Math.floor(1_048_000 / 500) - countedBytes(event('many-499', { data: { text: '' } }));
        await expect(store.append('s', 'no_stream', many(most + 1))).rejects.toMatchObject({
          code: 'EVENTS_TOO_LARGE',
        });
        expect(await store.append('s', 'no_stream', many(most))).toMatchObject({ ok: true, revision: 499 });
      });

      it('accepts 500 events per append and refuses 501 [1.2w]', async () => {
        await expect(store.append('s', 'no_stream', events('a', 501))).rejects.toMatchObject({
          code: 'EVENTS_TOO_LARGE',
        });
        expect(await store.append('s', 'no_stream', events('a', 500))).toMatchObject({ ok: true, revision: 499 });
      });

      it('refuses an empty append, and a read of no or too many events', async () => {
        await expect(store.append('s', 'no_stream', [])).rejects.toThrow(RangeError);
        await expect(store.read('s', { direction: 'forwards', limit: 0 })).rejects.toThrow(RangeError);
        await expect(store.read('s', { direction: 'forwards', limit: 4097 })).rejects.toThrow(RangeError);
      });
    });

    describe('reading a stream', () => {
      beforeEach(() => store.append('s', 'no_stream', events('e', 10)));

      it.each([
        ['forwards from the first', { direction: 'forwards', limit: 3 }, [0, 1, 2]],
        ['forwards from a revision', { direction: 'forwards', from: 7, limit: 100 }, [7, 8, 9]],
        ['forwards to a revision', { direction: 'forwards', to: 2, limit: 100 }, [0, 1, 2]],
        ['forwards between both', { direction: 'forwards', from: 3, to: 5, limit: 100 }, [3, 4, 5]],
        ['forwards between both up to the limit', { direction: 'forwards', from: 3, to: 8, limit: 2 }, [3, 4]],
        ['forwards of one', { direction: 'forwards', from: 4, to: 4, limit: 1 }, [4]],
        ['forwards to beyond the end', { direction: 'forwards', from: 8, to: 99, limit: 100 }, [8, 9]],
        ['forwards from beyond the end', { direction: 'forwards', from: 10, limit: 100 }, []],
        ['forwards against the order', { direction: 'forwards', from: 5, to: 3, limit: 100 }, []],
        ['backwards from the last', { direction: 'backwards', limit: 3 }, [9, 8, 7]],
        ['backwards from a revision', { direction: 'backwards', from: 2, limit: 100 }, [2, 1, 0]],
        ['backwards to a revision', { direction: 'backwards', to: 7, limit: 100 }, [9, 8, 7]],
        ['backwards between both', { direction: 'backwards', from: 6, to: 4, limit: 100 }, [6, 5, 4]],
        ['backwards between both up to the limit', { direction: 'backwards', from: 6, to: 1, limit: 2 }, [6, 5]],
        ['backwards from beyond the end: the last', { direction: 'backwards', from: 99, limit: 2 }, [9, 8]],
        ['backwards against the order', { direction: 'backwards', from: 3, to: 5, limit: 100 }, []],
      ] as const)('reads %s', async (_, range, revisions) => {
        const { events: read, lastRevision } = await store.read('s', range);
        expect(read.map(({ revision }) => revision)).toEqual(revisions);
        expect(namesOf(read)).toEqual(revisions.map((revision) => `e-${revision}`));
        expect(lastRevision).toBe(9);
      });

      it.each([forwards, backwards])('returns an empty page for a missing stream', async (range) => {
        expect(await store.read('missing', range)).toEqual({ events: [], lastRevision: -1 });
      });
    });

    describe('reading large events', () => {
      const COUNT = 11;
      const BYTES = 500_000;
      const PAGES = 4;
      const bytesOf = (page: readonly RecordedEvent[]): number =>
        page.reduce((sum, { data, meta }) => sum + Buffer.byteLength(JSON.stringify(data) + JSON.stringify(meta)), 0);
      /** A page ends with the event that reaches the limit, not before and not long after. */
      const expectFull = (page: readonly RecordedEvent[]): void => {
        expect(bytesOf(page)).toBeGreaterThanOrEqual(READ_BYTES);
        expect(bytesOf(page.slice(0, -1))).toBeLessThan(READ_BYTES);
      };
      const all = Array.from({ length: COUNT }, (_, index) => `big-${index}`);

      beforeEach(async () => {
        // Two bytes for each character: bytes are counted, not characters.
        const text = 'é'.repeat(BYTES / 2);
        for (const [index, name] of all.entries())
          await store.append('s', index === 0 ? 'no_stream' : index - 1, [event(name, { data: { name, text } })]);
      });

      it.each(['forwards', 'backwards'] as const)(
        'ends a page by its bytes, and reaches everything %s by continuing to the last revision',
        async (direction) => {
          const seen: RecordedEvent[] = [];
          let pages = 0;
          const step = direction === 'forwards' ? 1 : -1;
          for (let from = direction === 'forwards' ? 0 : COUNT - 1; from >= 0 && from < COUNT;) {
            const { events: page, lastRevision } = await store.read('s', { direction, from, limit: 4096 });
            expect(lastRevision).toBe(COUNT - 1);
            seen.push(...page);
            pages += 1;
            from = (page.at(-1)?.revision ?? -2) + step;
            if (from >= 0 && from < COUNT) expectFull(page);
          }
          expect(namesOf(seen)).toEqual(direction === 'forwards' ? all : all.toReversed());
          expect(pages).toBe(PAGES);
        },
      );

      it('ends a page within a range too, and returns less than a page completely', async () => {
        const page = await store.read('s', { direction: 'forwards', from: 3, to: 28, limit: 20 });
        expectFull(page.events);
        expect(page.events[0]?.revision).toBe(3);
        const back = await store.read('s', { direction: 'backwards', to: 2, limit: 20 });
        expectFull(back.events);
        expect(back.lastRevision).toBe(COUNT - 1);
        const few = await store.read('s', { direction: 'forwards', from: 3, to: 5, limit: 20 });
        expect(few.events.map(({ revision }) => revision)).toEqual([3, 4, 5]);
        expect(few.lastRevision).toBe(COUNT - 1);
      });

      it('ends a page of the global order by its bytes; only an empty one is the end', async () => {
        const seen: RecordedEvent[] = [];
        let pages = 0;
        for (let more = true; more;) {
          const page = await store.readAll(seen.at(-1)?.position ?? 0, 4096);
          seen.push(...page);
          more = page.length > 0;
          if (more) pages += 1;
          if (more && seen.length < COUNT) expectFull(page);
        }
        expect(namesOf(seen)).toEqual(all);
        expect(pages).toBe(PAGES);
      });

      it.each([
        ['the whole store', { after: 0 }],
        ['one stream', { stream: { name: 's', from: 0 } }],
      ])('delivers %s to a subscriber in batches of at most a page', async (_, start) => {
        const seen: RecordedEvent[] = [];
        let batches = 0;
        for await (const batch of store.subscribe({ ...start, signal: ending.signal })) {
          expect(bytesOf(batch.slice(0, -1))).toBeLessThan(READ_BYTES);
          seen.push(...batch);
          batches += 1;
          if (seen.length >= COUNT) break;
          // Events that arrive in the meantime must not make the next batch larger.
          for (let turn = 0; turn < 20; turn += 1) await yieldToEventLoop();
        }
        expect(namesOf(seen)).toEqual(all);
        expect(batches).toBeGreaterThanOrEqual(PAGES);
      });
    });

    describe('the global order', () => {
      it('is empty at first, with the last position 0', async () => {
        expect(await store.readAll(0, 10)).toEqual([]);
        expect(await store.lastPosition()).toBe(0);
      });

      it('has the events of all streams as they were written, and pages by position', async () => {
        await store.append('a', 'no_stream', events('a', 2));
        await store.append('b', 'no_stream', events('b', 1));
        await store.append('a', 1, [event('a-2')]);
        const all = await store.readAll(0, 100);
        expect(all.map(({ stream, revision }) => `${stream}@${revision}`)).toEqual(['a@0', 'a@1', 'b@0', 'a@2']);
        const positions = all.map(({ position }) => position);
        expect(positions).toEqual([...new Set(positions)].sort((left, right) => left - right));
        const page = await store.readAll(0, 2);
        expect([...page, ...(await store.readAll(page[1]?.position ?? 0, 100))]).toEqual(all);
        expect(await store.readAll(await store.lastPosition(), 100)).toEqual([]);
      });

      it('never shows a live reader an event before one that it has already seen', async () => {
        const total = 300;
        let after = 0;
        const seen: RecordedEvent[] = [];
        const writers = Array.from({ length: 10 }, async (_, writer) => {
          for (let index = 0; index < total / 10; index += 1) {
            await store.append(`s${writer}`, index === 0 ? 'no_stream' : index - 1, [event(`${writer}-${index}`)]);
          }
        });
        while (seen.length < total) {
          const page = await store.readAll(after, 7);
          seen.push(...page);
          after = page.at(-1)?.position ?? after;
          await yieldToEventLoop();
        }
        await Promise.all(writers);
        expect(await store.readAll(0, 4096)).toEqual(seen);
      });
    });

    describe('subscribing', () => {
      it('switches from the history of the entire store to live events without a gap or a duplicate', async () => {
        const [before, total] = [700, 1_400];
        const writing = async (from: number, to: number): Promise<void> => {
          for (let index = from; index < to; index += 1) {
            const revision = Math.floor(index / 4) - 1;
            await store.append(`s${index % 4}`, revision < 0 ? 'no_stream' : revision, [event(`e${index}`)]);
          }
        };
        await writing(0, before);
        const reading = take(store.subscribe({ after: 0, signal: ending.signal }), total);
        const written = writing(before, total);
        expect(namesOf(await reading)).toEqual(Array.from({ length: total }, (_, index) => `e${index}`));
        await written;
      });

      it('switches from the history of one stream to live events, of that stream only', async () => {
        await store.append('s', 'no_stream', events('e', 300));
        await store.append('other', 'no_stream', events('other', 10));
        const reading = take(store.subscribe({ stream: { name: 's', from: 5 }, signal: ending.signal }), 395);
        for (let index = 0; index < 100; index += 1) {
          await appendNext(store, 'other', [event(`o${index}`)]);
          await appendNext(store, 's', [event(`e-${300 + index}`)]);
        }
        expect(namesOf(await reading)).toEqual(Array.from({ length: 395 }, (_, index) => `e-${index + 5}`));
      });

      it('starts behind a position', async () => {
        await store.append('s', 'no_stream', events('a', 3));
        const position = await store.lastPosition();
        const reading = take(store.subscribe({ after: position, signal: ending.signal }), 2);
        await store.append('s', 2, events('b', 2));
        expect(namesOf(await reading)).toEqual(['b-0', 'b-1']);
      });

      it('delivers only streams with the given prefix, from the history and live', async () => {
        const write = async (stream: string, name: string): Promise<void> => {
          await appendNext(store, stream, [event(name)]);
        };
        for (const stream of ['tenant-a', 'npc-tenant-a', 'tenants', 'tenant-b', 'tenant', 'Tenant-a']) {
          await appendNext(store, stream, events(stream, 300));
        }
        const reading = take(store.subscribe({ after: 0, prefix: 'tenant-', signal: ending.signal }), 602);
        await write('npc-tenant-a', 'foreign');
        await write('tenant-new', 'new');
        await write('tenants', 'foreign too');
        await write('tenant-a', 'a');
        const seen = namesOf(await reading);
        expect(seen).toEqual([
          ...events('tenant-a', 300).map(({ data }) => data['name']),
          ...events('tenant-b', 300).map(({ data }) => data['name']),
          'new',
          'a',
        ]);
      });

      it('starts the streams of a prefix behind a position, whichever stream that belongs to', async () => {
        await store.append('tenant-a', 'no_stream', events('early', 2));
        await store.append('npc-x', 'no_stream', events('x', 2));
        const after = await store.lastPosition();
        const reading = take(store.subscribe({ after, prefix: 'tenant-', signal: ending.signal }), 1);
        await store.append('npc-x', 1, events('y', 2));
        await store.append('tenant-a', 1, [event('late')]);
        expect(namesOf(await reading)).toEqual(['late']);
      });

      it('waits for a stream that does not exist yet', async () => {
        const reading = take(store.subscribe({ stream: { name: 'new', from: 0 }, signal: ending.signal }), 1);
        await yieldToEventLoop();
        await store.append('new', 'no_stream', [event('a')]);
        expect(namesOf(await reading)).toEqual(['a']);
      });

      it('ends when it is aborted while it waits, and immediately when it was aborted before', async () => {
        await store.append('s', 'no_stream', [event('a')]);
        const seen: unknown[] = [];
        const ended = (async () => {
          for await (const batch of store.subscribe({ after: 0, signal: ending.signal })) seen.push(...namesOf(batch));
        })();
        while (seen.length === 0) await yieldToEventLoop();
        ending.abort();
        await ended;
        expect(seen).toEqual(['a']);
        expect(await take(store.subscribe({ after: 0, signal: ending.signal }), 1)).toEqual([]);
      });

      it('is slowed down only by its own reader', async () => {
        const held = gate();
        const slow: unknown[] = [];
        const slowly = (async () => {
          for await (const batch of store.subscribe({ after: 0, signal: ending.signal })) {
            slow.push(...namesOf(batch));
            if (slow.length >= 101) return;
            await held.opened;
          }
        })();
        await store.append('s', 'no_stream', [event('e0')]);
        while (slow.length === 0) await yieldToEventLoop();
        const quick = take(store.subscribe({ after: 0, signal: ending.signal }), 101);
        for (let index = 1; index <= 100; index += 1) await store.append('s', index - 1, [event(`e${index}`)]);
        const all = Array.from({ length: 101 }, (_, index) => `e${index}`);
        expect(namesOf(await quick)).toEqual(all);
        expect(slow).toEqual(['e0']);
        held.open();
        await slowly;
        expect(slow).toEqual(all);
      });

      it('serves many readers in parallel', async () => {
        const readers = Array.from({ length: 20 }, (_, index) =>
          take(store.subscribe({ stream: { name: `s${index % 4}`, from: 0 }, signal: ending.signal }), 3),
        );
        await Promise.all(
          Array.from({ length: 4 }, (_, index) => store.append(`s${index}`, 'no_stream', events(`${index}`, 3))),
        );
        const read = await Promise.all(readers);
        expect(read.map(namesOf)).toEqual(readers.map((_, index) => [0, 1, 2].map((n) => `${index % 4}-${n}`)));
      });

      it('accepts exactly one start', () => {
        const { signal } = ending;
        expect(() => store.subscribe({ signal })).toThrow(RangeError);
        expect(() => store.subscribe({ after: 0, stream: { name: 's', from: 0 }, signal })).toThrow(RangeError);
        expect(() => store.subscribe({ prefix: 's', stream: { name: 's', from: 0 }, signal })).toThrow(RangeError);
        expect(() => store.subscribe({ prefix: 's', signal })).toThrow(RangeError);
      });
    });

    describe('open processes', () => {
      const mark = (id: string, isOpen: boolean, due: string | null = null) => ({
        name: 'turn',
        id,
        open: isOpen,
        due,
      });
      const byId = async () =>
        [...(await store.openProcesses())].sort((left, right) => left.id.localeCompare(right.id));

      it('are those whose last mark is open, with the last thing they wait for', async () => {
        const [early, late] = ['2026-01-01T00:01:00.000Z', '2026-01-01T00:02:00.000Z'];
        await store.append('a', 'no_stream', [
          processEvent('1', mark('t1', true, early)),
          processEvent('2', mark('t2', true)),
        ]);
        await store.append('b', 'no_stream', [processEvent('3', mark('t3', true, early)), event('unmarked')]);
        expect(await byId()).toEqual([
          { name: 'turn', id: 't1', stream: 'a', due: early },
          { name: 'turn', id: 't2', stream: 'a', due: null },
          { name: 'turn', id: 't3', stream: 'b', due: early },
        ]);
        await store.append('a', 1, [processEvent('4', mark('t1', true, late)), processEvent('5', mark('t2', false))]);
        await store.append('b', 1, [processEvent('6', mark('t3', true, null))]);
        expect(await byId()).toEqual([
          { name: 'turn', id: 't1', stream: 'a', due: late },
          { name: 'turn', id: 't3', stream: 'b', due: null },
        ]);
      });

      it('opened and ended in one append are not open', async () => {
        await store.append('a', 'no_stream', [
          processEvent('1', mark('t1', true)),
          processEvent('2', mark('t1', false)),
        ]);
        expect(await store.openProcesses()).toEqual([]);
      });

      it('are distinguished by stream, name and id', async () => {
        await store.append('a', 'no_stream', [
          processEvent('1', mark('t1', true)),
          processEvent('2', { ...mark('t1', true), name: 'soul' }),
        ]);
        await store.append('b', 'no_stream', [processEvent('3', mark('t1', true))]);
        await store.append('a', 1, [processEvent('4', mark('t1', false))]);
        const open = (await store.openProcesses()).map(({ stream, name: table }) => `${stream} ${table}`);
        expect(open.sort()).toEqual(['a soul', 'b turn']);
      });

      it('are not changed by an append that is refused or repeated', async () => {
        await store.append('a', 'no_stream', [processEvent('1', mark('t1', true))]);
        await store.append('a', 0, [processEvent('2', mark('t1', false))]);
        await store.append('a', 'no_stream', [processEvent('1', mark('t1', true))]);
        await store.append('a', 'no_stream', [processEvent('3', mark('t3', true))]);
        expect(await store.openProcesses()).toEqual([]);
      });
    });

    describe('closing', () => {
      it('makes the store refuse everything afterwards, and may be repeated', async () => {
        await store.append('s', 'no_stream', [event('a')]);
        await store[Symbol.asyncDispose]();
        await store[Symbol.asyncDispose]();
        const refused = { code: 'STORE_UNAVAILABLE' };
        await expect(store.append('s', 0, [event('b')])).rejects.toMatchObject(refused);
        await expect(store.read('s', forwards)).rejects.toMatchObject(refused);
        await expect(store.readAll(0, 1)).rejects.toMatchObject(refused);
        await expect(store.lastPosition()).rejects.toMatchObject(refused);
        await expect(store.openProcesses()).rejects.toMatchObject(refused);
      });

      it('writes the appends sent before', async () => {
        const sent = [store.append('s', 'no_stream', [event('a')]), store.append('s', 0, [event('b')])];
        await store[Symbol.asyncDispose]();
        expect(await Promise.all(sent)).toMatchObject([
          { ok: true, revision: 0 },
          { ok: true, revision: 1 },
        ]);
      });

      it('ends a waiting subscription with an error, because more events may exist', async () => {
        const reading = take(store.subscribe({ after: 0, signal: ending.signal }), 1);
        const ended = expect(reading).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
        await yieldToEventLoop();
        await store[Symbol.asyncDispose]();
        await ended;
      });

      it('leaves everything for the next process that opens the store', async (context) => {
        if (opened.reopen === undefined) return context.skip('nothing outlives this store');
        await store.append('a', 'no_stream', events('a', 3));
        await store.append('b', 'no_stream', [
          processEvent('b', { name: 'turn', id: 't1', open: true, due: '2026-01-01T00:01:00.000Z' }),
        ]);
        const before = [await store.readAll(0, 100), await store.openProcesses(), await store.lastPosition()];
        store = await opened.reopen();
        expect([await store.readAll(0, 100), await store.openProcesses(), await store.lastPosition()]).toEqual(before);
        expect(await store.append('a', 'no_stream', events('a', 3))).toMatchObject({
          ok: true,
          revision: 2,
          repeated: true,
        });
        expect(await store.append('a', 'no_stream', events('a', 3))).toMatchObject({
          ok: true,
          revision: 2,
          repeated: true,
        });
        expect(await store.append('a', 1, [event('x')])).toEqual({ ok: false, actual: 2 });
        expect(await store.append('a', 2, [event('x')])).toMatchObject({ ok: true, revision: 3, repeated: false });
        expect(await store.lastPosition()).toBeGreaterThan(before[2] as number);
      });
    });
  });
};
