import type { AdvanceDeps } from '../../activities/advance.js';
import { OPEN_PROCESSES_PARTITION, openProcesses } from '../../projections/open-processes.js';
import { projections } from '../../projections/registry.js';
import { turn } from '../../workflows/turn/turn.js';
import { EventStoreDb } from '../adapters/eventstore/event-store.js';
import { pingBrokers } from '../adapters/kafka/client.js';
import { listOpenProcesses } from '../adapters/eventstore/open-processes.js';
import { PostgresIdempotencyStore } from '../adapters/postgres/idempotency-store.js';
import { PostgresKeyUsage } from '../adapters/postgres/key-usage.js';
import { PostgresLogPlaces } from '../adapters/postgres/log-places.js';
import { Postgres } from '../adapters/postgres/open.js';
import { PostgresRateLimiter } from '../adapters/postgres/rate-limiter.js';
import { PostgresReadModels } from '../adapters/postgres/read-models.js';
import { PostgresRelayLease } from '../adapters/postgres/relay-lease.js';
import { PostgresSnapshots } from '../adapters/postgres/snapshots.js';
import { PostgresSoulArchive } from '../adapters/postgres/soul-archive.js';
import { payloadEncryption } from '../adapters/temporal/payload-codec.js';
import type { ProcessWorker } from '../adapters/temporal/worker.js';
import { TemporalProcessRuntime } from '../adapters/temporal/process-runtime.js';
import { TEMPORAL_SETTINGS } from '../adapters/temporal/refusal.js';
import { openEmbedder } from '../adapters/embedders/open.js';
import { openSecret } from '../adapters/files/secret.js';
import { systemClock } from '../adapters/system/clock.js';
import { systemRandom } from '../adapters/system/random.js';
import { nativeSearch } from '../adapters/vectors/usearch.js';
import { createClosers } from './closers.js';
import type { Config, DistributedConfig } from '../config/config.js';
import type { OpenProcess } from '../ports/event-store.js';
import type { Log } from '../ports/log.js';
import { startEmbedding } from '../roles/embedding.js';
import { startProjector } from '../roles/projector.js';
import { startRelay } from '../roles/relay.js';
import { startWorker } from '../roles/worker.js';
import type { DependencyState } from '../kernel/http/status.js';
import { answering, meaning, notTooOften, tellingChanges } from './answering.js';
import type { Profile } from './profile.js';
import { serverReason } from './server-reason.js';

/** The projections of all read models of this profile; the open processes are one of them. */
export const distributedProjections = [...projections, openProcesses];

/** The state of Temporal for a process that has not reached it yet, and for a worker that is still being created or re-created. */
const NOT_ASKED_YET: DependencyState = { ok: false, detail: 'not checked yet' };
const NO_TASKS_YET: DependencyState = {
  ok: false,
  detail: 'it is available, but the worker of this process does not accept tasks yet',
};

const lookAt =
  (setting: string) =>
  (error: unknown): never => {
    throw serverReason(error, setting);
  };

const temporalStateOf = (
  answered: DependencyState | null,
  worker: Pick<ProcessWorker, 'running'> | null,
): DependencyState => {
  if (answered === null) return NOT_ASKED_YET;
  return answered.ok && worker?.running() === false ? NO_TASKS_YET : answered;
};

const requireWorkers = async (runtime: TemporalProcessRuntime): Promise<void> => {
  if (!(await runtime.hasWorkers())) throw new Error('no worker has polled for tasks recently');
};

/**
 * Opens the distributed profile. It connects to nothing: each part waits for its server, and reconnects automatically.
 * @throws StartProblem if an address, the namespace or the secret cannot be used
 */
