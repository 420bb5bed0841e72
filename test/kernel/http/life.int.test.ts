import { once } from 'node:events';
import { createServer } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import { createMetrics } from '../../../src/adapters/prometheus/metrics.js';
import { type Principal, scopes } from '../../../src/kernel/base/scopes.js';
import { StartProblem } from '../../../src/kernel/base/start-problem.js';
import { createStartingApp } from '../../../src/kernel/http/app.js';
import { createLifecycle } from '../../../src/kernel/http/lifecycle.js';
import type { Answer, Call } from '../../../src/kernel/http/route.js';
import { type DependencyState, statusRoutes } from '../../../src/kernel/http/status.js';
import { listen, type ListeningServer, STOP_LINGER_MS } from '../../../src/kernel/http/server.js';
import { yieldToEventLoop } from '../../../src/kernel/concurrency/yield-to-event-loop.js';
import { gate } from '../../support/gate.js';
import { openSocket } from '../../support/sockets.js';
import { rememberingLog, startApp, testPrincipal, type TestApp } from '../../support/http.js';
import { ManualClock } from '../../support/manual-clock.js';
import { stopServer } from '../../support/stop-server.js';
import { seededRandom } from '../../support/seeded-random.js';
import { looseRoute, openRoute, runRoute, streamed, streams, untilLeft } from './fake-routes.js';

const status = (lifecycle = createLifecycle(), eventStore: DependencyState = { ok: true }) => {
  const routes = statusRoutes({
    lifecycle,
    metrics: createMetrics(),
    dependencies: () => ({ eventStore }),
    allRoutes: () => routes,
  });
  return { lifecycle, routes };
};

