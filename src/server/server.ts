import { readLevelMaps } from '../adapters/files/level-maps.js';
import { ownerKeyFile } from '../adapters/files/owner-key-file.js';
import { createMetrics } from '../adapters/prometheus/metrics.js';
import { systemClock } from '../adapters/system/clock.js';
import { systemRandom } from '../adapters/system/random.js';
import { createClosers } from '../profiles/closers.js';
import { createGhostEngines } from '../features/ghosts/call-engines.js';
import { createPace } from '../features/ghosts/pace.js';
import { createSessionCache } from '../features/ghosts/play-slice.js';
import { createPlayCache } from '../features/ghosts/remote-steps.js';
import { createLiveTexts } from '../features/agents/live-texts.js';
import { createEngineWaits } from '../features/engines/engine-waits.js';
import { createEngines } from '../features/engines/engines.js';
import { openLevels, readBuiltInLevels } from '../features/levels/levels.js';
import { startCheckpoints } from '../features/proofs/checkpoint-ticker.js';
import { startArchiveSweep } from '../features/souls/archive-sweep.js';
import { claimSoul } from '../features/souls/take-custody.js';
import { followSigningKeys } from '../features/keys/follow-signing-keys.js';
import { startAccessRecorder } from '../features/keys/record-access.js';
import { firstStart, type OwnerKey } from '../features/keys/first-start.js';
import { deriveKey } from '../kernel/crypto/derive-key.js';
import { createEventChecks, isChanged } from '../kernel/streams/event-checks.js';
import { createFromBefore, createUpgradeEnd } from '../features/proofs/from-before.js';
import { createNews } from '../features/proofs/news.js';
import { createSeals, type Seals } from '../kernel/crypto/seals.js';
import { StreamWriters } from '../kernel/streams/stream-writers.js';
import { createSnapshotting } from '../kernel/streams/snapshotting.js';
import { pause } from '../kernel/concurrency/pause.js';
import { UnreadableTenant } from '../features/keys/key-directory.js';
import { createPlayerTokens, type PlayerTokens } from '../features/keys/player-tokens.js';
import { openKeys, type OpenedKeys } from '../features/keys/open-keys.js';
import { createRecall } from '../features/memory/recall.js';
import { ProcessRepository } from '../kernel/processes/process-repository.js';
import { openRulesets } from '../features/rules/rulesets.js';
import type { Config } from '../config/config.js';
import { study } from '../features/ghosts/domain/study.js';
import { Rejection } from '../kernel/base/rejection.js';
import { type AppDeps, createApp, createStartingApp } from '../kernel/http/app.js';
import { createRequestIds } from '../kernel/http/guard/request-id.js';
import type { OnAccess } from '../kernel/http/middleware/note-access.js';
import { createLifecycle, type Lifecycle } from '../kernel/http/lifecycle.js';
import type { RouteDefinition } from '../kernel/http/route.js';
import { type DependencyState, statusRoutes } from '../kernel/http/status.js';
import { listen, type ListeningServer } from '../kernel/http/server.js';
import type { Embedder } from '../ports/embedder.js';
import type { EventStore } from '../ports/event-store.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import { openEmbedded } from '../profiles/embedded.js';
import type { Profile } from '../profiles/profile.js';
import { httpRoutes } from '../roles/http.js';
import { openReplayThreads } from '../roles/replaying.js';
import { openArchives, openCheckpointReceiver } from './archives.js';
import { countedStore } from './counted-store.js';
import { cortexDependency, openCortex } from './cortex.js';
import { embedderDependency } from './embedder.js';
import { type FigureSources, figuresOf } from './gauges.js';
import { processesOf } from './processes.js';

/** The pause between attempts to reach a dependency during the start, in milliseconds. */
const START_RETRY_MS = 500;

/** The message of a process without the role `http` for routes that others serve. */
const WITHOUT_HTTP =
  'This process does not have the role http (ANIMA_ROLES), so it serves only /status, /livez, /readyz, /metrics, /openapi.json, /docs and /.';

