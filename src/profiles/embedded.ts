import { openDataDirectory, type DataDirectory } from '../adapters/embedded/data-directory.js';
import { EmbeddedEventStore } from '../adapters/embedded/event-store.js';
import { EmbeddedIdempotencyStore } from '../adapters/embedded/idempotency-store.js';
import { EmbeddedKeyUsage } from '../adapters/embedded/key-usage.js';
import { EmbeddedReadModels } from '../adapters/embedded/read-models.js';
import { openReadsFile } from '../adapters/embedded/reads-file.js';
import { openSecret } from '../adapters/files/secret.js';
import { MemoryRateLimiter } from '../adapters/memory/rate-limiter.js';
import { systemClock } from '../adapters/system/clock.js';
import { systemRandom } from '../adapters/system/random.js';
import { createClosers } from '../app/closers.js';
import type { Config } from '../config/config.js';
import type { Ports } from '../ports/ports.js';
import type { ReadModelWriter } from '../ports/read-model-writer.js';

/** The embedded profile: everything in this process and one data directory, which belongs to it until it is disposed of. */
export type EmbeddedProfile = AsyncDisposable & {
  readonly ports: Ports;
  readonly writer: ReadModelWriter;
  readonly directory: DataDirectory;
  readonly secret: Uint8Array;
  /** What should be put right but does not stop the start. */
  readonly warnings: readonly string[];
};

/**
 * Opens the embedded profile.
 * @throws StartProblem when the data directory, a file in it or the secret cannot be used; nothing stays open then
 */
export const openEmbedded = async (
  config: Pick<Config, 'dataDir' | 'secret' | 'secretFile'>,
): Promise<EmbeddedProfile> => {
  const closers = createClosers();
  try {
    const directory = closers.opened(await openDataDirectory(config.dataDir));
    const events = closers.opened(EmbeddedEventStore.open(directory.eventsFile));
    const mayCreate = (await events.lastPosition()) === 0;
    const { secret, warnings } = await openSecret({ ...config, mayCreate }, systemRandom);
    const reads = closers.opened(openReadsFile(directory.readsFile));
    const readModels = new EmbeddedReadModels(reads, systemClock);
    const keyUsage = closers.opened(new EmbeddedKeyUsage(reads, systemClock));
    const idempotency = closers.opened(EmbeddedIdempotencyStore.open(directory.idempotencyFile, systemClock));
    const rateLimiter = new MemoryRateLimiter(systemClock);
    const ports = { clock: systemClock, random: systemRandom, events, readModels, idempotency, rateLimiter, keyUsage };
    return {
      ports,
      writer: readModels,
      directory,
      secret,
      warnings,
      [Symbol.asyncDispose]: () => closers[Symbol.asyncDispose](),
    };
  } catch (failure) {
    await closers[Symbol.asyncDispose]();
    throw failure;
  }
};