describe('a starting server', () => {
  let server: ListeningServer | undefined;
  const clock = new ManualClock();
  afterEach(async () => {
    if (server !== undefined) await stopServer(server, clock);
  });

  const start = async (over: { host?: string; port?: number } = {}, eventStore?: DependencyState) => {
    const { lifecycle, routes } = status(undefined, eventStore);
    const metrics = createMetrics();
    const app = createStartingApp({
      routes,
      lifecycle,
      clock,
      metrics,
      random: seededRandom('s'),
      logger: rememberingLog(),
    });
    const log = rememberingLog();
    const options = { host: '127.0.0.1', port: 0, app, lifecycle, clock, log, nameRequest: () => 'r', ...over };
    return { server: await listen(options), lifecycle };
  };

  it('answers status and health, and 503 for everything else, known or not [10.6a, 11.3a]', async () => {
    ({ server } = await start());
    const { url } = server;
    const codes: Record<string, number> = {};
    for (const path of ['/status', '/livez', '/readyz', '/metrics', '/docs', '/docs/docs.js', '/npcs', '/nowhere']) {
      codes[path] = (await fetch(`${url}${path}`)).status;
    }
    expect(codes).toEqual({
      '/status': 200,
      '/livez': 200,
      '/readyz': 503,
      '/metrics': 503,
      '/docs': 503,
      '/docs/docs.js': 503,
      '/npcs': 503,
      '/nowhere': 503,
    });
    const refused = await fetch(`${url}/npcs`);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({ error: { code: 'NOT_READY' } });
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({
      ready: false,
      dependencies: { eventStore: { ok: true } },
    });
    expect((await fetch(`${url}/status`, { method: 'POST' })).status).toBe(405);
  });

  it('logs the failure of a dependency and hides it from clients [1.5f]', async () => {
    const failure = new Error('connect ECONNREFUSED 10.0.0.1:2113');
    ({ server } = await start({}, { ok: false, detail: 'Check THE_URL.', needed: true, failure }));
    expect(await (await fetch(`${server.url}/readyz`)).json()).toEqual({
      ready: false,
      dependencies: { eventStore: { ok: false, detail: 'Check THE_URL.', needed: true } },
    });
  });

  it('switches to the complete application without a new socket', async () => {
    const started = await start();
    server = started.server;
    const full = status(started.lifecycle);
    server.serve(
      createStartingApp({
        routes: [...full.routes, openRoute],
        lifecycle: started.lifecycle,
        clock: new ManualClock(),
        metrics: createMetrics(),
        random: seededRandom('s'),
        logger: rememberingLog(),
      }),
    );
    started.lifecycle.ready();
    expect((await fetch(`${server.url}/open`)).status).toBe(200);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${server.url}/nowhere`)).status).toBe(404);
  });

  it('fails with one message when the port is in use, or the address is not its own', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    await expect(start({ port })).rejects.toThrow(
      new StartProblem(
        `Cannot listen: port ${port} on 127.0.0.1 is already in use. Stop the other program, or set PORT to another port.`,
      ),
    );
    taken.close();
    await expect(start({ host: '192.0.2.1' })).rejects.toThrow('this machine does not have the address 192.0.2.1');
    await expect(start({ host: 'no-such-host.invalid' })).rejects.toThrow(StartProblem);
  });
});

describe('a stopping server', () => {
  const startRunning = async (clock = new ManualClock()) => {
    const { opened: finished, open: finish } = gate<Answer>();
    const { opened: running, open: begun } = gate();
    const slow = runRoute(() => {
      begun();
      return finished;
    });
    const lifecycle = createLifecycle();
    const stream = runRoute(() => streamed(':\n\n', untilLeft), {
      operationId: 'stream',
      method: 'GET',
      path: '/stream',
      responses: streams('endless'),
    });
    const app = await startApp([slow, stream, looseRoute, ...status(lifecycle).routes], { lifecycle, clock });
    lifecycle.ready();
    return { app, running, finish };
  };

  it('finishes running work although its client has left', async () => {
    const { app, running, finish } = await startRunning();
    const socket = await openSocket(app.port);
    const head = 'POST /run HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nIdempotency-Key: k1\r\n';
    socket.write(`${head}Content-Length: 0\r\n\r\n`);
    await running;
    const closed = once(socket, 'close');
    socket.destroy();
    await closed;
    let isStopped = false;
    const stopped = app.stop().then(() => (isStopped = true));
    for (let turns = 0; turns < 50; turns += 1) await yieldToEventLoop();
    expect(isStopped).toBe(false);
    finish({ body: { ran: true } });
    await stopped;
    expect(app.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('does not wait for a client that left while its key was checked', async () => {
    const { opened: looked, open: found } = gate<Principal>();
    let asked = 0;
    const authenticate = (): Promise<Principal> => {
      asked += 1;
      return looked;
    };
    const metrics = createMetrics();
    const app = await startApp([looseRoute], { authenticate, metrics });
    const socket = await openSocket(app.port);
    const head = 'POST /loose HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n';
    socket.write(`${head}Content-Length: 7\r\n\r\n{"a":1}`);
    await expect.poll(() => asked).toBe(1);
    const closed = once(socket, 'close');
    socket.destroy();
    await closed;
    await expect.poll(async () => (await metrics.render()).content).toContain('{operation="loose",status="499"} 1');
    found(testPrincipal());
    for (let turns = 0; turns < 50; turns += 1) await yieldToEventLoop();
    let isStopped = false;
    const stopped = app.beginStop().then(() => (isStopped = true));
    await app.clock.advance(STOP_LINGER_MS);
    for (let turns = 0; turns < 50; turns += 1) await yieldToEventLoop();
    expect(isStopped).toBe(true);
    await stopped;
    await app.stop();
  });

  it('finishes running work, tells kept connections to close, refuses the rest, and ends streams immediately [11.3a, 11.3b]', async () => {
    const { app, running, finish } = await startRunning();
    const slow = app.post('/run');
    const stream = await fetch(`${app.url}/stream`, { headers: { authorization: 'Bearer good' } });
    await running;
    const stopped = app.stop();
    expect(await stream.text()).toBe(':\n\n');
    const refused = await app.post('/loose');
    expect([refused.status, refused.body.error.code, refused.headers.get('connection')]).toEqual([
      503,
      'NOT_READY',
      'close',
    ]);
    expect((await app.get('/livez')).status).toBe(200);
    expect((await app.get('/readyz')).status).toBe(503);
    finish({ body: { done: true } });
    const { body, headers } = await slow;
    expect([body, headers.get('connection')]).toEqual([{ done: true }, 'close']);
    await stopped;
    await expect(fetch(app.url)).rejects.toThrow('fetch failed');
  });

  it('gives up after 10 seconds on work that does not finish [11.3b]', async () => {
    const clock = new ManualClock();
    const { app, running } = await startRunning(clock);
    const slow = app.post('/run').catch((error: unknown) => error);
    await running;
    let over = false;
    const stopped = app.beginStop().then(() => (over = true));
    await clock.advance(9_999);
    expect(over).toBe(false);
    await clock.advance(1);
    await stopped;
    expect(await slow).toBeInstanceOf(Error);
    await app.stop();
  });

  it('still sends pending responses on a stop, even if no handler runs [11.3b]', async () => {
    expect(STOP_LINGER_MS).toBe(250);
    const clock = new ManualClock();
    const app = await startApp([looseRoute], { clock });
    const stopped = app.beginStop();
    const refused = await app.post('/loose');
    expect([refused.status, refused.body.error.code, refused.headers.get('connection')]).toEqual([
      503,
      'NOT_READY',
      'close',
    ]);
    await clock.advance(STOP_LINGER_MS);
    await stopped;
    await expect(fetch(app.url)).rejects.toThrow('fetch failed');
    await app.stop();
  });

  it('may be stopped twice', async () => {
    const { app } = await startRunning();
    await Promise.all([app.stop(), app.stop()]);
  });
});

describe("the server's own routes", () => {
  let app: TestApp;
  afterEach(() => app.stop());

  it('return status and version without a key [1.9a, 10.6a]', async () => {
    const { routes, lifecycle } = status();
    app = await startApp(routes, { lifecycle });
    lifecycle.ready();
    expect((await app.get('/status', { authorization: '' })).body).toEqual({
      status: 'online',
      version: '1.0.0',
      phase: 'ready',
    });
  });

  it('are never rate-limited [10.6a]', async () => {
    const { routes, lifecycle } = status();
    const keys = { good: testPrincipal({ rateLimit: { limit: 1, windowSeconds: 60 } }) };
    app = await startApp([...routes, looseRoute], { lifecycle, keys });
    lifecycle.ready();
    expect([(await app.post('/loose')).status, (await app.post('/loose')).status]).toEqual([200, 429]);
    for (const path of ['/status', '/livez']) {
      const { status: code, headers } = await app.get(path);
      expect([path, code, headers.get('ratelimit')]).toEqual([path, 200, null]);
    }
  });

  it('name the dependency that is down [10.6b]', async () => {
    const lifecycle = createLifecycle();
    const dependencies = () =>
      Promise.resolve({ eventStore: { ok: true }, readModels: { ok: false, detail: 'the disk is full' } });
    app = await startApp(statusRoutes({ lifecycle, metrics: createMetrics(), dependencies, allRoutes: () => [] }), {
      lifecycle,
    });
    lifecycle.ready();
    const { status: code, body, headers } = await app.get('/readyz');
    expect([code, headers.get('retry-after')]).toEqual([503, '1']);
    expect(body).toEqual({ ready: false, dependencies: await dependencies() });
  });

  it('count a request whose client left before its response as such', async () => {
    const metrics = createMetrics();
    const { opened: reached, open: reach } = gate();
    const waits = {
      ...looseRoute,
      handler: async ({ koa }: Call): Promise<Answer> => {
        reach();
        await once(koa.res, 'close');
        return { body: {} };
      },
    };
    const lifecycle = createLifecycle();
    app = await startApp([waits], { lifecycle, metrics });
    lifecycle.ready();
    const leaving = new AbortController();
    const asked = fetch(`${app.url}/loose`, {
      method: 'POST',
      headers: { authorization: 'Bearer good' },
      signal: leaving.signal,
    });
    await reached;
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await expect
      .poll(async () => (await metrics.render()).content)
      .toContain('anima_http_request_duration_seconds_count{operation="loose",status="499"} 1');
  });

  it('return the metrics to this machine, and through a proxy only to a key with the scope metrics [10.6d]', async () => {
    const lifecycle = createLifecycle();
    const metrics = createMetrics();
    const routes = [looseRoute, ...statusRoutes({ lifecycle, metrics, dependencies: () => ({}), allRoutes: () => [] })];
    const poor = testPrincipal({ keyId: 'poor', scopes: scopes.filter((scope) => scope !== 'metrics') });
    const foreign = testPrincipal({ tenant: 'studio' });
    app = await startApp(routes, { lifecycle, metrics, keys: { good: testPrincipal(), poor, foreign } });
    lifecycle.ready();
    await app.post('/loose');
    await app.get('/nowhere');
    const local = await app.get('/metrics', { authorization: 'Bearer unknown' });
    expect(local.status).toBe(200);
    expect(local.headers.get('content-type')).toContain('text/plain');
    expect(local.text).toContain('anima_http_request_duration_seconds_count{operation="loose",status="200"} 1');
    expect(local.text).toContain('anima_http_request_duration_seconds_count{operation="unrouted",status="404"} 1');
    expect(local.text).toContain('process_cpu_seconds_total');
    const forwarded = ['X-Forwarded-For', 'x-forwarded-proto', 'x-forwarded-client-cert', 'x-forwarded-', 'forwarded'];
    const addresses = ['x-real-ip', 'CF-Connecting-IP', 'true-client-ip', 'x-client-ip', 'X-Cluster-Client-IP'];
    const others = ['via', 'x-forwarded', 'x-original-forwarded-for', 'x-envoy-external-address', 'Fastly-Client-IP'];
    for (const header of [...forwarded, ...addresses, ...others]) {
      expect((await app.get('/metrics', { authorization: '', [header]: '127.0.0.1' })).status).toBe(401);
    }
    expect((await app.get('/metrics', { 'x-forwarded-for': '10.0.0.1' })).status).toBe(200);
    expect((await app.get('/metrics', { 'x-forwarded-for': '10.0.0.1', authorization: 'Bearer poor' })).status).toBe(
      403,
    );
    const refused = await app.get('/metrics', { 'x-forwarded-for': '10.0.0.1', authorization: 'Bearer foreign' });
    expect([refused.status, refused.body.error?.message]).toEqual([403, expect.stringContaining('tenant "local"')]);
  });

  it('count the requests that players sent too often as theirs, not as those of the key that let them in [12.4k]', async () => {
    const metrics = createMetrics();
    const player = testPrincipal({ player: { id: 'p', npcs: [] }, rateLimit: { limit: 1, windowSeconds: 60 } });
    app = await startApp([looseRoute], { metrics, keys: { player } });
    const ask = async () => (await app.post('/loose', undefined, { authorization: 'Bearer player' })).status;
    expect([await ask(), await ask()]).toEqual([403, 429]);
    expect((await metrics.render()).content).toContain('anima_too_many_requests_total{key="player"} 1');
  });
});
