import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { QUEUE_LIMIT } from '../../../src/kernel/concurrency/keyed-mutex.js';
import { yieldToEventLoop } from '../../../src/kernel/concurrency/yield-to-event-loop.js';
import { type Instance, ProcessRepository } from '../../../src/kernel/processes/process-repository.js';
import { FIRST_EVENT_SEARCH } from '../../../src/kernel/streams/first-event-search.js';
import { makeProcessId } from '../../../src/kernel/crypto/process-id.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import type { ProcessRef } from '../../../src/ports/process-runtime.js';
import { event, type EventOptions } from '../../support/events.js';
import { race } from '../../support/relay-race.js';
import { eventsOf, storeWith, STREAM } from '../../support/streams.js';
import { appendNext } from '../../support/append-next.js';

const DUE = '2026-01-01T00:15:00.000Z';

/** A store with this many foreign events, and a repository that counts its reads. */
const setUp = async (foreign = 0) => {
  const store = new MemoryEventStore();
  const append = (name: string, options: EventOptions = {}) => appendNext(store, STREAM, [event(name, options)]);
  const others = async (prefix: string, count: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) await append(`${prefix}-${n}`);
  };
  await others('before', foreign);
  const reads: { from: number | undefined; events: number }[] = [];
  const read: EventStore['read'] = async (stream, range) => {
    const page = await store.read(stream, range);
    reads.push({ from: range.from, events: page.events.length });
    return page;
  };
  const repository = new ProcessRepository(storeWith(store, { read }));
  const id = makeProcessId('r', foreign - 1, Date.parse('2026-01-01T00:00:00.000Z'), 'command');
  const ref: ProcessRef = { process: race.name, id, stream: STREAM };
  const start = () => append('start', { type: 'RaceStarted', data: { raceId: id, deadlineAt: DUE } });
  const giveUp = () => append('up', { type: 'RaceGivenUp', data: { raceId: id } });
  return { store, others, start, giveUp, reads, repository, ref, load: (of = ref) => repository.load(race, of) };
};

const started = { state: { name: 'started', deadlineAt: DUE }, sequence: 1 };
const unknown: Omit<Instance, 'through' | 'rivals' | 'bytes' | 'held'> = { state: { name: 'new' }, sequence: 0 };

