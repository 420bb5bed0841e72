import { discardBody, lingering, mustClose, throwAway } from './guard/unread-body.js';
import type { RequestContext } from './request-state.js';
import type { Chunk } from './route.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** The same bytes as a Buffer, which Koa accepts. */
const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

type Answering = Pick<
  RequestContext,
  'req' | 'res' | 'method' | 'status' | 'body' | 'set' | 'length' | 'flushHeaders' | 'state'
>;

/**
 * Passes a complete response to Koa. The rest of an unread body is discarded, so that the connection can be reused; if the rest is too long, the
 * connection is closed once the client has had time to read the response.
 * @param content null for a response without a body
 */
export const respond = (ctx: Answering, status: number, type: string, content: Chunk | null): void => {
  const { req, res, state } = ctx;
  if (res.headersSent || res.destroyed) return;
  ctx.status = status;
  const closes = mustClose(req);
  if (closes) ctx.set('Connection', 'close');
  // Node itself drops a body that was not read at all, but not the rest of a body that was partly read.
  else if (!req.complete) discardBody(req);
  if (content === null) {
    ctx.body = null;
    // Koa has just set 204. A 204 or 304 has no length; any other status has an empty body.
    ctx.status = status;
    if (status !== 204 && status !== 304) ctx.length = 0;
  } else {
    ctx.set('Content-Type', type);
    const whole = typeof content === 'string' ? content : bufferOf(content);
    if (closes && ctx.method !== 'HEAD') {
      ctx.length = Buffer.byteLength(whole);
      ctx.body = lingering(req, whole);
      return;
    }
    ctx.body = whole;
  }
  if (!closes) return;
  ctx.flushHeaders();
  state.lingers = throwAway(req);
};

/** Passes a value to Koa as JSON; `undefined` for a response without a body. */
export const respondJson = (ctx: Answering, status: number, body: unknown): void => {
  respond(ctx, status, JSON_TYPE, body === undefined ? null : JSON.stringify(body));
};
