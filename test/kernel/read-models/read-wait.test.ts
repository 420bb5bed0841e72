import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { MemoryReadModels } from '../../support/memory/read-models.js';
import { yieldToEventLoop } from '../../../src/kernel/concurrency/yield-to-event-loop.js';
import { waitForRevision, waitForStream } from '../../../src/kernel/read-models/read-wait.js';
import { READ_WAIT_MS } from '../../../src/ports/read-models.js';
import type { Projection } from '../../../src/ports/read-models.js';
import { event, events } from '../../support/events.js';
import { ManualClock } from '../../support/manual-clock.js';
import { storeWith, STREAM } from '../../support/streams.js';

const projection: Projection = {
  name: 'noted',
  version: 1,
  handles: [],
  idsOf: () => [],
  evolve: (row) => row,
  indexOf: () => ({ partition: '', order: '', tag: '' }),
};

/** A stream of three events and a read model that has applied none of them; `done` is whether the wait is over. */
const setUp = async () => {
  const store = new MemoryEventStore();
  await store.append(STREAM, 'no_stream', events('e', 3));
  const clock = new ManualClock();
  const readModels = new MemoryReadModels(clock);
  const build = await readModels.begin(projection);
  let applied = -1;
  const apply = async (to: number): Promise<void> => {
    const progress = [{ stream: STREAM, from: applied, to }];
    await readModels.commit(build, { put: [], remove: [], progress, parked: [], position: to + 1 });
    applied = to;
  };
  const watch = (wait: Promise<void>) => {
    let over = false;
    const settled = wait.finally(() => (over = true));
    settled.catch(() => undefined);
    const done = async (): Promise<boolean> => {
      await yieldToEventLoop();
      return over;
    };
    return { settled, done };
  };
  const read = (minimum?: number) => watch(waitForStream({ events: store, readModels }, projection, STREAM, minimum));
  return { store, clock, readModels, apply, watch, read };
};

describe('a read of a read model', () => {
  it('waits until the read model has everything that was in the stream when the read began [1.8d]', async () => {
    const { apply, read } = await setUp();
    const { settled, done } = read();
    expect(await done()).toBe(false);
    await apply(1);
    expect(await done()).toBe(false);
    await apply(2);
    await settled;
    expect(await done()).toBe(true);
  });

  it('takes no longer when the wall clock is set back in the meantime', async () => {
    const { clock, read } = await setUp();
    const { settled, done } = read();
    expect(await done()).toBe(false);
    clock.setBy(-3_600_000);
    await clock.advance(READ_WAIT_MS);
    expect(await done()).toBe(true);
    await settled;
  });

  it('continues with stale rows when the read model stays behind [1.8d]', async () => {
    const { clock, read } = await setUp();
    const { settled, done } = read();
    expect(await done()).toBe(false);
    await clock.advance(READ_WAIT_MS - 1);
    expect(await done()).toBe(false);
    await clock.advance(1);
    await expect(settled).resolves.toBeUndefined();
  });

  it('waits exactly for the revision that the client requested [1.8c]', async () => {
    const { apply, read } = await setUp();
    const [one, three] = [read(1), read(3)];
    expect(await one.done()).toBe(false);
    await apply(1);
    await one.settled;
    await apply(2);
    expect(await three.done()).toBe(false);
    await apply(3);
    await three.settled;
  });

  it('is refused when that revision is not reached in time [1.8c]', async () => {
    const { clock, read } = await setUp();
    const { settled } = read(5);
    await clock.advance(READ_WAIT_MS);
    await expect(settled).rejects.toMatchObject({
      code: 'READ_MODEL_BEHIND',
      retryAfter: 1,
      details: { minRevision: 5 },
    });
  });

  it('does not wait if the stream is empty', async () => {
    const { store, readModels } = await setUp();
    await waitForStream({ events: store, readModels }, projection, 'npc-studio.other', undefined);
  });
});

describe('a read of the event store', () => {
  it('continues immediately when no revision was requested, or the requested one exists', async () => {
    const { store } = await setUp();
    const still = storeWith(store, {
      subscribe: () => {
        throw new Error('it must not wait');
      },
    });
    await waitForRevision(still, STREAM, undefined);
    await waitForRevision(still, STREAM, 2);
  });

  it('waits until the revision is written', async () => {
    const { store, watch } = await setUp();
    const { settled, done } = watch(waitForRevision(store, STREAM, 4));
    await store.append(STREAM, 2, [event('fourth')]);
    expect(await done()).toBe(false);
    await store.append(STREAM, 3, [event('fifth')]);
    await settled;
  });

  it('is refused when the wait is over and the revision does not exist', async () => {
    const { store } = await setUp();
    // The subscription ends like one whose signal was aborted.
    const over = storeWith(store, {
      subscribe: ({ signal: _, ...options }) => store.subscribe({ ...options, signal: AbortSignal.abort() }),
    });
    await expect(waitForRevision(over, STREAM, 4)).rejects.toMatchObject({
      code: 'READ_MODEL_BEHIND',
      details: { minRevision: 4 },
    });
  });
});
