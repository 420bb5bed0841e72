import { createHash } from 'node:crypto';

import { advanceProcess } from '../../activities/process-activities.js';
import { WordEmbedder } from '../support/memory/word-embedder.js';
import { checksOf, seals, snapshotSeals } from '../support/seals.js';
import { MemorySoulArchive } from '../support/memory/soul-archive.js';
import { nativeSearch } from '../../src/adapters/vectors/usearch.js';
import { MemoryRateLimiter } from '../../src/adapters/shared/rate-limiter.js';
import type { ChangeSigningKeysDeps } from '../../src/features/keys/change-signing-keys.js';
import type { ApiKeyDeps } from '../../src/features/keys/api-keys.js';
import { claimSoul } from '../../src/features/souls/take-custody.js';
import { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { createSnapshotting } from '../../src/kernel/streams/snapshotting.js';
import { jcs } from '../../src/kernel/base/json.js';
import { createApp } from '../../src/kernel/http/app.js';
import { REQUEST_FAILED } from '../../src/kernel/http/on-error.js';
import { createLifecycle } from '../../src/kernel/http/lifecycle.js';
import type { RouteDefinition } from '../../src/kernel/http/route.js';
import type { EventStore } from '../../src/ports/event-store.js';
import type { IdempotencyStore } from '../../src/ports/idempotency-store.js';
import type { Log } from '../../src/ports/log.js';
import type { ProcessRuntime } from '../../src/ports/process-runtime.js';
import type { Random } from '../../src/ports/random.js';
import type { ReadModels } from '../../src/ports/read-models.js';
import type { RowSearch } from '../../src/ports/row-search.js';
import type { TextSearch } from '../../src/ports/text-search.js';
import type { Snapshots } from '../../src/ports/snapshots.js';
import type { Ports } from '../../src/ports/ports.js';
import type { SigningKeys } from '../../src/ports/signing-keys.js';
import type { StepArgs, StepResult } from '../../src/kernel/processes/process-step.js';
import { assembleServer } from '../support/assemble-server.js';
import type { Machine } from './machine.js';
import { answerTo, type Reply, type Request } from './request.js';

/** The tenant of all minds and of the shared key. */
export const TENANT = 'studio';

/** The options of a server. Without a runtime it drives its processes itself. */
export type ServerOptions = {
  readonly machine: Machine;
  readonly random: Random;
  readonly events: EventStore;
  readonly readModels: ReadModels & RowSearch & TextSearch;
  readonly snapshots: Snapshots;
  readonly idempotency: IdempotencyStore;
  readonly runtime: ProcessRuntime | null;
  readonly turnDeadlineMs: number;
  /** The maximum number of streams in its cache. */
  readonly writersKept: number;
  /** How many revisions are between two snapshots of a mind. */
  readonly snapshotEvery: number;
  /** Called with errors that are not refusals. */
  readonly onDefect: (what: string) => void;
};

export type SimulatedServer = {
  /** Resumes open processes. */
  start(): Promise<void>;
  handle(request: Request): Promise<Reply>;
  step(args: StepArgs): Promise<StepResult>;
};

/** A server as `startServer` builds it, with every role, over these ports: the product's own code from the request to the ports. */
export const createServer = (options: ServerOptions): SimulatedServer => {
  const { machine, random, events, readModels, snapshots, idempotency } = options;
  const { clock } = machine;
  const shared = options.runtime !== null;
  const log = defectLog(options.onDefect);
  const snapshotting = createSnapshotting(
    { snapshots, clock, log, seals: snapshotSeals, isBroken: checksOf(events).isBroken },
    { every: options.snapshotEvery },
  );
  const writers: StreamWriters = new StreamWriters(events, clock, {
    ...{ shared, seals, kept: options.writersKept, snapshots: snapshotting },
    claim: claimSoul(() => ({ events, clock, writers })),
  });
  const ports: Ports = {
    clock,
    random,
    events,
    snapshots,
    soulArchive: new MemorySoulArchive(),
    idempotency,
    readModels,
    rowSearch: readModels,
    textSearch: readModels,
    vectorSearch: nativeSearch,
    embedder: new WordEmbedder(),
    rateLimiter: new MemoryRateLimiter(clock),
    keyUsage: { touch: () => undefined, lastUsedAt: () => Promise.resolve(new Map<string, string>()) },
  };
  const assembly = assembleServer({
    ...{ ports, writers, checks: checksOf(events), signingKeys, signingKeyChanges: noChanges, apiKeys: noApiKeys },
    ...{ levels: [], log },
    ...{ runtime: options.runtime, publicUrl: 'http://simulation', deadlineMs: options.turnDeadlineMs },
  });
  const { stepDeps, runtime } = assembly;
  const routes = assembly.routes.map(compiledOnce);
  const lifecycle = createLifecycle();
  const authenticate = () => ({
    tenant: TENANT,
    keyId: 'key',
    scopes: ['npc', 'rules', 'audit'] as const,
    rateLimit: null,
  });
  const metrics = {
    begin: () => 0,
    work: () => undefined,
    count: () => undefined,
    request: () => undefined,
    render: () => Promise.resolve({ type: '', content: '' }),
  };
  const app = createApp({
    routes,
    lifecycle,
    clock,
    random,
    logger: log,
    metrics,
    authenticate,
    rateLimiter: ports.rateLimiter,
    idempotency,
    revisionOf: (stream) => writers.revisionOf(stream),
    lastPosition: () => ports.events.lastPosition(),
  }).callback();
  lifecycle.ready();
  return {
    start: () => runtime.start(),
    handle: (request) => answerTo(app, request),
    step: (args) => advanceProcess({ ...stepDeps, random }, args),
  };
};

const compiled = new Map<string, RouteDefinition>();

/** The route with the schemas of the first server's: each schema object is compiled once. */
const compiledOnce = (route: RouteDefinition): RouteDefinition => {
  const known = compiled.get(route.operationId) ?? route;
  compiled.set(route.operationId, known);
  const { body, params, query } = known;
  return {
    ...route,
    ...(body === undefined ? {} : { body }),
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { query }),
  };
};

/** No keys are created or revoked here. */
const noApiKeys = {} as unknown as ApiKeyDeps;
const noChanges = {} as unknown as ChangeSigningKeysDeps;

/** A key that needs no threads: a signature only has to be deterministic. */
const signingKeys: SigningKeys = {
  current: { kid: 'simulated', alg: 'Ed25519' },
  sign: async (kid, claims) => `${kid}.${createHash('sha256').update(jcs(claims)).digest('base64url')}`,
  signText: () => Promise.reject(new Error('no logs are signed here')),
  publicKey: () => Promise.resolve(undefined),
  isVoid: () => false,
  publicJwks: () => Promise.resolve([]),
};

/** A log that reports defects only. */
export const defectLog = (onDefect: (what: string) => void): Log => ({
  isLevelEnabled: () => false,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (fields, message) => {
    const { err } = fields as { readonly err?: Error };
    if (message === REQUEST_FAILED) onDefect(err?.stack ?? message);
  },
});
