import { afterEach, expect, it } from 'vitest';

import { npcRoutes } from '../../../../src/features/npcs/http/routes.js';
import { npcStream } from '../../../../src/kernel/base/stream-names.js';
import { StreamWriters } from '../../../../src/kernel/streams/stream-writers.js';
import { event } from '../../../support/events.js';
import { startApp, type TestApp } from '../../../support/http.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { MemoryEventStore } from '../../../support/memory/event-store.js';

let app: TestApp;
afterEach(() => app.stop());

it('a mind with an event of a later version is refused for now, until a server that knows it answers [10.8c]', async () => {
  const events = new MemoryEventStore();
  const clock = new ManualClock();
  const ports = { events, clock };
  app = await startApp(npcRoutes({ ports, writers: new StreamWriters(events, clock) } as never), { clock });
  const persona = { type: 'NpcRegistered', data: { persona: 'Calm.' } };
  await events.append(npcStream('local', 'known'), 'no_stream', [event('one', persona)]);
  await events.append(npcStream('local', 'later'), 'no_stream', [
    event('two', { ...persona, meta: { schemaVersion: 99 } }),
  ]);
  expect((await app.get('/npcs/known')).body).toMatchObject({ persona: 'Calm.' });
  const { status, body, headers } = await app.get('/npcs/later');
  expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'EVENT_VERSION_UNKNOWN', '1']);
  expect(body.error.details).toEqual({ type: 'NpcRegistered', version: 99 });
  expect((await app.get('/npcs/known')).status).toBe(200);
});
