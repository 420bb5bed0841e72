import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { openEventReader } from '../../../src/adapters/embedded/event-reader.js';
import { EmbeddedEventStore } from '../../../src/adapters/embedded/event-store.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { ReadRange } from '../../../src/ports/event-store.js';
import { playedMind } from '../../support/played-minds.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const stream = npcStream('studio', 'mira');
const ranges: readonly ReadRange[] = [
  { direction: 'forwards', limit: 500 },
  { direction: 'forwards', from: 3, to: 7, limit: 3 },
  { direction: 'forwards', from: 900, limit: 5 },
  { direction: 'backwards', limit: 20 },
  { direction: 'backwards', from: 9, to: 2, limit: 100 },
];

describe('a second reader of an event store', () => {
  it('reads the same events as the store, including those written after it was opened', async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'events.db');
    await using store = EmbeddedEventStore.open(file);
    using reader = openEventReader(file);
    expect(await reader.read(stream, { direction: 'forwards', limit: 1 })).toEqual({ events: [], lastRevision: -1 });
    const events = playedMind('mira', 4, null);
    const [first, rest] = [events.slice(0, 10), events.slice(10)];
    await store.append(stream, 'no_stream', first);
    for (const range of ranges) expect(await reader.read(stream, range)).toEqual(await store.read(stream, range));
    await store.append(stream, first.length - 1, rest);
    for (const range of ranges) expect(await reader.read(stream, range)).toEqual(await store.read(stream, range));
  });

  it('is unavailable once it is closed', async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'events.db');
    await using _store = EmbeddedEventStore.open(file);
    const reader = openEventReader(file);
    reader[Symbol.dispose]();
    await expect(reader.read(stream, { direction: 'forwards', limit: 1 })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
  });
});
