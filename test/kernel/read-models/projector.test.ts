import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { applyEvents } from '../../../src/kernel/read-models/apply-events.js';
import { feedOf } from '../../../src/kernel/read-models/feed.js';
import { GATHER_MS, Projector } from '../../../src/kernel/read-models/projector.js';
import { rebuild } from '../../../src/kernel/read-models/rebuild.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import type { Projection } from '../../../src/ports/read-models.js';
import type { Build, Changes, ReadModelWriter } from '../../../src/ports/read-model-writer.js';
import { projections } from '../../../projections/registry.js';
import { gate } from '../../support/gate.js';
import { event, events } from '../../support/events.js';
import { history, storeOf } from '../../support/histories.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryReadModels } from '../../support/memory/read-models.js';
import { everythingIn, writerWith } from '../../support/read-models.js';
import { appendNext } from '../../support/append-next.js';

type Count = { readonly stream: string; readonly names: readonly string[] };

const nameIn = (data: JsonObject): string => data['name'] as string;

/** The names of a stream's events; one named `poison` cannot be applied. */
const names = (of: Partial<Projection<Count>> = {}): Projection<Count> => ({
  name: 'names',
  version: 1,
  handles: ['Happened'],
  idsOf: () => [''],
  evolve: (row, { stream, data }) => {
    const name = nameIn(data);
    if (name.includes('poison')) throw new Error(`${name} does not fit`);
    return { stream, names: [...(row?.names ?? []), name] };
  },
  indexOf: ({ stream }) => ({ partition: 'all', order: stream, tag: '' }),
  ...of,
});

const WAIT_MS = 2_000;