export type RunningServer = {
  /** Where it listens. */
  readonly url: string;
  /** Created by this start in an empty data directory; it is shown once. */
  readonly ownerKey: OwnerKey | null;
  readonly events: EventStore;
  /** Stops the server: it finishes running requests within 10 s. May be called again. */
  stop(): Promise<void>;
};

type OpenState = {
  readonly keys: OpenedKeys;
  /** Of events. */
  readonly seals: Seals;
  readonly playerTokens: PlayerTokens;
  readonly writers: StreamWriters;
  readonly ownerKey: OwnerKey | null;
};

/**
 * Starts a server: the socket first, then everything behind it. While a dependency is down it waits and answers 503.
 * @param stopping ends the wait
 * @returns null if it was stopped before it was ready
 * @throws StartProblem when the address, the data directory, the settings or the secret cannot be used; nothing stays open then
 */
export const startServer = async (config: Config, log: Log, stopping: AbortSignal): Promise<RunningServer | null> => {
  const lifecycle = createLifecycle();
  const checkpointReceiver = openCheckpointReceiver(config.checkpointUrl, systemClock, log);
  const sources: FigureSources = { readModels: null, ready: null };
  const metrics = createMetrics(figuresOf(sources, systemClock));
  let routes: readonly RouteDefinition[] = [];
  let dependencies = (): Promise<Readonly<Record<string, DependencyState>>> => Promise.resolve({});
  const status = statusRoutes({ lifecycle, metrics, dependencies: () => dependencies(), allRoutes: () => routes });
  routes = status;
  const common = { lifecycle, metrics, clock: systemClock, random: systemRandom, logger: log };
  const server = await openSocket(config, common, status);
  const closers = createClosers();
  const stop = async (): Promise<void> => {
    lifecycle.stop();
    await server.stop();
    await closers[Symbol.asyncDispose]();
  };
  try {
    const profile = closers.opened(await openProfile(config, log));
    for (const warning of profile.warnings) log.warn({}, warning);
    if (config.unused.length > 0) {
      log.warn({ settings: config.unused }, 'Ignoring settings that only apply with ANIMA_PROFILE=distributed');
    }
    if (config.unknown.length > 0) {
      log.warn({ settings: config.unknown }, 'Ignoring unknown settings; see the settings reference');
    }
    const { ports, shared, serves } = profile;
    const running = { url: server.url, events: ports.events, stop };
    dependencies = () => profile.dependencies();
    const following = await untilAvailable(() => profile.startReadModels(), log, stopping);
    if (following === null) {
      await stop();
      return null;
    }
    sources.readModels = closers.opened(following);
    const { rateLimiter, idempotency } = ports;
    /** From now on, keys are known. Serves the routes that exist at this time. */
    const without = serves.requests ? {} : { servesNoMore: WITHOUT_HTTP };
    const serveWith = ({ writers, playerTokens }: OpenState, over: Pick<AppDeps, 'onAccess'> = {}): void => {
      const { authenticate } = playerTokens;
      const revisionOf = (stream: string) => writers.revisionOf(stream);
      const lastPosition = () => ports.events.lastPosition();
      const ends = { revisionOf, lastPosition };
      server.serve(
        createApp({ ...common, ...without, routes, authenticate, rateLimiter, idempotency, ...ends, ...over }),
      );
    };
    const openKeyed = (ended: AbortSignal) =>
      untilAvailable(
        () => openState({ ...config, publicUrl: config.publicUrl ?? server.url }, profile, metrics, log),
        log,
        ended,
      );
    if (!serves.requests && !serves.processes) {
      lifecycle.ready();
      // Projectors and relays need no keys; these only allow a key to read the metrics.
      closers.opened(
        inBackground(
          openKeyed(lifecycle.stopping).then((opened) => {
            if (opened === null) return null;
            serveWith(opened);
            return opened.keys.apiKeys.directory;
          }),
          log,
        ),
      );
      return { ...running, ownerKey: null };
    }

    const cortex = closers.opened(await openCortex(config.cortex, { clock: systemClock, random: systemRandom, log }));
    dependencies = async () => ({
      ...(await profile.dependencies()),
      ...cortexDependency(cortex),
      ...embedderDependency(ports.embedder),
    });
    const opened = await openKeyed(stopping);
    if (opened === null) {
      await stop();
      return null;
    }
    const directory = closers.opened(opened.keys.apiKeys.directory);
    const { writers, seals, keys, playerTokens, ownerKey } = opened;
    sources.ready = { profile, writers, tenants: () => directory.tenantIds() };
    const publicUrl = config.publicUrl ?? server.url;
    const rulesets = openRulesets(writers, ports.events, { refusesUnknown: config.refusesUnknownRuleset });
    const builtIn = await readBuiltInLevels(await readLevelMaps());
    const levels = openLevels({ ...ports, writers, archive: ports.soulArchive, study }, builtIn);
    const repository = new ProcessRepository(ports.events, { shared });
    const { signingKeys, signingKeyChanges, apiKeys } = keys;
    if (shared) closers.opened(followSigningKeys(signingKeys, systemClock));
    const isFromBefore = signingKeys.bornSealed ? null : createFromBefore({ ...ports, seals });
    const upgradeEnd = signingKeys.bornSealed ? null : createUpgradeEnd({ ...ports, seals });
    const checks = createEventChecks({ events: ports.events, seals, isFromBefore, log, metrics });
    const engines = createEngines(cortex.all, cortex.standard, (tenant) => directory.tenant(tenant).cortexId);
    const engineWaits = createEngineWaits(systemClock, config.cortexWaiting);
    const recall = createRecall({ ...ports, writers }, config.recallCacheBytes);
    const archives = openArchives(config.archives, { clock: systemClock, log });
    const ghosts = {
      ghostEngines: createGhostEngines({ engines, clock: systemClock, texts: config.ghostTexts }),
      ghostPace: createPace(systemClock, config.ghostShare),
      ghostPlays: createPlayCache(),
      ghostSessions: createSessionCache(),
    };
    const liveTexts = shared ? null : createLiveTexts(systemClock);
    const deciding = {
      ports,
      writers,
      repository,
      rulesets,
      checks,
      upgradeEnd,
      signingKeys,
      recall,
      engines,
      engineWaits,
      liveTexts,
      archives,
      levels,
      ...ghosts,
      checkpointReceiver,
    };
    const replayHands = closers.opened(
      openReplayThreads(profile.replaySource, config.replayThreads, { clock: systemClock, log }),
    );
    const processes = processesOf({ ...deciding, issuer: publicUrl, replayHands, log });
    const stepDeps = { writers, repository, processes, clock: ports.clock };
    const runtime = closers.opened(profile.openRuntime(stepDeps));
    if (serves.processes) {
      closers.opened(await profile.startProcesses(stepDeps, runtime, metrics));
      const news = createNews(ports.events);
      const rounds = { ...ports, writers, runtime, checks, news, log, checkpointReceiver, issuer: publicUrl };
      closers.opened(
        startCheckpoints({ ...rounds, periodMs: config.checkpointMs, tenants: () => directory.tenantIds() }),
      );
    }
    if (serves.requests) {
      closers.opened(
        startArchiveSweep({ archive: ports.soulArchive, clock: ports.clock, log, days: config.archiveDays }),
      );
      routes = [
        ...status,
        ...httpRoutes({ ...deciding, runtime, publicUrl, config, apiKeys, signingKeyChanges, playerTokens }),
      ];
    }
    const { clock, random, events } = ports;
    const accesses = closers.opened(
      startAccessRecorder({ clock, random, events, writers, log, metrics, most: config.accessQueue }),
    );
    const onAccess: OnAccess = ({ tenant, keyId }, operation, npcId) =>
      accesses.note({ tenant, keyId, operation, npcId });
    serveWith(opened, { onAccess });
    lifecycle.ready();
    closers.opened(preparing(ports.embedder));
    return { ...running, ownerKey };
  } catch (failure) {
    await stop();
    throw failure;
  }
};

