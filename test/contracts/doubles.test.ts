import type { Clock } from '../../src/ports/clock.js';
import { type FiledReservation, ownIdempotency } from '../simulation/own-idempotency.js';
import { ManualClock } from '../support/manual-clock.js';
import { MemoryFeed } from '../support/memory/event-feed.js';
import { MemoryEventStore } from '../support/memory/event-store.js';
import { MemoryReadModels } from '../support/memory/read-models.js';
import { MemoryRelayLease } from '../support/memory/relay-lease.js';
import { MemorySoulArchive } from '../support/memory/soul-archive.js';
import { WordEmbedder } from '../support/memory/word-embedder.js';
import { embedderContract } from './embedder.js';
import { eventFeedContract } from './event-feed.js';
import { eventStoreContract } from './event-store.js';
import { idempotencyStoreContract } from './idempotency-store.js';
import { readModelsContract } from './read-models.js';
import { HOLDS_MS, relayLeaseContract } from './relay-lease.js';
import { soulArchiveContract } from './soul-archive.js';
import { textSearchContract } from './text-search.js';

// The test doubles of adapters keep the same promises.
const nothing = (): Promise<void> => Promise.resolve();

embedderContract('The double', async () => new WordEmbedder());

eventFeedContract('The double', () => {
  const feed = new MemoryFeed(8);
  return { partitions: 8, writer: () => feed, feed: () => feed, [Symbol.asyncDispose]: nothing };
});

eventStoreContract('The double', async () => {
  const store = new MemoryEventStore();
  return { store, dispose: () => store[Symbol.asyncDispose]() };
});

idempotencyStoreContract('The simulated server', async () => {
  const clock = new ManualClock();
  const file = new Map<string, FiledReservation>();
  return {
    store: ownIdempotency(file, clock),
    afterDeath: async () => ownIdempotency(file, clock),
    later: (ms) => clock.advance(ms),
    dispose: nothing,
  };
});

const openReadModels = async (clock: Clock) => ({ models: new MemoryReadModels(clock), dispose: nothing });
readModelsContract('The double', openReadModels);
textSearchContract('The double', openReadModels);

relayLeaseContract('The double', () => {
  const clock = new ManualClock();
  const lease = new MemoryRelayLease(clock, HOLDS_MS);
  return {
    lease: () => lease,
    lapse: async () => clock.advance(HOLDS_MS + 100),
    [Symbol.asyncDispose]: nothing,
  };
});

soulArchiveContract('The double', async () => ({ archive: new MemorySoulArchive(), dispose: nothing }));
