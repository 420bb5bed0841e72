import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import { Rejection } from '../base/rejection.js';
import { MAX_HEADER_BYTES } from './connection-limits.js';
import { isAnswered } from './guard/unread-body.js';
import { errorBody, refusalOf } from './on-error.js';
import { JSON_TYPE } from './respond.js';

/** The unfinished response of a connection, in the field that Node itself uses. */
export const unreadableAnswer = (socket: Duplex): ServerResponse | null =>
  (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? null;

const reasons: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: `The request line and headers exceed ${MAX_HEADER_BYTES} bytes.`,
  HPE_INVALID_METHOD: 'The method is not a valid HTTP method.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
};
const unreadable = (reason: string): Rejection => new Rejection('REQUEST_UNREADABLE', { details: { reason } });

/** Writes a refusal directly to the socket, in the detailed shape, and closes it. */
const refuse = (socket: Duplex, rejection: Rejection, requestId: string): void => {
  // Never write into a response that has begun, or after one.
  if (!socket.writable || unreadableAnswer(socket)?.headersSent === true || isAnswered(socket)) {
    socket.destroy();
    return;
  }
  const { status, headers } = refusalOf(rejection, requestId, false);
  const content = JSON.stringify(errorBody(rejection, requestId));
  const lines = Object.entries({
    ...headers,
    'Content-Type': JSON_TYPE,
    'Content-Length': Buffer.byteLength(content),
    'X-Request-Id': requestId,
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${content}`);
};

/** The connections whose request is late, with the request once it has arrived. */
type LateRequests = Map<Duplex, IncomingMessage | undefined>;

/**
 * Looks at a late request again once the event loop has read what was waiting. After a blocked loop, timers run first, and then the delay was ours. A
 * request that is complete by then is handled like any other. If it was still arriving, or waits here for its handler, the client is informed that
 * the server was at fault (503).
 */
const onLate = (late: LateRequests, socket: Duplex & { readonly bytesRead?: number }, requestId: string): void => {
  const { bytesRead: readBefore = 0 } = socket;
  late.set(socket, unreadableAnswer(socket)?.req);
  setImmediate(() => {
    const request = late.get(socket);
    late.delete(socket);
    if (request?.complete === true || socket.destroyed) return;
    const isOurs = (socket.bytesRead ?? 0) > readBefore || (request?.readableLength ?? 0) > 0;
    const message = 'The server was too busy to read the request in time. Nothing was done. Send the request again.';
    refuse(
      socket,
      isOurs ? new Rejection('BUSY', { message }) : unreadable(reasons['ERR_HTTP_REQUEST_TIMEOUT'] ?? ''),
      requestId,
    );
  });
};

/** Answers what never becomes a request: what Node's parser refuses, what comes too late, and CONNECT, which only proxies use. */
export const answerUnreadable = (server: Server, nameRequest: () => string): void => {
  const late: LateRequests = new Map();
  const onRequest = (request: IncomingMessage): void => {
    if (late.has(request.socket)) late.set(request.socket, request);
  };
  server.on('request', onRequest).on('checkContinue', onRequest);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') onLate(late, socket, nameRequest());
    else refuse(socket, unreadable(reasons[error.code ?? ''] ?? 'The request is not valid HTTP/1.1.'), nameRequest());
  });
  server.on('connect', (_, socket) => {
    // Node has already removed its listeners from this connection.
    socket.on('error', () => socket.destroy());
    refuse(socket, unreadable('CONNECT is for proxies, and this server is not a proxy.'), nameRequest());
  });
};