export const openDistributed = async (
  config: Pick<
    Config,
    | 'secret'
    | 'secretFile'
    | 'dataDir'
    | 'embedder'
    | 'embeddingCacheBytes'
    | 'embeddingShare'
    | 'readWaitMs'
    | 'keptAnswerBytes'
  >,
  settings: DistributedConfig,
  log: Log,
): Promise<Profile> => {
  const closers = createClosers();
  try {
    const { namespace, roles } = settings;
    const { secret, warnings } = await openSecret({ ...config, mayCreate: false }, systemRandom);
    const postgres = closers.opened(new Postgres({ url: settings.databaseUrl, namespace, log }));
    const readModels = closers.opened(new PostgresReadModels(postgres, systemClock, config.readWaitMs));
    const listOpen = async (): Promise<readonly OpenProcess[]> =>
      listOpenProcesses(readModels, events, { projection: openProcesses, partition: OPEN_PROCESSES_PARTITION });
    const events: EventStoreDb = closers.opened(
      new EventStoreDb({
        ...{ url: settings.eventStoreUrl, namespace, listOpen, log },
        places: new PostgresLogPlaces(postgres),
      }),
    );
    const idempotency = closers.opened(new PostgresIdempotencyStore(postgres, systemRandom, config.keptAnswerBytes));
    const keyUsage = closers.opened(new PostgresKeyUsage(postgres, systemClock));
    const snapshots = new PostgresSnapshots(postgres);
    const soulArchive = new PostgresSoulArchive(postgres);
    const rateLimiter = new PostgresRateLimiter(postgres, systemClock);
    const outside = { clock: systemClock, random: systemRandom };
    const embedder = closers.opened(
      await openEmbedder(config.embedder, { ...outside, log }, config.embeddingCacheBytes),
    );
    const searched = { readModels, rowSearch: readModels, textSearch: readModels, vectorSearch: nativeSearch };
    const kept = { snapshots, soulArchive, idempotency, rateLimiter, keyUsage };
    const ports = { ...outside, events, ...searched, ...kept, embedder };
    const kafka = {
      brokers: settings.kafkaBrokers,
      namespace,
      log,
      newTopics: settings.kafkaNewTopics,
      access: settings.kafkaAccess,
    };
    const feed = { ...kafka, events, clock: systemClock };
    const feeds = roles.has('projector') || roles.has('relay');
    // Requests can do most of their work without the servers that only the read models need.
    const feedsAlone = feeds && !roles.has('http');
    let runtime: TemporalProcessRuntime | null = null;
    let worker: Pick<ProcessWorker, 'running'> | null = null;
    const { tls, apiKey, payloadKeys } = settings.temporalAccess;
    const temporal = {
      address: settings.temporalAddress,
      temporalNamespace: settings.temporalNamespace,
      namespace,
      tls,
      apiKey,
      payloads: payloadEncryption(payloadKeys, systemRandom),
    };
    const tell = tellingChanges(log);
    /** Checks the servers that this process needs; null for the others. */
    const askServers = async () => {
      const asked = runtime;
      const [eventStore, database, temporalState, kafkaState] = await Promise.all([
        answering(systemClock, () => events.probe().catch(lookAt('EVENTSTORE_URL'))),
        answering(systemClock, () => postgres.ping().catch(lookAt('DATABASE_URL'))),
        asked === null ? null : answering(systemClock, () => asked.ping().catch(lookAt(TEMPORAL_SETTINGS))),
        feeds ? answering(systemClock, () => pingBrokers(kafka).catch(lookAt('KAFKA_BROKERS'))) : null,
      ]);
      const states = { eventStore, database, temporal: temporalState, kafka: kafkaState };
      tell(states);
      return states;
    };
    const shards = { count: settings.turnShards, processes: [turn.name] };
    return {
      ports,
      secret,
      warnings,
      shared: true,
      replaySource: { kind: 'eventStoreDb', url: settings.eventStoreUrl, namespace },
      serves: { requests: roles.has('http'), processes: roles.has('worker') },
      openRuntime: (stepDeps: AdvanceDeps) => {
        runtime = new TemporalProcessRuntime({ ...ports, ...stepDeps, ...temporal, shards, logger: log });
        // A failed check is in the log before the first request meets it.
        void askServers();
        return runtime;
      },
      disk: () => Promise.resolve(null),
      startProcesses: async (stepDeps, runtime, metrics) => {
        const deps = { ...ports, ...stepDeps };
        const started = await startWorker({ ...temporal, deps, events, runtime, metrics, log });
        worker = started;
        return started;
      },
      startReadModels: () => {
        if (feedsAlone) void askServers();
        const projector = roles.has('projector')
          ? startProjector({ ...feed, writer: readModels, projections: distributedProjections })
          : null;
        const relay = roles.has('relay')
          ? startRelay({ ...feed, postgres, random: systemRandom, publicTopic: settings.kafkaPublicTopic })
          : null;
        const embedding = roles.has('projector')
          ? startEmbedding({
              ...ports,
              share: config.embeddingShare,
              log,
              lease: PostgresRelayLease.ofEmbedding(postgres),
            })
          : null;
        return Promise.resolve({
          lag: async () => (await projector?.lag()) ?? null,
          parked: async () => (await projector?.parked()) ?? null,
          relayLag: async () => (await relay?.lag()) ?? null,
          unembedded: async () => (await embedding?.pending()) ?? null,
          embedded: () => Promise.resolve(embedding?.embedded ?? null),
          [Symbol.asyncDispose]: async () => {
            await embedding?.[Symbol.asyncDispose]();
            await relay?.[Symbol.asyncDispose]();
            await projector?.[Symbol.asyncDispose]();
          },
        });
      },
      dependencies: notTooOften(systemClock, async () => {
        const asked = runtime;
        const [{ eventStore, database, temporal, kafka: kafkaState }, workers] = await Promise.all([
          askServers(),
          asked === null || !roles.has('http')
            ? null
            : answering(systemClock, () => requireWorkers(asked).catch(lookAt(TEMPORAL_SETTINGS))),
        ]);
        const without = roles.has('http')
          ? 'lists, the archive and requests with an Idempotency-Key are refused'
          : null;
        return {
          eventStore,
          database: { ...(without === null ? database : meaning(without, database)), needed: feedsAlone },
          ...(feedsAlone ? {} : { temporal: { ...temporalStateOf(temporal, worker), needed: roles.has('worker') } }),
          ...(workers === null
            ? {}
            : { workers: { ...meaning('steps of turns are refused', workers), needed: false } }),
          ...(kafkaState === null ? {} : { kafka: { ...kafkaState, needed: feedsAlone } }),
        };
      }),
      [Symbol.asyncDispose]: () => closers[Symbol.asyncDispose](),
    };
  } catch (failure) {
    await closers[Symbol.asyncDispose]();
    throw failure;
  }
};
