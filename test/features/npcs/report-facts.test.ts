import { describe, expect, it } from 'vitest';

import { isUnfinished, reportOn, reportOnMany } from '../../../src/features/npcs/report-facts.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import { makeCommandId, reservedAfter } from '../../../src/kernel/streams/command-id.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { seededRandom } from '../../support/seeded-random.js';
import { turnsDuring } from '../../support/turns.js';
import { eventsOf, onBehalf, storeWith } from '../../support/streams.js';

const clock = new ManualClock();
const serverOn = (events: EventStore, shared = true) => ({
  events,
  clock,
  writers: new StreamWriters(events, clock, { shared }),
});
const streamOf = (npcId: string) => npcStream(onBehalf('any').tenant, npcId);
const factsIn = async (store: EventStore, npcId: string) =>
  (await eventsOf(store, streamOf(npcId))).flatMap(({ type, data }) =>
    type === 'FactsReported' ? [data['facts']] : [],
  );
const minds = Array.from({ length: 40 }, (_, n) => `m${String(n)}`);
let commands = 0;
const keyedAfter = async (store: EventStore) => {
  const commandId = makeCommandId(clock, seededRandom(`report ${String((commands += 1))}`));
  return { ...onBehalf(reservedAfter(commandId, await store.lastPosition())), keyed: true };
};

describe('reports of facts', () => {
  it.each([true, false])('by two writers at once are both recorded (shared store: %s) [5.9a]', async (shared) => {
    const store = new MemoryEventStore();
    const [one, other] = [serverOn(store, shared), serverOn(store, shared)];
    const servers = shared ? [one, other] : [one, one];
    await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        reportOn(servers[n % 2] ?? one, onBehalf(`report-${String(n)}`), 'mira', { [`f${String(n)}`]: n }),
      ),
    );
    const { facts } = await reportOn(serverOn(store), onBehalf('look'), 'mira', {});
    expect(Object.keys(facts)).toHaveLength(16);
    expect(await factsIn(store, 'mira')).toHaveLength(16);
  });

  it('of many minds are answered in their order, and one that refuses keeps none from others [5.9d]', async () => {
    const store = new MemoryEventStore();
    const server = serverOn(store);
    await reportOn(server, onBehalf('full'), 'm7', { notes: 'x'.repeat(65_500) });
    const reported = await reportOnMany(server, onBehalf('storm'), minds, { weather: 'a very long and heavy storm' });
    expect(reported.outcomes.map(({ npcId }) => npcId)).toEqual(minds);
    expect(reported.outcomes[7]).toMatchObject({ refused: { code: 'FACTS_TOO_LARGE' } });
    expect(reported.outcomes.filter((outcome) => 'revision' in outcome && outcome.revision === 0)).toHaveLength(39);
    expect([isUnfinished(reported), reported.position]).toEqual([false, 40]);
  });

  it('of many minds are completed by another server, and record nothing twice [5.9f]', async () => {
    const store = new MemoryEventStore();
    await reportOn(serverOn(store), onBehalf('before'), 'm3', { weather: 'sun' });
    const command = await keyedAfter(store);
    let appends = 0;
    const dying = storeWith(store, {
      append: (...asked) => {
        appends += 1;
        return appends > 10 ? Promise.reject(new Rejection('STORE_UNAVAILABLE')) : store.append(...asked);
      },
    });
    const storm = { weather: 'storm' };
    await expect(reportOnMany(serverOn(dying), command, minds, storm)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    const recorded = await Promise.all(minds.map((npcId) => factsIn(store, npcId)));
    const done = minds.filter((npcId, at) => recorded[at]?.some((facts) => JSON.stringify(facts).includes('storm')));
    expect(done).toHaveLength(10);
    // What the game reports in the meantime is newer.
    for (const npcId of done) await reportOn(serverOn(store), onBehalf(`sun ${npcId}`), npcId, { weather: 'sun' });
    const again = await reportOnMany(serverOn(store), { ...command, resumed: true }, minds, storm);
    expect(again.outcomes.every((outcome) => 'revision' in outcome)).toBe(true);
    for (const npcId of minds) {
      const facts = await factsIn(store, npcId);
      const of = (weather: string) => facts.filter((one) => JSON.stringify(one) === JSON.stringify({ weather }));
      expect(of('storm'), npcId).toHaveLength(1);
      if (done.includes(npcId)) expect(facts.at(-1), npcId).toEqual({ weather: 'sun' });
    }
  });

  it('of many minds let other work run between any two of them [5.9d]', async () => {
    const store = new MemoryEventStore();
    const facts = { notes: 'x'.repeat(60_000) };
    const turns = await turnsDuring(() => reportOnMany(serverOn(store), onBehalf('large'), minds, facts));
    expect(turns).toBeGreaterThanOrEqual(minds.length);
  });

  it('of many minds read one event of each mind that nothing was recorded in since the key was reserved', async () => {
    const store = new MemoryEventStore();
    const writer = serverOn(store);
    for (let n = 0; n < 60; n += 1) await reportOn(writer, onBehalf(`past ${String(n)}`), 'mira', { n });
    const command = await keyedAfter(store);
    const backwards: number[] = [];
    const counting = storeWith(store, {
      read: async (stream, range) => {
        const page = await store.read(stream, range);
        if (range.direction === 'backwards') backwards.push(page.events.length);
        return page;
      },
    });
    await reportOnMany(serverOn(counting), command, ['mira'], { n: 'now' });
    expect(backwards).toEqual([1]);
    expect(await factsIn(store, 'mira')).toHaveLength(61);
    await reportOn(writer, onBehalf('later'), 'mira', { n: 'later' });
    backwards.length = 0;
    await reportOnMany(serverOn(counting), { ...command, resumed: true }, ['mira'], { n: 'now' });
    expect(await factsIn(store, 'mira')).toHaveLength(62);
  });
});
