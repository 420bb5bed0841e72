import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { EmbeddedEventStore } from '../../src/adapters/embedded/event-store.js';
import { EmbeddedSnapshots } from '../../src/adapters/embedded/snapshots.js';
import { mindFold } from '../../src/features/npcs/mind-fold.js';
import { createSeals } from '../../src/kernel/crypto/seals.js';
import { deriveKey } from '../../src/kernel/crypto/derive-key.js';
import { sealState } from '../../src/kernel/streams/sealed-snapshot.js';
import { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import type { StreamEvent } from '../../src/kernel/streams/fold.js';
import { apiOf } from '../support/api.js';
import { openEmbeddedServer } from '../support/embedded-server.js';
import { MIND_VERSION, personas } from '../support/long-minds.js';
import { ManualClock } from '../support/manual-clock.js';
import { onBehalf } from '../support/streams.js';

/** Writes a mind of 1,200 events to the data directory of a stopped server. @returns the event at 1,000 */
const writeMind = async (dataDir: string, secret: Uint8Array, npcId: string): Promise<StreamEvent> => {
  const seals = createSeals(deriveKey(secret, 'event-mac'));
  await using events = EmbeddedEventStore.open(join(dataDir, 'events.db'));
  const writer = await new StreamWriters(events, new ManualClock(), { seals }).open(
    npcStream('local', npcId),
    mindFold,
  );
  const placed: StreamEvent[] = [];
  for (let from = 0; from < 1_200; from += 400) {
    const recorded = await writer.append(personas(400, from), { ...onBehalf('x'), tenant: 'local' }, 0);
    placed.push(...(recorded?.events ?? []));
  }
  return placed[1_000] as StreamEvent;
};

describe('a server with minds of many events', () => {
  it('starts from the snapshot of a mind, and makes a changed one again from the events [10.13e]', async () => {
    await using server = await openEmbeddedServer();
    await server.halt();
    const secret = new TextEncoder().encode((await readFile(join(server.dataDir, 'secret'), 'utf8')).trim());
    const { stream, revision, meta } = await writeMind(server.dataDir, secret, 'mira');
    const file = join(server.dataDir, 'snapshots.db');
    const seals = createSeals(deriveKey(secret, 'snapshot-mac'));
    {
      // Its state differs from what the events make, which shows whether it is used.
      const state = { ...mindFold.initial, persona: 'from the snapshot', revision, updatedAt: meta.at };
      using snapshots = EmbeddedSnapshots.open(file);
      const place = { stream, version: MIND_VERSION, revision, hash: meta.hash, atMs: Date.parse(meta.at) };
      await snapshots.save({ ...place, state: sealState(seals, place, JSON.stringify(state)) });
    }
    {
      // Someone who has not the secret changes what another snapshot says.
      const { stream: bran, meta: at } = await writeMind(server.dataDir, secret, 'bran');
      const place = { stream: bran, version: MIND_VERSION, revision, hash: at.hash, atMs: Date.parse(at.at) };
      const state = JSON.stringify({ ...mindFold.initial, persona: 'a guard', revision, updatedAt: at.at });
      using snapshots = EmbeddedSnapshots.open(file);
      await snapshots.save({ ...place, state: sealState(seals, place, state).replace('a guard', 'a thief') });
    }
    await server.restart('kill');
    const api = apiOf(server.url, server.ownerKey);
    const persona = async (path: string): Promise<unknown> => (await api.get(path)).body.persona;
    expect(await persona('/npcs/mira/state?asOf=1000')).toBe('from the snapshot');
    expect(await persona('/npcs/mira/state?asOf=999')).toBe('p999');
    expect(await persona('/npcs/mira')).toBe('p1199');
    expect(await persona('/npcs/bran')).toBe('p1199');
    expect(server.output).toContain('Dropped a snapshot that was changed');
    expect(await persona('/npcs/bran/state?asOf=1000')).toBe('p1000');
    // A snapshot is saved after that response, and before the next.
    expect(await persona('/npcs/bran/state')).toBe('p1199');
    await server.halt();
    using snapshots = EmbeddedSnapshots.open(file);
    const saved = await snapshots.latest(npcStream('local', 'bran'), MIND_VERSION, { revision: 1_100 });
    expect([saved?.revision, JSON.parse(saved?.state ?? '')]).toMatchObject([
      1_000,
      [expect.any(String), { persona: 'p1000' }],
    ]);
  });
});
