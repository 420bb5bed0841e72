import { MemoryEventStore } from '../../support/memory/event-store.js';
import { EmbeddedKeyUsage } from '../../../src/adapters/embedded/key-usage.js';
import { openReadsFile } from '../../../src/adapters/embedded/reads-file.js';
import type { ApiKeyDeps } from '../../../src/features/keys/api-keys.js';
import { KeyDirectory, type KeyDirectoryDeps } from '../../../src/features/keys/key-directory.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { seals } from '../../support/seals.js';
import { seededRandom } from '../../support/seeded-random.js';

export const hashKey = new Uint8Array(32).fill(7);

export type KeyServer = ApiKeyDeps & { readonly clock: ManualClock };

/** One server on a store; several on one store see each other only through its feed. */
export const openKeyServer = async (
  events: EventStore = new MemoryEventStore(),
  options: Partial<KeyDirectoryDeps> & { readonly clock?: ManualClock; readonly seed?: string } = {},
): Promise<KeyServer> => {
  const { clock = new ManualClock(), seed = 'server', ...more } = options;
  const keyUsage = new EmbeddedKeyUsage(openReadsFile(':memory:'), clock);
  const directory = await KeyDirectory.open({
    events,
    clock,
    keyUsage,
    hashKey,
    rateLimit: { limit: 100, windowSeconds: 60 },
    tiersActive: false,
    onCutOff: (error) => {
      throw error;
    },
    ...more,
  });
  return {
    events,
    clock,
    keyUsage,
    directory,
    hashKey,
    writers: new StreamWriters(events, clock, { seals }),
    random: seededRandom(seed),
  };
};
