import type { IncomingMessage } from 'node:http';
import { type Duplex, Readable } from 'node:stream';

import { announcesBody, waitsToSend } from './read-body.js';

/** If the announced rest is not longer than this, it is read and discarded, and the connection stays open. */
const WORTH_KEEPING_BYTES = 1024 * 1024;
/** This much of a longer rest is discarded before the connection is closed; closing earlier could cost the client the response. */
const LINGER_BYTES = 16 * 1024 * 1024;

/** Whether the connection must close after a response that is sent before the body was read. */
export const mustClose = (req: IncomingMessage): boolean => {
  if (req.complete || !announcesBody(req)) return false;
  const length = Number(req.headers['content-length'] ?? Infinity);
  return length > WORTH_KEEPING_BYTES || waitsToSend(req);
};

/** Connections whose current request got its response before its body had arrived. */
const answered = new WeakSet<Duplex>();

/** Whether the request that is still arriving on this connection already got its response. */
export const isAnswered = (socket: Duplex): boolean => answered.has(socket);

/** Reads and discards what no handler will read, even after a handler stopped in the middle. */
export const discardBody = (req: IncomingMessage): void => {
  const { socket } = req;
  answered.add(socket);
  req.once('end', () => answered.delete(socket));
  req.removeAllListeners('readable');
  req.resume();
};

/**
 * Discards what a client is still sending, for a while: closing its connection immediately could destroy the response in transit. The server's
 * request timeout bounds the time.
 */
export const throwAway = (req: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    // Nothing more arrives, or the client waits for `100 Continue` and does not get it.
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

/** A response that is sent immediately, and ends once the rest of the request has been discarded. */
export const lingering = (req: IncomingMessage, content: string | Buffer): Readable => {
  const body = new Readable({ read: () => undefined });
  body.push(content);
  void throwAway(req).then(() => body.push(null));
  return body;
};