describe('The projector', () => {
  let store: MemoryEventStore;
  let clock: ManualClock;
  let models: MemoryReadModels;
  let problems: { readonly message: string; readonly details: object }[];
  let running: Projector[];

  beforeEach(() => {
    store = new MemoryEventStore();
    clock = new ManualClock();
    models = new MemoryReadModels(clock);
    problems = [];
    running = [];
  });

  afterEach(async () => {
    for (const projector of running) await projector[Symbol.asyncDispose]();
  });

  const start = async (of: readonly Projection[], writer: ReadModelWriter = models): Promise<Projector> => {
    const log = { error: (details: object, message: string) => void problems.push({ details, message }) };
    const projector = new Projector({ events: store, writer, clock, log }, of);
    running.push(projector);
    await projector.start();
    return projector;
  };

  const namesIn = async (stream: string, of: Projection = names()): Promise<readonly string[] | null> =>
    ((await models.get(of, stream)) as Count | null)?.names ?? null;

  it('applies the events that existed at its start, and later ones', async () => {
    await appendNext(store, 's', events('early', 2));
    await start([names()]);
    expect(await models.reached(names(), 's', 1, WAIT_MS)).toBe(true);
    await appendNext(store, 's', events('late', 1));
    expect(await models.reached(names(), 's', 2, WAIT_MS)).toBe(true);
    expect(await namesIn('s')).toEqual(['early-0', 'early-1', 'late-0']);
  });

  it('advances the progress of a stream past events that it does not handle', async () => {
    await start([names()]);
    await appendNext(store, 's', [event('a'), event('b', { type: 'Else' })]);
    expect(await models.reached(names(), 's', 1, WAIT_MS)).toBe(true);
    expect(await namesIn('s')).toEqual(['a']);
  });

  it('answers callers that wait for a global position', async () => {
    await start([names()]);
    const { position } = (await appendNext(store, 's', events('a', 3))) as { position: number };
    expect(await models.reachedPosition(names(), position, WAIT_MS)).toBe(true);
    expect(await namesIn('s')).toHaveLength(3);
  });

  it('continues where it stopped, and applies nothing twice', async () => {
    const first = await start([names()]);
    await appendNext(store, 's', events('a', 2));
    await models.reached(names(), 's', 1, WAIT_MS);
    await first[Symbol.asyncDispose]();
    await appendNext(store, 's', events('b', 1));
    expect(await models.progress(names(), 's')).toBe(1);
    await start([names()]);
    expect(await models.reached(names(), 's', 2, WAIT_MS)).toBe(true);
    expect(await namesIn('s')).toEqual(['a-0', 'a-1', 'b-0']);
  });

  it('batches events while no caller waits, and writes a row once for all of them', async () => {
    const commits: Changes[] = [];
    await start(
      [names()],
      writerWith(models, {
        commit: (build: Build, changes: Changes) => {
          commits.push(changes);
          return models.commit(build, changes);
        },
      }),
    );
    await appendNext(store, 's', events('first', 1));
    await clock.advance(0);
    for (let n = 0; n < 10; n += 1) {
      await appendNext(store, 's', events(`more-${n}`, 1));
      await clock.advance(1);
    }
    expect(commits.map(({ put }) => put.length)).toEqual([1]);
    await clock.advance(GATHER_MS);
    expect(commits.map(({ put }) => put.length)).toEqual([1, 1]);
    expect(await namesIn('s')).toHaveLength(11);
  });

  it('ends the batching immediately when a caller begins to wait', async () => {
    await start([names()]);
    await appendNext(store, 's', events('first', 1));
    await clock.advance(0);
    await appendNext(store, 's', events('next', 1));
    expect(await models.progress(names(), 's')).toBe(0);
    expect(await models.reached(names(), 's', 1, WAIT_MS)).toBe(true);
  });

  it('reports its lag', async () => {
    await appendNext(store, 's', events('a', 3));
    const blocked = gate();
    const commit = async (build: Build, changes: Changes) => {
      await blocked.opened;
      return models.commit(build, changes);
    };
    const projector = await start([names()], writerWith(models, { commit }));
    expect([await projector.lag(), await projector.parked()]).toEqual([3, 0]);
    blocked.open();
    await models.reached(names(), 's', 2, WAIT_MS);
    await clock.advance(0);
    expect([await projector.lag(), await projector.parked()]).toEqual([0, 0]);
  });

  describe('meeting an event that a projection cannot apply', () => {
    const poisoned = async (): Promise<void> => {
      await appendNext(store, 's', [event('a'), event('poison'), event('b')]);
      await appendNext(store, 't', [event('c')]);
    };

    it('parks the event with its reason: its stream stops, others continue', async () => {
      const projector = await start([names()]);
      await poisoned();
      expect(await models.reached(names(), 't', 0, WAIT_MS)).toBe(true);
      await appendNext(store, 's', [event('d')]);
      await appendNext(store, 't', [event('e')]);
      expect(await models.reached(names(), 't', 1, WAIT_MS)).toBe(true);
      expect([await namesIn('s'), await namesIn('t')]).toEqual([['a'], ['c', 'e']]);
      expect(await models.reached(names(), 's', 3, WAIT_MS)).toBe(false);
      expect(await models.parked(10)).toEqual([
        {
          projection: 'names',
          version: 1,
          stream: 's',
          revision: 1,
          eventId: event('poison').id,
          type: 'Happened',
          reason: 'poison does not fit',
          at: clock.now().toISOString(),
        },
      ]);
      expect([await projector.lag(), await projector.parked()]).toEqual([0, 1]);
      expect(problems).toHaveLength(1);
    });

    it('stops the stream for that projection only', async () => {
      const tolerant = names({ name: 'tolerant', evolve: (_, { stream }) => ({ stream, names: [] }) });
      await start([names(), tolerant]);
      await poisoned();
      expect(await models.reached(tolerant, 's', 2, WAIT_MS)).toBe(true);
      expect(await models.progress(names(), 's')).toBe(0);
    });

    it('parks the event also when its key or its position in lists cannot be derived', async () => {
      const isPoison = (text: string): boolean => text.includes('poison');
      const evolve: Projection<Count>['evolve'] = (_, { stream, data }) => ({ stream, names: [nameIn(data)] });
      const refuse = (): never => {
        throw new Error('no');
      };
      const keyless = names({
        name: 'keyless',
        evolve,
        idsOf: ({ data }) => (isPoison(nameIn(data)) ? refuse() : ['']),
      });
      const placeless = names({
        name: 'placeless',
        evolve,
        indexOf: (row) => (row.names.some(isPoison) ? refuse() : { partition: 'all', order: row.stream, tag: '' }),
      });
      await start([keyless, placeless]);
      await poisoned();
      for (const of of [keyless, placeless]) {
        expect(await models.reached(of, 't', 0, WAIT_MS)).toBe(true);
        expect(await namesIn('s', of)).toEqual(['a']);
      }
      expect(await models.parkedCount([keyless, placeless])).toBe(2);
    });

    it('resumes the stream in a new version that can apply the event', async () => {
      const first = await start([names()]);
      await poisoned();
      await models.reached(names(), 't', 0, WAIT_MS);
      await first[Symbol.asyncDispose]();
      const mended = names({
        version: 2,
        evolve: (row, { stream, data }) => ({ stream, names: [...(row?.names ?? []), nameIn(data)] }),
      });
      await start([mended]);
      expect(await models.reached(mended, 's', 2, WAIT_MS)).toBe(true);
      expect(await namesIn('s', mended)).toEqual(['a', 'poison', 'b']);
      expect(await models.parkedCount([mended])).toBe(0);
    });
  });

  describe('starting with a new version of a projection', () => {
    const loud = names({
      version: 2,
      evolve: (row, { stream, data }) => ({
        stream,
        names: [...(row?.names ?? []), nameIn(data).toUpperCase()],
      }),
    });

    it('builds the new version beside the old one, and swaps it in when it has caught up', async () => {
      const first = await start([names()]);
      await appendNext(store, 's', events('a', 2));
      await models.reached(names(), 's', 1, WAIT_MS);
      await first[Symbol.asyncDispose]();
      const blocked = gate();
      const commit = async (build: Build, changes: Changes) => {
        await blocked.opened;
        return models.commit(build, changes);
      };
      await start([loud], writerWith(models, { commit }));
      expect(await namesIn('s', loud)).toEqual(['a-0', 'a-1']);
      await appendNext(store, 's', events('b', 1));
      blocked.open();
      expect(await models.reached(loud, 's', 2, WAIT_MS)).toBe(true);
      expect(await namesIn('s', loud)).toEqual(['A-0', 'A-1', 'B-0']);
      expect((await models.open(names())).position).toBe(0);
    });

    it('does not delay the projections that are current', async () => {
      const other = names({ name: 'other' });
      const first = await start([names(), other]);
      await appendNext(store, 's', events('a', 2));
      await models.reached(other, 's', 1, WAIT_MS);
      await first[Symbol.asyncDispose]();
      const blocked = gate();
      const commit = async (build: Build, changes: Changes) => {
        if (build.version === 2) await blocked.opened;
        return models.commit(build, changes);
      };
      await start([loud, other], writerWith(models, { commit }));
      await appendNext(store, 's', events('b', 1));
      expect(await models.reached(other, 's', 2, WAIT_MS)).toBe(true);
      expect((await models.open(loud)).position).toBe(0);
      blocked.open();
    });
  });

  describe('when something fails', () => {
    it('retries less and less often, and then continues normally', async () => {
      let failures = 0;
      const commit = async (build: Build, changes: Changes) => {
        if (failures < 3) {
          failures += 1;
          throw new Error('the disk is full');
        }
        return models.commit(build, changes);
      };
      await start([names()], writerWith(models, { commit }));
      await appendNext(store, 's', events('a', 2));
      const failuresAfter: number[] = [];
      for (const ms of [0, 99, 1, 249, 1, 499, 1]) {
        await clock.advance(ms);
        failuresAfter.push(failures);
      }
      expect(failuresAfter).toEqual([1, 1, 2, 2, 3, 3, 3]);
      expect(await namesIn('s')).toEqual(['a-0', 'a-1']);
      expect(problems).toHaveLength(3);
    });

    it('folds a batch again when another writer advanced a stream in the meantime', async () => {
      const build = await models.open(names());
      await appendNext(store, 's', events('a', 2));
      const batch = await store.readAll(0, 10);
      let raced = false;
      const commit = async (into: Build, changes: Changes) => {
        if (!raced) {
          raced = true;
          await applyEvents(models, feedOf(names(), build), batch.slice(0, 1), '');
        }
        return models.commit(into, changes);
      };
      await applyEvents(writerWith(models, { commit }), feedOf(names(), build), batch, '');
      expect(await namesIn('s')).toEqual(['a-0', 'a-1']);
    });

    it('refuses to continue behind a missing event, instead of hiding it', async () => {
      await appendNext(store, 's', events('a', 3));
      const [first, , third] = await store.readAll(0, 10);
      if (first === undefined || third === undefined) throw new Error('nothing was read');
      const feed = feedOf(names(), await models.open(names()));
      await expect(applyEvents(models, feed, [first, third], '')).rejects.toThrow('lacks revision 1');
      expect(await models.progress(names(), 's')).toBe(-1);
    });

    it('rebuilds everything when its rows come from events that the store does not have', async () => {
      const ahead = await models.open(names());
      await models.swapIn(ahead);
      const put = [
        { key: 'ghost', row: { stream: 'ghost', names: [] }, index: { partition: 'all', order: 'g', tag: '' } },
      ];
      await models.commit(ahead, { put, remove: [], progress: [], parked: [], position: 99 });
      await appendNext(store, 's', events('a', 1));
      await start([names()]);
      expect(await models.reached(names(), 's', 0, WAIT_MS)).toBe(true);
      expect(await namesIn('ghost')).toBeNull();
    });
  });

  it('applies nothing after it is disposed of', async () => {
    const projector = await start([names()]);
    await projector[Symbol.asyncDispose]();
    await appendNext(store, 's', events('a', 1));
    await clock.advance(10_000);
    expect(await models.progress(names(), 's')).toBe(-1);
    expect(problems).toEqual([]);
  });

  describe('making the rows that a rebuild makes', () => {
    const rebuiltFrom = async (from: MemoryEventStore): Promise<unknown> => {
      const fresh = new MemoryReadModels(clock);
      await rebuild({ events: from, writer: fresh, clock }, projections);
      return everythingIn(fresh);
    };

    it('however the feed is split and however often it is delivered again', async () => {
      const deliveries = fc.array(fc.tuple(fc.nat(60), fc.nat(60)), { maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(history, deliveries, async (written, cuts) => {
          const from = await storeOf(written);
          const all = await from.readAll(0, 1_000);
          const live = new MemoryReadModels(clock);
          const feeds = [];
          for (const projection of projections) feeds.push(feedOf(projection, await live.open(projection)));
          let delivered = 0;
          for (const [back, count] of [...cuts, [0, all.length] as const]) {
            const begin = Math.max(0, delivered - back);
            const batch = all.slice(begin, Math.max(delivered, begin) + count);
            delivered = Math.max(delivered, begin + batch.length);
            for (const feed of feeds) await applyEvents(live, feed, batch, '');
          }
          expect(await everythingIn(live)).toEqual(await rebuiltFrom(from));
        }),
        { numRuns: 60 },
      );
    });

    it('wherever the projector was stopped and restarted', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(history, { minLength: 1, maxLength: 4 }), async (parts) => {
          store = new MemoryEventStore();
          models = new MemoryReadModels(clock);
          for (const written of parts) {
            const projector = await start(projections);
            await storeOf(written, store);
            await projector[Symbol.asyncDispose]();
          }
          await start(projections);
          const last = await store.lastPosition();
          for (const projection of projections) await models.reachedPosition(projection, last, WAIT_MS);
          expect(await everythingIn(models)).toEqual(await rebuiltFrom(store));
          expect(problems).toEqual([]);
        }),
        { numRuns: 25 },
      );
    });
  });
});
