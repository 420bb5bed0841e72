import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { historyExportRoutes, historyRoutes } from '../../../../src/features/npcs/http/histories.js';
import { npcStream } from '../../../../src/kernel/base/stream-names.js';
import { StreamWriters } from '../../../../src/kernel/streams/stream-writers.js';
import type { EventToAppend } from '../../../../src/ports/event-store.js';
import { event } from '../../../support/events.js';
import { startApp, type TestApp } from '../../../support/http.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { checksOf } from '../../../support/seals.js';
import { MemoryEventStore } from '../../../support/memory/event-store.js';

const COUNT = 600;

describe('the history of a mind', () => {
  const store = new MemoryEventStore();
  let app: TestApp;
  beforeAll(async () => {
    const events = store;
    const clock = new ManualClock();
    const all = Array.from({ length: COUNT }, (_, n) =>
      event(`e${String(n)}`, {
        data: { turnId: `t${String(n % 4)}` },
        meta: { actor: `key-${String(n % 3)}` },
      }),
    );
    for (let from = 0; from < COUNT; from += 200)
      await events.append(npcStream('local', 'mira'), from === 0 ? 'no_stream' : from - 1, all.slice(from, from + 200));
    // These events have no seals.
    const isFromBefore = () => Promise.resolve(true);
    const checks = checksOf(events, isFromBefore);
    const deps = { ports: { events, clock }, writers: new StreamWriters(events, clock), checks } as never;
    app = await startApp([...historyRoutes(deps), ...historyExportRoutes(deps)], { clock });
  });
  afterAll(() => app.stop());
  const revisions = async (query: string): Promise<readonly number[]> =>
    (await app.get(`/npcs/mira/history?${query}`)).body.events.map((one: { revision: number }) => one.revision);

  it('has pages of 1 to 500 events, 100 by default [10.1b]', async () => {
    expect(await revisions('')).toEqual(Array.from({ length: 100 }, (_, n) => n));
    expect(await revisions('limit=500')).toHaveLength(500);
    expect(await revisions('limit=1')).toEqual([0]);
    for (const limit of ['0', '501']) expect((await app.get(`/npcs/mira/history?limit=${limit}`)).status).toBe(400);
  });

  it('is filtered by comma lists of turns and actors [10.1b]', async () => {
    expect(await revisions('turnId=t1,t3&limit=4')).toEqual([1, 3, 5, 7]);
    expect(await revisions('actor=key-0,key-2&limit=4')).toEqual([0, 2, 3, 5]);
    expect(await revisions('turnId=t1,t3&actor=key-0,key-2&limit=4')).toEqual([3, 5, 9, 11]);
  });

  it('is shown whatever JSON is stored, with what no server records marked [10.13c]', async () => {
    const changes: readonly ({ readonly data: unknown } | { readonly meta: object })[] = [
      { data: { text: '\ud800' } },
      { data: null },
      { meta: { schemaVersion: 99 } },
      { meta: { hash: 5, mac: 'x' } },
      { meta: { hash: null, mac: 'x' } },
    ];
    const stored = changes.map((change, n) => {
      const { meta, ...built } = event(`odd${String(n)}`);
      const own = 'meta' in change ? { meta: { ...meta, ...change.meta } } : { meta, ...change };
      return { ...built, ...own } as EventToAppend;
    });
    await store.append(npcStream('local', 'odo'), 'no_stream', stored);
    const { status, body } = await app.get('/npcs/odo/history');
    expect([status, body.events.map((one: { broken?: true }) => one.broken)]).toEqual([200, changes.map(() => true)]);
    expect((await app.get('/npcs/odo/history?turnId=t1')).status).toBe(200);
    expect((await app.get('/npcs/odo/history/export')).status).toBe(200);
  });

  it('is exported in chunks, oldest first [10.1d]', async () => {
    const { status, headers, text } = await app.get('/npcs/mira/history/export');
    expect([status, headers.get('transfer-encoding'), headers.get('content-length')]).toEqual([200, 'chunked', null]);
    const lines = text.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { revision: number }).revision)).toEqual(
      Array.from({ length: COUNT }, (_, n) => n),
    );
  });
});
