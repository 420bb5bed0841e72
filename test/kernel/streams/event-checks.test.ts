import { describe, expect, it } from 'vitest';

import type { Rejection } from '../../../src/kernel/base/rejection.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import type { RecordedEvent } from '../../../src/ports/event-store.js';
import { forged } from '../../support/forge.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { checksOf, seals } from '../../support/seals.js';
import { eventsOf, note, onBehalf, STREAM, texts } from '../../support/streams.js';

const never = new AbortController().signal;

/** A stream of notes, as a server with seals or an older one writes it. */
const written = async (count: number, sealing: 'sealed' | 'unsealed' = 'sealed'): Promise<readonly RecordedEvent[]> => {
  const store = new MemoryEventStore();
  const options = sealing === 'sealed' ? { seals } : {};
  const writer = await new StreamWriters(store, new ManualClock(), options).open(STREAM, texts);
  await writer.append(
    Array.from({ length: count }, (_, n) => note(`n${String(n)}`)),
    onBehalf('x'),
    0,
  );
  return eventsOf(store);
};
const stored = async (events: readonly RecordedEvent[]): Promise<MemoryEventStore> => {
  const store = new MemoryEventStore();
  await store.append(STREAM, 'no_stream', events);
  return store;
};
const refusal = (work: Promise<unknown>): Promise<Rejection> =>
  work.then(
    () => null as never,
    (error: unknown) => error as Rejection,
  );
const other = () => ({ data: { text: 'forged' } });

describe('the checks of stored events [10.13b, 10.13d]', () => {
  it('find nothing in what a server recorded, whatever its size', async () => {
    const events = await written(3);
    const checks = checksOf(await stored(events));
    await checks.requireGood(events);
    await checks.requireWhole(STREAM, 2, never);
    for (const event of events) expect(await checks.isBroken(event)).toBe(false);
  });

  it('find changed data, a chain that was computed again, seals of other events, and missing seals', async () => {
    const events = await written(4);
    const [first, second] = events as [RecordedEvent, RecordedEvent];
    const wrong: readonly RecordedEvent[] = [
      { ...second, data: { text: 'forged' } },
      { ...second, meta: { ...second.meta, actor: 'someone' } },
      ...forged(events, 1, other).slice(1),
      ...forged(events, 1, other, 'removed').slice(1),
      { ...second, meta: { ...second.meta, mac: first.meta.mac ?? '' } },
      { ...second, meta: { ...second.meta, mac: 7 as never } },
      { ...second, data: { text: '\ud800' } },
      { ...second, stream: 'npc-studio.another' },
    ];
    const checks = checksOf(await stored(events));
    for (const event of wrong) {
      expect(await checks.isBroken(event)).toBe(true);
      const details = expect.objectContaining({ revision: event.revision }) as object;
      expect(await refusal(checks.requireGood([first, event]))).toMatchObject({ code: 'CHAIN_BROKEN', details });
    }
  });

  it('name the mind and the first event of a stream that is not good or does not follow', async () => {
    const events = await written(6);
    const swapped = events.map((event) => (event.revision === 3 ? { ...event, data: { text: 'forged' } } : event));
    for (const [broken, revision] of [
      [swapped, 3],
      [forged(events, 2, other), 2],
      [events.slice(0, 4), 4],
    ] as const) {
      const checks = checksOf(await stored(broken));
      const details = { npcId: 'one', revision };
      expect(await refusal(checks.requireWhole(STREAM, 5, never))).toMatchObject({ code: 'CHAIN_BROKEN', details });
      await checks.requireWhole(STREAM, revision - 1, never);
    }
  });

  it('read what they have checked only once, even if the call was aborted', async () => {
    const store = await stored(await written(6));
    const froms: (number | undefined)[] = [];
    const checks = checksOf({
      read: (stream, range) => {
        froms.push(range.from);
        return store.read(stream, { ...range, limit: 2 });
      },
    });
    const stopped = new AbortController();
    const isFirst = checks.requireWhole(STREAM, 5, stopped.signal);
    await Promise.resolve();
    await checks.requireWhole(STREAM, 3, never);
    stopped.abort(new Error('the caller left'));
    await expect(isFirst).rejects.toThrow('the caller left');
    froms.length = 0;
    await checks.requireWhole(STREAM, 5, never);
    expect(froms).toEqual([4]);
  });

  it('ask whether an event without a seal is from before the upgrade', async () => {
    const events = await written(3, 'unsealed');
    const asked: number[] = [];
    const checks = checksOf(await stored(events), (event) => {
      asked.push(event.revision);
      return Promise.resolve(event.revision < 2);
    });
    for (const event of events) expect(await checks.isBroken(event)).toBe(false);
    await checks.requireGood(events.slice(0, 2));
    expect(await refusal(checks.requireGood(events))).toMatchObject({ details: { revision: 2 } });
    asked.length = 0;
    await checks.requireWhole(STREAM, 1, never);
    // The chain leads to the last one.
    expect(asked).toEqual([1]);
    expect(await refusal(checks.requireWhole(STREAM, 2, never))).toMatchObject({ details: { revision: 2 } });
  });
});
