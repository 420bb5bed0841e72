import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

import type Koa from 'koa';

import { Rejection } from '../domain/shared/rejection.js';
import { StartProblem } from '../domain/shared/start-problem.js';
import type { Clock } from '../ports/clock.js';
import type { Lifecycle } from './lifecycle.js';
import { errorBody } from './on-error.js';
import { JSON_TYPE } from './respond.js';

/** Milliseconds from the first byte of a request to the end of its headers, and to the end of its body. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** How often the two are looked at, in milliseconds. */
const TIMEOUT_CHECK_MS = 2_000;
/** Longer than the minute for which usual proxies keep a connection, so that they close it and never send into a closed one. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Bytes of a request's line and headers. */
const MAX_HEADER_BYTES = 16 * 1024;
/** Milliseconds for running requests to finish once the server stops (contract 11.3). */
export const STOP_TIMEOUT_MS = 10_000;

export type ListeningServer = {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly port: number;
  /** From the next request on this application answers. */
  serve(app: Koa): void;
  /** Refuses what comes, lets running requests finish within 10 s, closes every connection, and resolves. May be called again. */
  stop(): Promise<void>;
};

export type ListenOptions = {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Answers first, usually `createStartingApp`. */
  readonly app: Koa;
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  /** Names the requests that are no HTTP. */
  readonly nameRequest: () => string;
};

const startProblem = (cause: NodeJS.ErrnoException, host: string, port: number): StartProblem => {
  const where = `port ${port} on ${host}`;
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `Cannot listen: ${where} is in use; stop the other program or set PORT to another port.`,
    EACCES: `Cannot listen: this user may not use ${where}; set PORT to one above 1023.`,
    EADDRNOTAVAIL: `Cannot listen: this machine has no address ${host}; set HOST to one of its own.`,
    ENOTFOUND: `Cannot listen: the host name ${host} is not known; set HOST to an address of this machine.`,
  };
  const code = cause.code ?? 'unknown error';
  return new StartProblem(sentences[code] ?? `Cannot listen: ${where} cannot be used (${code}).`, { cause });
};

const unreadable: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: `The request line and headers exceed ${MAX_HEADER_BYTES} bytes.`,
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
};

/** Answers what Node's parser refuses in the shape of every error (contract 1.5), and closes. */
const refuseUnreadable = (error: NodeJS.ErrnoException, socket: Duplex, requestId: string): void => {
  // Node keeps an unfinished answer here; its own handler asks the same before it writes into the middle of one.
  const { _httpMessage: begun } = socket as { _httpMessage?: { readonly headersSent: boolean } | null };
  if (error.code === 'ECONNRESET' || !socket.writable || begun?.headersSent === true) {
    socket.destroy();
    return;
  }
  const reason = unreadable[error.code ?? ''] ?? 'It breaks the syntax of HTTP/1.1.';
  const content = JSON.stringify(errorBody(new Rejection('REQUEST_UNREADABLE', { details: { reason } }), requestId));
  const head = [
    'HTTP/1.1 400 Bad Request',
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(content)}`,
  ];
  socket.end(`${[...head, `X-Request-Id: ${requestId}`, 'Connection: close'].join('\r\n')}\r\n\r\n${content}`);
};

const bind = (server: Server, host: string, port: number): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(startProblem(error, host, port));
    server.once('error', onError);
    server.listen({ host, port }, () => {
      server.off('error', onError);
      resolve(server.address() as AddressInfo);
    });
  });

/**
 * Opens the socket, before anything else of the server (contract 11.3).
 * @throws StartProblem when the address cannot be used
 */
export const listen = async (options: ListenOptions): Promise<ListeningServer> => {
  const { lifecycle, clock } = options;
  let handle = options.app.callback();
  let running = 0;
  let whenIdle: (() => void) | null = null;
  const done = (): void => {
    running -= 1;
    if (running === 0) whenIdle?.();
  };
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    running += 1;
    void handle(req, res).then(done, done);
  };
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The application refuses it in the shape of every error; Node would answer without a body.
      requireHostHeader: false,
    },
    onRequest,
  );
  // The guard decides whether a body is wanted before the client sends it.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    refuseUnreadable(error, socket, options.nameRequest());
  });

  const address = await bind(server, options.host, options.port);
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;

  /** Resolves with `work`, or after what is left of the time to stop. */
  const atMost = (deadline: Date, work: (resolve: () => void) => void): Promise<void> =>
    new Promise((resolve) => {
      const cancel = clock.at(deadline, resolve);
      work(() => {
        cancel();
        resolve();
      });
    });

  const shutDown = async (): Promise<void> => {
    const deadline = new Date(clock.now().getTime() + STOP_TIMEOUT_MS);
    lifecycle.stop();
    await atMost(deadline, (idle) => {
      if (running === 0) idle();
      else whenIdle = idle;
    });
    await atMost(deadline, (closed) => {
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
