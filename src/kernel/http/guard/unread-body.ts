import type { IncomingMessage } from 'node:http';
import { type Duplex, Readable } from 'node:stream';

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
 * Throws away what a client is still sending, for a while: closing its connection at once could destroy the answer on its way. The server's request
 * timeout bounds the time.
 */
export const throwAway = (req: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    // Nothing more comes, or the client waits for `100 Continue` and does not get it.
    if (req.readableEnded || req.destroyed || waitsToSend(req)) {
      resolve();
      return;
    }
    let left = LINGER_BYTES;
    req.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) resolve();
    });
    req.once('end', resolve);
    req.once('close', resolve);
    discardBody(req);
  });

/** An answer that is sent at once, and ends when what its client is still sending was thrown away. */
export const lingering = (req: IncomingMessage, content: string | Buffer): Readable => {
  const body = new Readable({ read: () => undefined });
  body.push(content);
  void throwAway(req).then(() => body.push(null));
  return body;
};
