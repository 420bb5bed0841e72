import { EmbeddedIdempotencyStore } from '../../src/adapters/embedded/idempotency-store.js';
import { EmbeddedKeyUsage } from '../../src/adapters/embedded/key-usage.js';
import { openReadsFile } from '../../src/adapters/embedded/reads-file.js';
import { EmbeddedSnapshots } from '../../src/adapters/embedded/snapshots.js';
import { nativeSearch } from '../../src/adapters/vectors/usearch.js';
import { readLevelMaps } from '../../src/adapters/files/level-maps.js';
import { MemoryRateLimiter } from '../../src/adapters/shared/rate-limiter.js';
import { issueApiKey } from '../../src/features/keys/api-keys.js';
import { firstStart } from '../../src/features/keys/first-start.js';
import { openKeys } from '../../src/features/keys/open-keys.js';
import { readBuiltInLevels } from '../../src/features/levels/levels.js';
import { Projector } from '../../src/kernel/read-models/projector.js';
import { createSnapshotting } from '../../src/kernel/streams/snapshotting.js';
import { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { Rejection } from '../../src/kernel/base/rejection.js';
import { createApp, createStartingApp } from '../../src/kernel/http/app.js';
import { createRequestIds } from '../../src/kernel/http/guard/request-id.js';
import { createLifecycle } from '../../src/kernel/http/lifecycle.js';
import type { RouteDefinition } from '../../src/kernel/http/route.js';
import { statusRoutes } from '../../src/kernel/http/status.js';
import { listen } from '../../src/kernel/http/server.js';
import type { Metrics } from '../../src/ports/metrics.js';
import type { Random } from '../../src/ports/random.js';
import type { Ports } from '../../src/ports/ports.js';
import { projections } from '../../projections/registry.js';
import { assembleServer } from '../support/assemble-server.js';
import { gate } from '../support/gate.js';
import { rememberingLog } from '../support/http.js';
import { MemoryEventStore } from '../support/memory/event-store.js';
import { MemoryOwnerKeyFile } from '../support/memory/owner-key-file.js';
import { MemoryReadModels } from '../support/memory/read-models.js';
import { MemorySoulArchive } from '../support/memory/soul-archive.js';
import { WordEmbedder } from '../support/memory/word-embedder.js';
import { ManualClock } from '../support/manual-clock.js';
import { stopServer } from '../support/stop-server.js';
import { checksOf, SECRET, seals, snapshotSeals } from '../support/seals.js';
import { seededRandom } from '../support/seeded-random.js';
import { storeWith } from '../support/streams.js';

const DEADLINE_MS = 900_000;
/** Events of one page of the store: a handful of events then fills several pages. */
const PAGE_EVENTS = 3;

/** What a read of the store does instead of reading. */
const faults = {
  /** It reports the store as unavailable. */
  fails: () => {
    throw new Rejection('STORE_UNAVAILABLE', { retryAfter: 2 });
  },
  /** It throws an unexpected error. */
  breaks: () => {
    throw new Error('the disk is gone');
  },
} as const;
export type StoreFault = keyof typeof faults | 'hangs';

/** A memory store whose reads fail on request. */
const faultyStore = () => {
  const store = new MemoryEventStore();
  let soundReads = Infinity;
  let fault: StoreFault = 'fails';
  let held = gate();
  let caught = gate();
  return {
    events: storeWith(store, {
      read: async (stream, range) => {
        soundReads -= 1;
        if (soundReads < 0) {
          caught.open();
          await (fault === 'hangs' ? held.opened : faults[fault]());
        }
        return store.read(stream, { ...range, limit: Math.min(range.limit, PAGE_EVENTS) });
      },
    }),
    isWell: () => soundReads > 0,
    /** Reads fail after this many. */
    spoil: (how: StoreFault, reads: number): void => {
      fault = how;
      soundReads = reads;
      caught = gate();
    },
    /** Resolves when a read has failed since. */
    caught: (): Promise<void> => caught.opened,
    /** Reads work again, and hanging ones continue. */
    mend: (): void => {
      soundReads = Infinity;
      held.open();
      held = gate();
    },
  };
};

/** Metrics that count requests by operation and status. */
const rememberingMetrics = (): Metrics & { readonly counted: Map<string, number> } => {
  const counted = new Map<string, number>();
  return {
    counted,
    begin: () => 0,
    request: (operation, status) => {
      const what = `${operation} ${String(status)}`;
      counted.set(what, (counted.get(what) ?? 0) + 1);
    },
    work: () => undefined,
    count: () => undefined,
    render: async () => ({
      type: 'text/plain; version=0.0.4; charset=utf-8',
      content: '# The figures are left out.\n',
    }),
  };
};

/** The exchanges were recorded when a signing key took twelve random bytes after its seed, the first 32 that a server draws. */
const asRecorded = (random: Random): Random => {
  let isFirst = true;
  return {
    bytes: (count) => {
      const drawn = random.bytes(count);
      if (isFirst && count === 32) {
        isFirst = false;
        random.bytes(12);
      }
      return drawn;
    },
  };
};

/**
 * The complete server in this process, on a free port: the product's own code over stores in memory, with a clock that stands still and seeded randomness.
 * It is starting until the test declares it ready.
 */
export const openExchangeServer = async () => {
  const clock = new ManualClock();
  const random = asRecorded(seededRandom('ports'));
  const log = { ...rememberingLog(), isLevelEnabled: () => false };
  const metrics = rememberingMetrics();
  const store = faultyStore();
  const { events } = store;
  const snapshots = EmbeddedSnapshots.open(':memory:');
  const readModels = new MemoryReadModels(clock);
  const ports: Ports = {
    ...{ clock, random, events, snapshots, readModels, rowSearch: readModels, textSearch: readModels },
    soulArchive: new MemorySoulArchive(),
    idempotency: EmbeddedIdempotencyStore.open(':memory:', clock),
    vectorSearch: nativeSearch,
    embedder: new WordEmbedder(),
    rateLimiter: new MemoryRateLimiter(clock),
    keyUsage: new EmbeddedKeyUsage(openReadsFile(':memory:'), clock),
  };
  const writers = new StreamWriters(events, clock, {
    seals,
    snapshots: createSnapshotting({ snapshots, clock, log, seals: snapshotSeals, isBroken: checksOf(events).isBroken }),
  });
  const projector = new Projector({ events, writer: readModels, clock, log }, projections);
  await projector.start();

  const { signingKeys, signingKeyChanges, apiKeys } = await openKeys({
    ...{ ports, writers, secret: SECRET, seals },
    settings: { jwsAlg: 'Ed25519', rateLimit: null, tiersActive: false },
    onCutOff: (error) => {
      throw error;
    },
  });
  const { directory } = apiKeys;
  const owner = (await firstStart(apiKeys, new MemoryOwnerKeyFile()))?.key ?? '';
  const principal = directory.find(owner, clock.now());
  if (principal === null) throw new Error('the owner key does not open the server');
  const issue = async (name: string, wish: object): Promise<string> => {
    const wanted = { name, scopes: principal.scopes, rateLimit: null, expiresAt: null, test: false, ...wish };
    const { key } = await issueApiKey(apiKeys, principal, wanted, { commandId: name, correlationId: name });
    return key ?? '';
  };
  const keys = {
    owner,
    /** Has few scopes. */
    narrow: await issue('narrow', { scopes: ['npc'] }),
    /** May send two requests a minute. */
    limited: await issue('limited', { scopes: ['npc'], rateLimit: { limit: 2, windowSeconds: 60 } }),
  };

  const { runtime, routes: served } = assembleServer({
    ...{ ports, writers, checks: checksOf(events), signingKeys, signingKeyChanges, apiKeys, log, runtime: null },
    ...{
      levels: await readBuiltInLevels(await readLevelMaps()),
      publicUrl: 'http://anima.test',
      deadlineMs: DEADLINE_MS,
    },
  });
  await runtime.start();
  const lifecycle = createLifecycle();
  const status: readonly RouteDefinition[] = statusRoutes({
    ...{ lifecycle, metrics },
    dependencies: () => ({ eventStore: store.isWell() ? { ok: true } : { ok: false, detail: 'It does not respond.' } }),
    allRoutes: () => [...status, ...served],
  });
  const common = { lifecycle, clock, metrics, logger: log };
  const nameRequest = createRequestIds(seededRandom('unreadable'));
  const server = await listen({
    ...{ host: '127.0.0.1', port: 0, lifecycle, clock, log, nameRequest: () => nameRequest({}) },
    app: createStartingApp({ ...common, random: seededRandom('starting'), routes: status }),
  });
  const stop = (): Promise<void> => stopServer(server, clock);
  return {
    port: server.port,
    keys,
    store,
    wait: (ms: number) => clock.advance(ms),
    ready: (): void => {
      server.serve(
        createApp({
          ...common,
          random: seededRandom('ready'),
          routes: [...status, ...served],
          authenticate: (header) => directory.authenticate(header, clock.now()),
          rateLimiter: ports.rateLimiter,
          idempotency: ports.idempotency,
          revisionOf: (stream) => writers.revisionOf(stream),
          lastPosition: () => ports.events.lastPosition(),
        }),
      );
      lifecycle.ready();
    },
    stop,
    /** What the server counted and logged: operations and statuses, then lines from warnings up, both in order of their text. */
    notes: (): readonly string[] => [
      ...Array.from(metrics.counted, ([what, count]) => `counted ${what}: ${String(count)}`).sort(),
      ...log.lines
        .filter(({ level }) => level === 'warn' || level === 'error')
        .map(({ level, message, fields }) => {
          const { err, ...rest } = fields as { readonly err?: Error };
          return `logged ${level}: ${message} ${JSON.stringify({ ...rest, err: err?.message })}`;
        })
        .sort(),
    ],
    [Symbol.asyncDispose]: async (): Promise<void> => {
      store.mend();
      await stop();
      await runtime[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
      await projector[Symbol.asyncDispose]();
      await events[Symbol.asyncDispose]();
    },
  };
};
