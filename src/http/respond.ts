import type { Context } from 'koa';

import { discardBody, linger, mustClose } from './guard/unread-body.js';
import type { Chunk } from './route.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Writes a whole answer at once, without Koa. Koa would look at the body's type and set each header separately, which takes a third of the cost of a
 * request.
 * @param content null sends no body at all
 */
export const send = (
  ctx: Context,
  status: number,
  headers: Record<string, string>,
  type: string,
  content: Chunk | null,
): void => {
  const { req, res } = ctx;
  if (res.headersSent || res.destroyed) return;
  const close = mustClose(req);
  if (close) headers['Connection'] = 'close';
  // Node itself drops a body that was not read at all, but not the rest of one that was read in part.
  const finish = (whole?: Chunk): void => {
    res.end(whole);
    if (!req.complete) discardBody(req);
  };
  if (content === null) {
    res.writeHead(status, headers);
    if (close) {
      res.flushHeaders();
      linger(req, () => res.end());
    } else finish();
    return;
  }
  headers['Content-Type'] = type;
  headers['Content-Length'] = String(Buffer.byteLength(content));
  res.writeHead(status, headers);
  if (close) {
    if (req.method !== 'HEAD') res.write(content);
    linger(req, () => res.end());
  } else finish(req.method === 'HEAD' ? undefined : content);
};

/** Writes a value as JSON; `undefined` sends no body. */
export const sendJson = (ctx: Context, status: number, headers: Record<string, string>, body: unknown): void =>
  send(ctx, status, headers, JSON_TYPE, body === undefined ? null : JSON.stringify(body));
