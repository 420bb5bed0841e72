import { ownerKeyFile } from '../adapters/files/owner-key-file.js';
import { createMetrics } from '../adapters/prometheus/metrics.js';
import { EmbeddedProcessEngine } from '../adapters/embedded/process-engine.js';
import { systemClock } from '../adapters/system/clock.js';
import { systemRandom } from '../adapters/system/random.js';
import { createClosers } from '../app/closers.js';
import { firstStart, type OwnerKey } from '../app/first-start.js';
import { Lanes } from '../app/lanes.js';
import { openKeys } from '../app/open-keys.js';
import { ProcessJournal } from '../app/process-journal.js';
import { Projector } from '../app/projector.js';
import { openRulesets } from '../app/rulesets.js';
import { turnHost } from '../app/turn-host.js';
import { TurnIndex } from '../app/turn-index.js';
import { createVerdictSigner } from '../app/verdict-signer.js';
import { createWritten } from '../app/written.js';
import type { Config } from '../config/config.js';
import { createApp, createStartingApp } from '../http/app.js';
import { createRequestIds } from '../http/guard/request-id.js';
import { createLifecycle } from '../http/lifecycle.js';
import type { RouteDefinition } from '../http/route.js';
import { allRoutes } from '../http/routes/all.js';
import { type DependencyState, statusRoutes } from '../http/routes/status.js';
import { listen } from '../http/server.js';
import type { EventStore } from '../ports/event-store.js';
import type { Ports } from '../ports/ports.js';
import type { Log } from '../ports/log.js';
import { openEmbedded } from '../profiles/embedded.js';
import { projections } from '../../projections/registry.js';
import { turn } from '../../workflows/turn.js';

/** How long `GET /readyz` waits for a dependency, in milliseconds. */
const READY_TIMEOUT_MS = 1_000;

export type RunningServer = {
  /** Where it listens. */
  readonly url: string;
  /** Made by this start in an empty data directory; to be shown once (contract 11.2). */
  readonly ownerKey: OwnerKey | null;
  readonly events: EventStore;
  /** Ends as contract 11.3 says; may be called again. */
  stop(): Promise<void>;
};

/**
 * Starts a server: the socket first, then everything behind it (contract 11.3).
 * @throws StartProblem when the address, the data directory or the secret cannot be used; nothing stays open then
 */
export const startServer = async (config: Config, log: Log): Promise<RunningServer> => {
  const lifecycle = createLifecycle();
  let projector: Projector | null = null;
  const count = async (of: 'lag' | 'parked') => (projector === null ? null : (await projector.counts())[of]);
  const metrics = createMetrics([
    {
      name: 'anima_projection_lag_events',
      help: 'How far the slowest read model is behind.',
      read: () => count('lag'),
    },
    {
      name: 'anima_projection_parked_events',
      help: 'Events that a read model could not take.',
      read: () => count('parked'),
    },
  ]);
  let routes: readonly RouteDefinition[] = [];
  let dependencies = (): Promise<Record<string, DependencyState>> => Promise.resolve({});
  const status = statusRoutes({ lifecycle, metrics, dependencies: () => dependencies(), allRoutes: () => routes });
  routes = status;
  const common = { lifecycle, metrics, clock: systemClock, random: systemRandom, logger: log };
  const nameRequest = createRequestIds(systemRandom);
  const server = await listen({
    host: config.host,
    port: config.port,
    app: createStartingApp({ ...common, routes: status }),
    lifecycle,
    clock: systemClock,
    nameRequest: () => nameRequest({}),
  });
  const closers = createClosers();
  const stop = async (): Promise<void> => {
    lifecycle.stop();
    await server.stop();
    await closers[Symbol.asyncDispose]();
  };
  try {
    const profile = closers.opened(await openEmbedded(config));
    for (const warning of profile.warnings) log.warn({}, warning);
    const { ports, writer, directory, secret } = profile;
    const lanes = new Lanes(ports.events, ports.clock);
    const settings = { jwsAlg: config.jwsAlg, rateLimit: config.rateLimit, tiersActive: false };
    const onFeedLost = (error: unknown): void =>
      log.error({ err: error }, 'the feed of keys was lost; it is taken up again');
    const { signingKeys, apiKeys } = await openKeys({ ports, lanes, secret, settings, onFeedLost });
    closers.opened(apiKeys.directory);
    const ownerKey = await firstStart(apiKeys, ownerKeyFile(directory.path));

    const publicUrl = config.publicUrl ?? server.url;
    const rulesets = openRulesets(lanes);
    const journal = new ProcessJournal(ports.events);
    const processes = { [turn.name]: turnHost({ rulesets, signingKeys, issuer: publicUrl }) };
    const engine = closers.opened(new EmbeddedProcessEngine({ ...ports, lanes, journal, processes, logger: log }));
    projector = closers.opened(new Projector({ events: ports.events, writer, clock: ports.clock, log }, projections));
    await projector.start();

    const services = {
      ports,
      lanes,
      journal,
      turnIndex: new TurnIndex(ports.events),
      engine,
      rulesets,
      signingKeys,
      signer: createVerdictSigner(signingKeys),
      written: createWritten(),
      publicUrl,
      turnDeadlineMs: config.turnDeadlineMs,
      rulesRegistration: config.rulesRegistration,
    };
    routes = [...status, ...allRoutes(services, apiKeys, lifecycle)];
    dependencies = async () => ({ eventStore: await answers(ports) });
    const authenticate = (header: string | undefined) => apiKeys.directory.authenticate(header, systemClock.now());
    const { rateLimiter, idempotency } = ports;
    const app = createApp({ ...common, routes, authenticate, rateLimiter, idempotency });
    await engine.start();
    server.serve(app);
    lifecycle.ready();
    return { url: server.url, ownerKey, events: ports.events, stop };
  } catch (failure) {
    await stop();
    throw failure;
  }
};

const answers = async ({ events, clock }: Pick<Ports, 'events' | 'clock'>): Promise<DependencyState> => {
  try {
    let cancel: () => void = () => undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = clock.at(new Date(clock.now().getTime() + READY_TIMEOUT_MS), () => {
        reject(new Error(`no answer within ${String(READY_TIMEOUT_MS)} ms`));
      });
    });
    await Promise.race([events.lastPosition(), late]).finally(cancel);
    return { ok: true };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
};