describe('reading a process from its stream', () => {
  it('begins at the revision in its id, skips foreign events, and caches the result', async () => {
    const { load, start, others, reads } = await setUp(700);
    await start();
    await others('between', 3);
    expect(await load()).toMatchObject(started);
    expect(reads).toEqual([{ from: 699, events: 5 }]);
    expect(await load()).toMatchObject(started);
    expect(reads).toHaveLength(1);
  });

  it('folds the end of the stream that its caller has just read, and reads only events missing before it', async () => {
    const { load, start, others, reads, repository, ref, store } = await setUp(3);
    await start();
    await others('between', 4);
    const { events } = await store.read(STREAM, { direction: 'forwards', limit: 100 });
    const tailOf = (from: number) => ({ events: events.slice(from), through: 7 });
    const fromTail = await repository.load(race, ref, -1, tailOf(2));
    expect(fromTail).toMatchObject({ ...started, through: 7 });
    expect(reads).toEqual([]);
    repository.forget(ref);
    expect(await repository.load(race, ref, -1, tailOf(3))).toEqual(await load());
    expect(reads).toEqual([{ from: 2, events: 6 }]);
  });

  it('holds a process that it was told of from its first event on, and none that it read [10.13b]', async () => {
    const { load, start, store, repository, ref } = await setUp();
    const begun = await load();
    await start();
    const { events } = await store.read(STREAM, { direction: 'backwards', limit: 1 });
    const [{ revision } = { revision: -1 }] = events;
    expect(repository.isHeld(ref, revision)).toBe(false);
    repository.recorded(race, ref, begun, events);
    expect(repository.isHeld(ref, revision)).toBe(true);
    expect(repository.isHeld(ref, revision + 1)).toBe(false);
    repository.forget(ref);
    expect(repository.isHeld(ref, revision)).toBe(false);
    await load();
    expect(repository.isHeld(ref, revision)).toBe(false);
  });

  it('continues page by page until the process is over', async () => {
    const { load, start, giveUp, others, reads } = await setUp();
    await start();
    await others('between', 600);
    await giveUp();
    await others('after', 700);
    expect(await load()).toMatchObject({ state: { name: 'givenUp', deadlineAt: DUE }, sequence: 2 });
    expect(reads.reduce((sum, { events }) => sum + events, 0)).toBe(1_000);
  });

  it('stops searching for the first event of an unknown process after a bounded number, and does not cache that', async () => {
    const { load, others, start, reads } = await setUp();
    await others('foreign', FIRST_EVENT_SEARCH + 600);
    expect(await load()).toMatchObject(unknown);
    expect(reads.reduce((sum, { events }) => sum + events, 0)).toBe(FIRST_EVENT_SEARCH);
    await start();
    expect(await load()).toMatchObject(unknown);
    expect(reads.length).toBeGreaterThan(4);
  });

  it('searches only as far as a process of an old id can have begun', async () => {
    const { load, others, reads, ref } = await setUp();
    await others('foreign', FIRST_EVENT_SEARCH);
    expect(await load({ ...ref, id: makeProcessId('r', -1, 0, 'command') })).toMatchObject(unknown);
    expect(reads).toHaveLength(1);
  });

  it('reads nothing for a foreign id, and finds nothing under an id of another stream', async () => {
    const { load, start, reads, ref } = await setUp();
    await start();
    expect(await load({ ...ref, id: 'made-up' })).toMatchObject(unknown);
    expect(reads).toEqual([]);
    expect(await load()).toMatchObject(started);
    expect(await load({ ...ref, stream: 'npc-other.one' })).toMatchObject(unknown);
  });

  it('finds an unknown process as soon as its first event is recorded', async () => {
    const { load, start } = await setUp();
    expect(await load()).toMatchObject(unknown);
    await start();
    expect(await load()).toMatchObject(started);
  });

  it('folds newly recorded events without reading', async () => {
    const { store, repository, load, start, giveUp, ref, reads } = await setUp();
    await start();
    const before = await load();
    await giveUp();
    const after = repository.recorded(race, ref, before, (await eventsOf(store)).slice(1));
    expect(after).toMatchObject({ state: { name: 'givenUp', deadlineAt: DUE }, sequence: 2 });
    expect(await load()).toBe(after);
    expect(reads).toHaveLength(1);
  });

  it('caches up to a size: larger processes are read again', async () => {
    const { store, start, ref } = await setUp();
    await start();
    let reads = 0;
    const read: EventStore['read'] = (...asked) => {
      reads += 1;
      return store.read(...asked);
    };
    for (const [bytes, expected] of [
      [10_000, 1],
      [100, 2],
    ] as const) {
      const repository = new ProcessRepository(storeWith(store, { read }), { bytes });
      reads = 0;
      await repository.load(race, ref);
      await repository.load(race, ref);
      expect(reads, `${bytes} bytes`).toBe(expected);
    }
  });

  it('reads the stream again after its cache was cleared', async () => {
    const { repository, load, start, giveUp, ref } = await setUp();
    await start();
    await load();
    await giveUp();
    expect(await load()).toMatchObject(started);
    repository.forget(ref);
    expect((await load()).state.name).toBe('givenUp');
  });
});

describe('the steps of one process', () => {
  /** A step that reports when it begins, and ends when it is released. */
  const heldSteps = (repository: ProcessRepository) => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const run = (id: string, name: string): Promise<string> =>
      repository.runExclusive(id, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
        return name;
      });
    const endOne = async (): Promise<void> => {
      ends.shift()?.();
      await yieldToEventLoop();
    };
    return { begun, run, endOne };
  };

  it('run one after the other, in the order of arrival, and in parallel with other processes', async () => {
    const { repository } = await setUp();
    const { begun, run, endOne } = heldSteps(repository);
    const steps = [run('one', 'a'), run('one', 'b'), run('other', 'c'), run('one', 'd')];
    expect(begun).toEqual(['a', 'c']);
    await endOne();
    expect(begun).toEqual(['a', 'c', 'b']);
    await endOne();
    await endOne();
    await endOne();
    expect(begun).toEqual(['a', 'c', 'b', 'd']);
    expect(await Promise.all(steps)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('continue after one that failed', async () => {
    const { repository } = await setUp();
    const failed = repository.runExclusive('one', () => Promise.reject(new Error('no')));
    const next = repository.runExclusive('one', () => Promise.resolve('done'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('done');
  });

  it('are refused as BUSY when too many wait, and accepted again when there is room', async () => {
    const { repository } = await setUp();
    const { begun, run, endOne } = heldSteps(repository);
    const steps = Array.from({ length: QUEUE_LIMIT }, (_, n) => run('one', String(n)));
    await expect(run('one', 'too many')).rejects.toMatchObject({ code: 'BUSY', retryAfter: 1 });
    await endOne();
    steps.push(run('one', 'late'));
    while (begun.at(-1) !== 'late') await endOne();
    await endOne();
    expect(await Promise.all(steps)).toHaveLength(QUEUE_LIMIT + 1);
  });
});
