import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import { announcesBody, waitsToSend } from './read-body.js';

/** A rest announced no longer than this is read and thrown away, and the connection goes on. */
const WORTH_KEEPING_BYTES = 1024 * 1024;
/** So much of a longer one is thrown away before the connection is closed: closing earlier could cost the client our answer. */
const LINGER_BYTES = 16 * 1024 * 1024;

/** Whether the connection must close after an answer that comes before the body was read. */
export const mustClose = (req: IncomingMessage): boolean => {
  if (req.complete || !announcesBody(req)) return false;
  const length = Number(req.headers['content-length'] ?? Infinity);
  return length > WORTH_KEEPING_BYTES || waitsToSend(req);
};

/** Connections whose present request was answered before its body had come. */
const answered = new WeakSet<Duplex>();

/** Whether the request that is still coming on this connection was answered already. */
export const isAnswered = (socket: Duplex): boolean => answered.has(socket);

/** Reads what nobody will and throws it away, also when somebody has left off reading it in the middle. */
export const discardBody = (req: IncomingMessage): void => {
  const { socket } = req;
  answered.add(socket);
  req.once('end', () => answered.delete(socket));
  req.removeAllListeners('readable');
  req.resume();
};

/**
 * Ends an answer that is wholly written while its client may still be sending: reads on for a while, so that the closing of the
 * connection does not destroy the answer on its way. The time is bounded by the server's request timeout.
 */
export const linger = (req: IncomingMessage, end: () => void): void => {
  // This client waits to be told to send, and is not told.
  if (waitsToSend(req)) {
    end();
    return;
  }
  let left = LINGER_BYTES;
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) end();
  });
  req.once('end', end);
  req.once('close', end);
  discardBody(req);
};
