import { ClientGone } from './guard/read-body.js';
import { onClosed } from './on-closed.js';
import type { Call } from './route.js';

/**
 * Aborts with ClientGone if the client disconnects before the response. Undefined under an Idempotency-Key, because the result is then stored for
 * repeated requests.
 */
export const clientSignal = ({ koa, keyed }: Pick<Call, 'koa' | 'keyed'>): AbortSignal | undefined => {
  if (keyed) return undefined;
  const gone = new AbortController();
  onClosed(koa, () => {
    if (!koa.res.writableEnded) gone.abort(new ClientGone());
  });
  return gone.signal;
};
