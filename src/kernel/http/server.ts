import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import type Koa from 'koa';

import { pause } from '../concurrency/pause.js';
import { StartProblem } from '../base/start-problem.js';
import type { Clock } from '../../ports/clock.js';
import type { Log } from '../../ports/log.js';
import { type ConnectionLimits, connectionLimits, MAX_HEADER_BYTES } from './connection-limits.js';
import type { Lifecycle } from './lifecycle.js';
import { onClosed } from './on-closed.js';
import { unreadableAnswer, answerUnreadable } from './unreadable.js';

/** Milliseconds for running requests to finish once the server stops. */
export const STOP_TIMEOUT_MS = 10_000;
/**
 * The minimum time in milliseconds for which a stopping server still responds, with NOT_READY and `Connection: close`: for requests in transit,
 * clients would otherwise see a broken connection, and not know whether anything was done.
 */
export const STOP_LINGER_MS = 250;
/** How often refused connections are logged, in milliseconds, because there may be very many. */
const TELL_FULL_MS = 60_000;

export type ListeningServer = {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly port: number;
  /** This application handles all requests from the next one on. */
  serve(app: Koa): void;
  /** Refuses new requests, lets running requests finish within 10 s, closes every connection, and resolves. May be called again. */
  stop(): Promise<void>;
};

export type ListenOptions = {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** The application that handles the first requests, usually `createStartingApp`. */
  readonly app: Koa;
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  /** Names the requests that are not valid HTTP. */
  readonly nameRequest: () => string;
  /** Replace the usual limits. */
  readonly limits?: Partial<ConnectionLimits>;
};

const startProblem = (cause: NodeJS.ErrnoException, host: string, port: number): StartProblem => {
  const where = `port ${port} on ${host}`;
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `Cannot listen: ${where} is already in use. Stop the other program, or set PORT to another port.`,
    EACCES: `Cannot listen: this user is not allowed to use ${where}. Set PORT to a port above 1023.`,
    EADDRNOTAVAIL: `Cannot listen: this machine does not have the address ${host}. Set HOST to one of its addresses.`,
    ENOTFOUND: `Cannot listen: the host name ${host} is unknown. Set HOST to an address of this machine.`,
  };
  const code = cause.code ?? 'unknown error';
  return new StartProblem(sentences[code] ?? `Cannot listen: ${where} cannot be used (${code}).`, { cause });
};

const bind = (server: Server, address: { host: string; port: number; backlog: number }): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(startProblem(error, address.host, address.port));
    server.once('error', onError);
    server.listen(address, () => {
      server.off('error', onError);
      resolve(server.address() as AddressInfo);
    });
  });

/**
 * Closes connections whose client does not read pending data. Node calls this if a connection has been idle for a while. A handler that is still
 * running has no pending data, and neither has an event stream whose client has read everything.
 */
const cutUnread = (server: Server, { unreadTimeoutMs }: ConnectionLimits): void => {
  server.timeout = unreadTimeoutMs;
  server.on('timeout', (socket: Socket) => {
    if (unreadableAnswer(socket) === null || socket.writableLength > 0) socket.destroy();
  });
};

/** Closes connections beyond the limit immediately, and logs this from time to time. */
const limitConnections = (
  server: Server,
  { maxConnections }: ConnectionLimits,
  { clock, log }: Pick<ListenOptions, 'clock' | 'log'>,
): void => {
  server.maxConnections = maxConnections;
  let toldMs = -Infinity;
  server.on('drop', () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - toldMs < TELL_FULL_MS) return;
    toldMs = nowMs;
    log.warn({ maxConnections }, 'Refusing connections: this process has reached its connection limit');
  });
};

/**
 * Opens the socket before anything else.
 * @throws StartProblem when the address cannot be used
 */
export const listen = async (options: ListenOptions): Promise<ListeningServer> => {
  const { lifecycle, clock } = options;
  const limits = { ...connectionLimits, ...options.limits };
  let handle = options.app.callback();
  const running = new Set<ServerResponse>();
  let whenIdle: (() => void) | null = null;

  /** Limits the time in which a client reads a complete response; most responses have been handed to the system by now. */
  const bound = (req: IncomingMessage, res: ServerResponse): void => {
    if (!res.writableEnded || res.writableFinished || res.destroyed) return;
    onClosed(
      { req, res },
      clock.after(limits.answerTimeoutMs, () => res.destroy()),
    );
  };
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    running.add(res);
    if (lifecycle.phase === 'stopping') res.setHeader('Connection', 'close');
    let open = 2;
    const done = (): void => {
      open -= 1;
      if (open > 0) return;
      running.delete(res);
      if (running.size === 0) whenIdle?.();
    };
    // The handler may continue after its client has disconnected.
    onClosed({ req, res }, done);
    const answered = (): void => {
      bound(req, res);
      done();
    };
    void handle(req, res).then(answered, answered);
  };
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The application refuses it in the usual shape of an error; Node would respond without a body.
      requireHostHeader: false,
    },
    onRequest,
  );
  // The guard decides whether the client may send its body.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  answerUnreadable(server, options.nameRequest);
  cutUnread(server, limits);
  limitConnections(server, limits, options);

  const address = await bind(server, { host: options.host, port: options.port, backlog: limits.backlog });
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;

  /** Resolves with `work`, or after what is left of the time to stop. */
  const atMost = (untilMs: number, work: (resolve: () => void) => void): Promise<void> =>
    new Promise((resolve) => {
      const cancel = clock.after(untilMs - clock.monotonicMs(), resolve);
      work(() => {
        cancel();
        resolve();
      });
    });

  const shutDown = async (): Promise<void> => {
    const untilMs = clock.monotonicMs() + STOP_TIMEOUT_MS;
    lifecycle.stop();
    for (const res of running) if (!res.headersSent) res.setHeader('Connection', 'close');
    const lingered = pause(clock, STOP_LINGER_MS);
    await atMost(untilMs, (idle) => {
      if (running.size === 0) idle();
      else whenIdle = idle;
    });
    await lingered;
    await atMost(untilMs, (closed) => {
      server.close(closed);
      server.closeIdleConnections();
    });
    server.closeAllConnections();
  };
  let stopped: Promise<void> | null = null;

  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    serve: (app) => {
      handle = app.callback();
    },
    stop: () => (stopped ??= shutDown()),
  };
};
