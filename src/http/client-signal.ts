import { ClientGone } from './guard/read-body.js';
import type { Call } from './route.js';

/**
 * Aborts with ClientGone when the client leaves before its answer. Undefined under an Idempotency-Key: what the request does is then kept for its
 * repeats.
 */
export const clientSignal = ({ koa, keyed }: Pick<Call, 'koa' | 'keyed'>): AbortSignal | undefined => {
  if (keyed) return undefined;
  const { res } = koa;
  const gone = new AbortController();
  const leave = (): void => {
    if (!res.writableEnded) gone.abort(new ClientGone());
  };
  if (res.closed) leave();
  else res.once('close', leave);
  return gone.signal;
};
