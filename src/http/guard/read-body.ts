import type { IncomingMessage, ServerResponse } from 'node:http';

import { Rejection } from '../../domain/shared/rejection.js';

/** Bytes of a body, unless the route says otherwise (contract 1.2). */
export const DEFAULT_BODY_LIMIT = 1024 * 1024;

/** The client went away before its request was whole: nobody is there to be answered. */
export class ClientGone extends Error {
  constructor() {
    super('the client closed the connection before its request was whole');
    this.name = 'ClientGone';
  }
}

/** Whether a body comes with the request; an empty one announced by its length does not count. */
export const announcesBody = (req: IncomingMessage): boolean => {
  const length = req.headers['content-length'];
  return length === undefined ? req.headers['transfer-encoding'] !== undefined : length !== '0';
};

const tooLarge = (limit: number): Rejection => new Rejection('BODY_TOO_LARGE', { details: { limitBytes: limit } });

/** Listeners are left to die with the request: taking them off again costs more than a settled promise that is settled twice. */
const collect = (req: IncomingMessage, limit: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      if (size > limit) return;
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      req.pause();
      reject(tooLarge(limit));
    });
    req.on('end', () => {
      const [only] = chunks;
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
    });
    req.on('close', () => {
      if (!req.complete) reject(new ClientGone());
    });
  });

/**
 * The whole body. A length announced beyond the limit is refused before a byte is read, a body sent in chunks as soon as it passes it.
 * @param limit bytes
 * @throws Rejection BODY_TOO_LARGE
 * @throws ClientGone
 */
export const readBody = async (req: IncomingMessage, res: ServerResponse, limit: number): Promise<Buffer> => {
  const announced = req.headers['content-length'];
  if (announced !== undefined && Number(announced) > limit) throw tooLarge(limit);
  if (req.headers.expect !== undefined) res.writeContinue();
  return collect(req, limit);
};

/**
 * JSON alone is read, and not compressed (contract 1.2).
 * @throws Rejection UNSUPPORTED_MEDIA_TYPE
 */
export const requireJson = (req: IncomingMessage): void => {
  const type = req.headers['content-type'];
  const encoding = req.headers['content-encoding'];
  const isJson = type === 'application/json' || (type !== undefined && /^application\/json[ \t]*(;|$)/i.test(type));
  if (!isJson || (encoding !== undefined && encoding !== 'identity')) throw new Rejection('UNSUPPORTED_MEDIA_TYPE');
};
