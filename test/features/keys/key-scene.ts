import { MemoryEventStore } from '../../support/memory/event-store.js';
import { EmbeddedKeyUsage } from '../../../src/adapters/embedded/key-usage.js';
import { openReadsFile } from '../../../src/adapters/embedded/reads-file.js';
import type { ApiKeyDeps } from '../../../src/features/keys/api-keys.js';
import { KeyDirectory, type KeyDirectoryDeps } from '../../../src/features/keys/key-directory.js';
import type { EventDraft } from '../../../src/kernel/base/event-draft.js';
import { runCommand } from '../../../src/kernel/streams/run-command.js';
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
    seals,
    bornSealed: true,
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

/** Records these events as a server would that knows this version of them. */
export const recordIn = async (
  events: EventStore,
  stream: string,
  drafts: readonly EventDraft[],
  { version = 1, sealed = true }: { readonly version?: number; readonly sealed?: boolean } = {},
): Promise<void> => {
  const clock = new ManualClock();
  const writers = new StreamWriters(events, clock, sealed ? { seals } : {});
  const fold = { initial: null, evolve: () => null, versionOf: () => version };
  const commandId = JSON.stringify(drafts);
  const context = { tenant: 'studio', actor: 'system', commandId, correlationId: 'request', causationId: null };
  await runCommand({ events, clock, writers }, stream, fold, context, () => drafts);
};
