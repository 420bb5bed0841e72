import { connect } from 'node:net';

import { EmbeddedIdempotencyStore } from '../../src/adapters/embedded/idempotency-store.js';
import { MemoryRateLimiter } from '../../src/adapters/shared/rate-limiter.js';
import { createMetrics } from '../../src/adapters/prometheus/metrics.js';
import type { Json } from '../../src/kernel/base/json.js';
import { type Principal, scopes } from '../../src/kernel/base/scopes.js';
import { type AppDeps, createApp } from '../../src/kernel/http/app.js';
import type { ConnectionLimits } from '../../src/kernel/http/connection-limits.js';
import { createLifecycle, type Lifecycle } from '../../src/kernel/http/lifecycle.js';
import type { RouteDefinition } from '../../src/kernel/http/route.js';
import { listen } from '../../src/kernel/http/server.js';
import type { Log } from '../../src/ports/log.js';
import { ManualClock } from './manual-clock.js';
import { stopServer } from './stop-server.js';
import { seededRandom } from './seeded-random.js';

/** A log that records its lines. */
export const rememberingLog = (): Log & { readonly lines: { level: string; fields: object; message: string }[] } => {
  const lines: { level: string; fields: object; message: string }[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  return {
    lines,
    isLevelEnabled: () => true,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
};

export const testPrincipal = (over: Partial<Principal> = {}): Principal => ({
  tenant: 'local',
  keyId: 'k1',
  scopes,
  rateLimit: null,
  ...over,
});

/** A response, read to its end. */
export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: ReturnType<JSON['parse']>;
};

export type TestApp = {
  readonly url: string;
  readonly port: number;
  readonly lifecycle: Lifecycle;
  readonly clock: ManualClock;
  readonly log: ReturnType<typeof rememberingLog>;
  /** A request with the key `good`, unless `headers` override it. */
  request(
    method: string,
    path: string,
    options?: { body?: Json | string | Buffer; headers?: Record<string, string> },
  ): Promise<Reply>;
  /** A POST of JSON. */
  post(path: string, body?: Json, headers?: Record<string, string>): Promise<Reply>;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  /** Writes bytes to the socket unchanged, and reads until the server closes it. */
  raw(bytes: string | Buffer): Promise<string>;
  /** Requests a stop; time has to pass until it has stopped. */
  beginStop(): Promise<void>;
  stop(): Promise<void>;
};

const AUTHORIZED = { authorization: 'Bearer good' };

/** Writes bytes to a socket unchanged, and reads until the server closes it. */
export const rawExchange = (port: number, bytes: string | Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (text += chunk));
    socket.on('close', () => resolve(text));
    socket.on('error', (error: NodeJS.ErrnoException) => (text === '' ? reject(error) : resolve(text)));
    socket.write(bytes);
  });

/** Serves routes on a free port behind the entire guard, with stores in memory and the given keys (by default only `good`). */
export const startApp = async (
  routes: readonly RouteDefinition[],
  over: Partial<AppDeps> & {
    readonly keys?: Readonly<Record<string, Principal>>;
    readonly clock?: ManualClock;
    readonly limits?: Partial<ConnectionLimits>;
  } = {},
): Promise<TestApp> => {
  const {
    keys = { good: testPrincipal() },
    clock = new ManualClock(),
    lifecycle = createLifecycle(),
    limits = {},
    ...deps
  } = over;
  const log = rememberingLog();
  const idempotency = EmbeddedIdempotencyStore.open(':memory:', clock);
  const app = createApp({
    routes,
    lifecycle,
    clock,
    random: seededRandom('http'),
    logger: log,
    metrics: createMetrics(),
    authenticate: (header) => (header === undefined ? null : (keys[header.replace(/^Bearer /, '')] ?? null)),
    rateLimiter: new MemoryRateLimiter(clock),
    idempotency,
    revisionOf: () => Promise.resolve(-1),
    lastPosition: () => Promise.resolve(0),
    ...deps,
  });
  const where = { host: '127.0.0.1', port: 0 };
  const server = await listen({ ...where, app, lifecycle, clock, log, limits, nameRequest: () => 'unread-1' });
  if (over.lifecycle === undefined) lifecycle.ready();

  const request: TestApp['request'] = async (method, path, { body, headers = {} } = {}) => {
    const raw = typeof body === 'string' || Buffer.isBuffer(body) || body === undefined;
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { ...AUTHORIZED, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
  };
  return {
    url: server.url,
    port: server.port,
    lifecycle,
    clock,
    log,
    request,
    post: (path, body, headers = {}) => request('POST', path, { ...(body === undefined ? {} : { body }), headers }),
    get: (path, headers = {}) => request('GET', path, { headers }),
    raw: (bytes) => rawExchange(server.port, bytes),
    beginStop: () => server.stop(),
    stop: async () => {
      await stopServer(server, clock);
      await idempotency[Symbol.asyncDispose]();
    },
  };
};