const openSocket = (
  config: Config,
  common: Omit<Parameters<typeof createStartingApp>[0], 'routes'> & { readonly lifecycle: Lifecycle },
  routes: readonly RouteDefinition[],
): Promise<ListeningServer> => {
  const nameRequest = createRequestIds(systemRandom);
  return listen({
    host: config.host,
    port: config.port,
    app: createStartingApp({ ...common, routes }),
    lifecycle: common.lifecycle,
    clock: systemClock,
    log: common.logger,
    nameRequest: () => nameRequest({}),
  });
};

const openProfile = async (config: Config, log: Log): Promise<Profile> => {
  if (config.distributed === null) return openEmbedded(config, log);
  // Its clients take half a second to load, so only this profile loads them.
  const { openDistributed } = await import('../profiles/distributed.js');
  return openDistributed(config, config.distributed, log);
};

/** The state that is folded from the store before the first request is served. */
const openState = async (
  config: Config & { readonly publicUrl: string },
  { ports, secret, shared }: Profile,
  metrics: Metrics,
  log: Log,
): Promise<OpenState> => {
  const seals = createSeals(deriveKey(secret, 'event-mac'));
  // The signing keys show it. Their stream is read before any that has snapshots.
  let bornSealed = false;
  const snapshots = createSnapshotting({
    ...{ ...ports, log, seals: createSeals(deriveKey(secret, 'snapshot-mac')) },
    isBroken: (event) => isChanged(seals, event, !bornSealed),
  });
  const writers: StreamWriters = new StreamWriters(countedStore(ports.events, metrics), ports.clock, {
    ...{ shared, snapshots, seals },
    claim: claimSoul(() => ({ ...ports, writers })),
  });
  const settings = { jwsAlg: config.jwsAlg, rateLimit: config.rateLimit, tiersActive: false };
  const onCutOff = (error: unknown): void => {
    if (error instanceof UnreadableTenant) {
      const { stream, revision } = error;
      log.error({ err: error, stream, revision }, 'Refusing the keys of a tenant');
    } else log.error({ err: error }, 'Lost the key feed; resuming');
  };
  const keys = await openKeys({ ports, writers, secret, seals, settings, onCutOff });
  ({ bornSealed } = keys.signingKeys);
  try {
    // If several servers share a store, `anima keys bootstrap` creates the first tenant.
    const ownerKey = shared ? null : await firstStart(keys.apiKeys, ownerKeyFile(config.dataDir));
    const playerTokens = createPlayerTokens({
      signingKeys: keys.signingKeys,
      directory: keys.apiKeys.directory,
      clock: ports.clock,
      issuer: config.publicUrl,
      rateLimit: config.playerRateLimit,
    });
    return { writers, seals, keys, playerTokens, ownerKey };
  } catch (failure) {
    await keys.apiKeys.directory[Symbol.asyncDispose]();
    throw failure;
  }
};

