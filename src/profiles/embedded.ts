import { openDataDirectory, type DataDirectory } from '../adapters/embedded/data-directory.js';
import { diskFigures } from '../adapters/embedded/disk-figures.js';
import { EmbeddedEventStore } from '../adapters/embedded/event-store.js';
import { EmbeddedIdempotencyStore } from '../adapters/embedded/idempotency-store.js';
import { EmbeddedKeyUsage } from '../adapters/embedded/key-usage.js';
import { EmbeddedProcessRuntime } from '../adapters/embedded/process-runtime.js';
import { EmbeddedReadModels } from '../adapters/embedded/read-models.js';
import { openReadsFile, removeDamagedReadsFile } from '../adapters/embedded/reads-file.js';
import { EmbeddedSnapshots } from '../adapters/embedded/snapshots.js';
import { EmbeddedSoulArchive } from '../adapters/embedded/soul-archive.js';
import { requireFreeSpace } from '../adapters/embedded/free-space.js';
import { openEmbedder } from '../adapters/embedders/open.js';
import { openSecret } from '../adapters/files/secret.js';
import { MemoryRateLimiter } from '../adapters/shared/rate-limiter.js';
import { systemClock } from '../adapters/system/clock.js';
import { systemRandom } from '../adapters/system/random.js';
import { nativeSearch } from '../adapters/vectors/usearch.js';
import { createClosers } from './closers.js';
import type { Config } from '../config/config.js';
import { Projector } from '../kernel/read-models/projector.js';
import type { Log } from '../ports/log.js';
import type { ReadModelWriter } from '../ports/read-model-writer.js';
import { projections } from '../../projections/registry.js';
import { startEmbedding } from '../roles/embedding.js';
import { answering, notTooOften, withoutNames } from './answering.js';
import type { Profile } from './profile.js';

/** The embedded profile: everything in this process and one data directory, which belongs to it until it is disposed of. */
export type EmbeddedProfile = Profile & { readonly writer: ReadModelWriter; readonly directory: DataDirectory };

/**
 * Opens the embedded profile.
 * @param mendReads removes damaged read models first, for a command that builds them again
 * @throws StartProblem if the data directory, a file in it or the secret cannot be used; nothing stays open then
 */
export const openEmbedded = async (
  config: Pick<
    Config,
    | 'dataDir'
    | 'secret'
    | 'secretFile'
    | 'embedder'
    | 'embeddingCacheBytes'
    | 'embeddingShare'
    | 'readWaitMs'
    | 'keptAnswerBytes'
  >,
  log: Log,
  { mendReads = false }: { readonly mendReads?: boolean } = {},
): Promise<EmbeddedProfile> => {
  const closers = createClosers();
  try {
    const given = config.secret !== null || config.secretFile !== null;
    // An invalid secret stops the start before the directory is created.
    if (given) await openSecret({ ...config, mayCreate: false }, systemRandom);
    const directory = closers.opened(await openDataDirectory(config.dataDir));
    const events = closers.opened(EmbeddedEventStore.open(directory.eventsFile, {}, log));
    const mayCreate = (await events.lastPosition()) === 0;
    const { secret, warnings } = await openSecret({ ...config, mayCreate }, systemRandom);
    if (mendReads) removeDamagedReadsFile(directory.readsFile);
    const reads = closers.opened(openReadsFile(directory.readsFile));
    const readModels = new EmbeddedReadModels(reads, systemClock, config.readWaitMs);
    const keyUsage = closers.opened(new EmbeddedKeyUsage(reads, systemClock));
    const idempotency = closers.opened(
      EmbeddedIdempotencyStore.open(directory.idempotencyFile, systemClock, config.keptAnswerBytes),
    );
    const snapshots = closers.opened(EmbeddedSnapshots.open(directory.snapshotsFile));
    const soulArchive = await EmbeddedSoulArchive.open(directory.archiveFolder, log);
    const rateLimiter = new MemoryRateLimiter(systemClock);
    const outside = { clock: systemClock, random: systemRandom };
    const embedder = closers.opened(
      await openEmbedder(config.embedder, { ...outside, log }, config.embeddingCacheBytes),
    );
    const searched = { readModels, rowSearch: readModels, textSearch: readModels, vectorSearch: nativeSearch };
    const kept = { snapshots, soulArchive, idempotency, rateLimiter, keyUsage };
    const ports = { ...outside, events, ...searched, ...kept, embedder };
    return {
      ports,
      writer: readModels,
      directory,
      secret,
      warnings,
      shared: false,
      replaySource: { kind: 'file', file: directory.eventsFile },
      serves: { requests: true, processes: true },
      openRuntime: (stepDeps) => new EmbeddedProcessRuntime({ ...ports, ...stepDeps, logger: log }),
      startProcesses: async (_, runtime) => {
        await runtime.start();
        // The runtime drives them itself; its opener disposes of it.
        return { [Symbol.asyncDispose]: () => Promise.resolve() };
      },
      startReadModels: async () => {
        const projector = new Projector({ events, writer: readModels, clock: systemClock, log }, projections);
        await projector.start();
        const embedding = startEmbedding({ ...ports, share: config.embeddingShare, log, lease: null });
        return {
          lag: () => projector.lag(),
          parked: () => projector.parked(),
          relayLag: () => Promise.resolve(null),
          unembedded: () => embedding.pending(),
          embedded: () => Promise.resolve(embedding.embedded),
          [Symbol.asyncDispose]: async () => {
            await embedding[Symbol.asyncDispose]();
            await projector[Symbol.asyncDispose]();
          },
        };
      },
      disk: () => diskFigures(directory.eventsFile),
      dependencies: notTooOften(systemClock, async () => {
        const probe = async (): Promise<void> => {
          await requireFreeSpace(directory.path);
          await events.probe();
        };
        return { eventStore: withoutNames(await answering(systemClock, probe)) };
      }),
      [Symbol.asyncDispose]: () => closers[Symbol.asyncDispose](),
    };
  } catch (failure) {
    await closers[Symbol.asyncDispose]();
    throw failure;
  }
};
