import type { IncomingMessage, ServerResponse } from 'node:http';

import { Rejection } from '../../base/rejection.js';
import type { AcceptedBytes, RouteDefinition } from '../route.js';

/** Writes "A, B or C". */
const EITHER = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** The default limit of a body, in bytes. */
export const DEFAULT_BODY_LIMIT = 1024 * 1024;

/** The client left before the response, so there is nothing to send. */
export class ClientGone extends Error {
  constructor() {
    super('the client closed the connection before it was answered');
    this.name = 'ClientGone';
  }
}

/** Requests whose client waited for `100 Continue` and received it. */
const told = new WeakSet<IncomingMessage>();

const tellToSend = (req: IncomingMessage, res: ServerResponse): void => {
  if (req.headers.expect === undefined || told.has(req)) return;
  told.add(req);
  res.writeContinue();
};

/** Whether the client waits for `100 Continue` before it sends its body. */
export const waitsToSend = (req: IncomingMessage): boolean => req.headers.expect !== undefined && !told.has(req);

/** Whether a body comes with the request; an empty one announced by its length does not count. */
export const announcesBody = (req: IncomingMessage): boolean => {
  const length = req.headers['content-length'];
  return length === undefined ? req.headers['transfer-encoding'] !== undefined : length !== '0';
};

const tooLarge = (limit: number): Rejection => new Rejection('BODY_TOO_LARGE', { details: { limitBytes: limit } });

/**
 * The listeners are not removed, which costs less than removing them. The request may live long, because its response waits for earlier ones on its
 * connection. So the listeners drop their reference to the waiting code, and with it the body.
 */
const collect = (req: IncomingMessage, limit: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    // The client may have disconnected while its key was looked up. Such a request emits nothing more, even if its body is complete.
    if (req.destroyed) {
      reject(new ClientGone());
      return;
    }
    let waiting: { readonly resolve: (body: Buffer) => void; readonly reject: (reason: Error) => void } | null = {
      resolve,
      reject,
    };
    let chunks: Buffer[] = [];
    let size = 0;
    const fail = (reason: Error): void => {
      waiting?.reject(reason);
      waiting = null;
      chunks = [];
    };
    req.on('data', (chunk: Buffer) => {
      if (size > limit) return;
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      req.pause();
      fail(tooLarge(limit));
    });
    req.on('end', () => {
      // The client has since received a response that nothing was done (src/kernel/http/unreadable.ts), and may send it again.
      if (req.socket.writableEnded) {
        fail(new ClientGone());
        return;
      }
      const [only] = chunks;
      waiting?.resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
      waiting = null;
      chunks = [];
    });
    req.on('close', () => {
      // An error is created only if a caller waits for it, because its stack costs more than reading a body.
      if (waiting !== null) fail(new ClientGone());
    });
  });

/** @throws Rejection BODY_TOO_LARGE for a length announced beyond the limit */
const requireLength = (req: IncomingMessage, limit: number): void => {
  const announced = req.headers['content-length'];
  if (announced !== undefined && Number(announced) > limit) throw tooLarge(limit);
};

/**
 * The complete body. An announced length beyond the limit is refused before a byte is read; a chunked body is refused as soon as it exceeds the
 * limit.
 * @param limit bytes
 * @throws Rejection BODY_TOO_LARGE
 * @throws ClientGone
 */
export const readBody = async (req: IncomingMessage, res: ServerResponse, limit: number): Promise<Buffer> => {
  requireLength(req, limit);
  tellToSend(req, res);
  return collect(req, limit);
};

/** The chunks of a body, read on demand: the rest stays with the client. */
async function* chunksOf(req: IncomingMessage, res: ServerResponse, limit: number): AsyncGenerator<Buffer, void> {
  tellToSend(req, res);
  let size = 0;
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      // The request has since been refused (unreadable.ts), and its client was informed that nothing was done.
      if (req.socket.writableEnded) throw new ClientGone();
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      yield chunk;
    }
  } catch (thrown) {
    throw thrown instanceof Rejection ? thrown : new ClientGone();
  }
  if (req.socket.writableEnded) throw new ClientGone();
}

const isEncoded = (req: IncomingMessage): boolean => {
  const encoding = req.headers['content-encoding'];
  return encoding !== undefined && encoding !== 'identity';
};

const compressed = (): Rejection =>
  new Rejection('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body without compression.' });

const wrongType = (accepted: readonly string[]): Rejection =>
  new Rejection('UNSUPPORTED_MEDIA_TYPE', { message: `Send the body with Content-Type: ${EITHER.format(accepted)}.` });

/** The media type of a body, in lower case and without parameters. */
export const mediaType = (req: IncomingMessage): string | undefined =>
  req.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();

/**
 * The body of a route that accepts bytes, to be read once. Reading throws if the body exceeds the limit, and if the client disconnects.
 * @throws Rejection BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
 */
export const openBody = (
  req: IncomingMessage,
  res: ServerResponse,
  accepted: readonly AcceptedBytes[],
): AsyncIterable<Uint8Array> => {
  const type = mediaType(req);
  const taken = accepted.find(({ accepts }) => accepts === '*/*' || accepts === type);
  const maxBytes = taken?.maxBytes ?? Math.max(...accepted.map((other) => other.maxBytes));
  requireLength(req, maxBytes);
  if (announcesBody(req)) {
    if (isEncoded(req)) throw compressed();
    if (taken === undefined) throw wrongType(accepted.map(({ accepts }) => accepts));
  }
  return chunksOf(req, res, maxBytes);
};

const json = ['application/json'] as const;
const jsonOrPatch = [...json, 'application/merge-patch+json'] as const;

/** The media types of the JSON that a route accepts: only the body of a PATCH may also have the type of a merge patch (RFC 7396). */
export const jsonTypesOf = ({ method }: Pick<RouteDefinition, 'method'>): readonly string[] =>
  method === 'PATCH' ? jsonOrPatch : json;

/**
 * Accepts only uncompressed JSON of one of these media types.
 * @throws Rejection UNSUPPORTED_MEDIA_TYPE
 */
export const requireJson = (req: IncomingMessage, accepted: readonly string[]): void => {
  if (isEncoded(req)) throw compressed();
  if (!accepted.includes(mediaType(req) ?? '')) throw wrongType(accepted);
};
