import { afterEach, describe, expect, it } from 'vitest';

import { factsRoutes } from '../../../../src/features/npcs/http/facts.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';
import { npcStream } from '../../../../src/kernel/base/stream-names.js';
import { StreamWriters } from '../../../../src/kernel/streams/stream-writers.js';
import { event } from '../../../support/events.js';
import { startApp, type TestApp } from '../../../support/http.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { MemoryEventStore } from '../../../support/memory/event-store.js';
import { storeWith } from '../../../support/streams.js';

const KEY = { 'idempotency-key': 'storm' };
const storm = { npcIds: ['mira', 'tomas'], facts: { weather: 'storm' } };

describe('a report about many NPCs', () => {
  let app: TestApp;
  afterEach(() => app.stop());

  const start = async () => {
    const store = new MemoryEventStore();
    let isDown = false;
    const events = storeWith(store, {
      append: (...asked) =>
        isDown ? Promise.reject(new Rejection('STORE_UNAVAILABLE', { retryAfter: 2 })) : store.append(...asked),
    });
    const clock = new ManualClock();
    const writers = new StreamWriters(events, clock, { shared: true });
    const lastPosition = () => store.lastPosition();
    app = await startApp(factsRoutes({ ports: { events, clock }, writers }), { clock, lastPosition });
    return { store, fail: (down: boolean) => (isDown = down) };
  };

  it('is answered again only where an NPC refused it for now [5.9f, 5.9g]', async () => {
    const { store } = await start();
    const begun = { type: 'SoulArrivalBegun', data: { soulId: 's1', importId: 'i1', memories: 0 } };
    await store.append(npcStream('local', 'tomas'), 'no_stream', [event('begun', begun)]);
    const first = await app.post('/facts', storm, KEY);
    expect(first.body.results).toEqual([
      { npcId: 'mira', revision: 0 },
      { npcId: 'tomas', error: { code: 'SOUL_ARRIVING', message: expect.any(String) } },
    ]);
    const soul = { soulId: 's1', importId: 'i1', digest: 'd', copy: false, signer: 'ours', name: 'T', chain: [] };
    const arrived = { type: 'SoulArrived', data: { ...soul, ruleset: null } };
    await store.append(npcStream('local', 'tomas'), 0, [event('arrived', arrived)]);
    const second = await app.post('/facts', storm, KEY);
    expect(second.body.results).toEqual([
      { npcId: 'mira', revision: 0 },
      { npcId: 'tomas', revision: 2 },
    ]);
    const third = await app.post('/facts', storm, KEY);
    expect([first, second, third].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([
      ...[null, null, 'true'],
    ]);
    expect(third.body).toEqual(second.body);
  });

  it('is refused as a whole while nothing can be written, and completed under its key [5.9f, 5.9g]', async () => {
    const { store, fail } = await start();
    fail(true);
    const refused = await app.post('/facts', storm, KEY);
    expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([
      ...[503, 'STORE_UNAVAILABLE', '2'],
    ]);
    fail(false);
    expect((await app.post('/facts', storm, KEY)).body.results).toEqual(
      storm.npcIds.map((npcId) => ({ npcId, revision: 0 })),
    );
    expect(await store.lastPosition()).toBe(2);
  });
});
