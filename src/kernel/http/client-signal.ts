import { ClientGone } from './guard/read-body.js';
import { onClosed } from './on-closed.js';
import type { Call } from './route.js';

/**
 * Aborts with ClientGone when the client leaves before its answer. Undefined under an Idempotency-Key: what the request does is then kept for its
 * repeats.
 */
export const clientSignal = ({ koa, keyed }: Pick<Call, 'koa' | 'keyed'>): AbortSignal | undefined => {
  if (keyed) return undefined;
  const gone = new AbortController();
  onClosed(koa, () => {
    if (!koa.res.writableEnded) gone.abort(new ClientGone());
  });
  return gone.signal;
};
