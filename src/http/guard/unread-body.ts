import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import { announcesBody, waitsToSend } from './read-body.js';

/** If the announced rest is no longer than this, it is read and thrown away, and the connection stays open. */
const WORTH_KEEPING_BYTES = 1024 * 1024;
/** This much of a longer rest is thrown away before the connection is closed; closing earlier could cost the client our answer. */
const LINGER_BYTES = 16 * 1024 * 1024;

/** Whether the connection must close after an answer that comes before the body was read. */
export const mustClose = (req: IncomingMessage): boolean => {
  if (req.complete || !announcesBody(req)) return false;
  const length = Number(req.headers['content-length'] ?? Infinity);
  return length > WORTH_KEEPING_BYTES || waitsToSend(req);
};

/** Connections whose current request was answered before its body had arrived. */
const answered = new WeakSet<Duplex>();

/** Whether the request that is still coming on this connection was answered already. */
export const isAnswered = (socket: Duplex): boolean => answered.has(socket);

/** Reads what no handler will read and throws it away, even after a handler stopped reading in the middle. */
export const discardBody = (req: IncomingMessage): void => {
  const { socket } = req;
  answered.add(socket);
  req.once('end', () => answered.delete(socket));
  req.removeAllListeners('readable');
  req.resume();
};

/**
 * Ends a completely written answer while its client may still be sending. It reads on for a while, so closing the connection does not destroy the
 * answer on its way. The server's request timeout bounds the time.
 */
export const linger = (req: IncomingMessage, end: () => void): void => {
  // This client waits for `100 Continue` and does not get it.
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