/** How long after its start a server begins to load its embedder, in milliseconds: what is waiting for the server comes first. */
const PREPARE_AFTER_MS = 1_000;

/** Loads the embedder in the background, so that the first answer is as quick as later ones. */
const preparing = (embedder: Embedder): AsyncDisposable => {
  const cancel = systemClock.after(PREPARE_AFTER_MS, () => embedder.prepare?.());
  return {
    [Symbol.asyncDispose]: () => {
      cancel();
      return Promise.resolve();
    },
  };
};

/** A resource that opens in the background. Closing it waits for the opening. */
const inBackground = (opening: Promise<AsyncDisposable | null>, log: Log): AsyncDisposable => {
  const opened = opening.catch((err: unknown) => {
    log.error({ err }, 'Cannot read the keys; only this machine can read the metrics');
    return null;
  });
  return { [Symbol.asyncDispose]: async () => (await opened)?.[Symbol.asyncDispose]() };
};

/** Retries the opening while a dependency is down. */
const untilAvailable = async <T>(open: () => Promise<T>, log: Log, stopping: AbortSignal): Promise<T | null> => {
  for (let tries = 0; !stopping.aborted; tries += 1) {
    try {
      return await open();
    } catch (failure) {
      if (!(failure instanceof Rejection) || failure.retryAfter === undefined) throw failure;
      if (tries === 0) log.warn({ code: failure.code }, 'Waiting for a dependency');
      await pause(systemClock, START_RETRY_MS, stopping);
    }
  }
  return null;
};
