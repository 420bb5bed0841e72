import type { Clock } from '../../../ports/clock.js';
import type { Log } from '../../../ports/log.js';
import type { Metrics } from '../../../ports/metrics.js';
import type { Principal } from '../../base/scopes.js';
import { anonymous } from '../guard/admit.js';
import { onClosed } from '../on-closed.js';
import type { RequestMiddleware } from '../request-state.js';

/** The status in metrics if the client left before the response. It is never sent. */
const CLIENT_GONE = 499;
const TOO_MANY = 429;
/** How players are counted: their requests do not count for the key that let them in. */
const PLAYER = 'player';

export type CountDeps = {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly metrics: Pick<Metrics, 'begin' | 'request' | 'count'>;
  readonly logger: Pick<Log, 'isLevelEnabled' | 'debug'>;
};

/** Who asked, as the log names them; nothing for a request without a valid key. */
const callerOf = (principal: Principal): object =>
  principal === anonymous ? {} : { tenant: principal.tenant, keyId: principal.keyId };

/** Counts each request, with its duration, once its response was read or its client has disconnected. */
export const countRequest =
  ({ clock, metrics, logger: log }: CountDeps): RequestMiddleware =>
  (ctx, next) => {
    const begun = metrics.begin();
    const begunMs = clock.monotonicMs();
    onClosed(ctx, () => {
      const { req, res, state } = ctx;
      const { requestId, operationId: operation, path, principal } = state;
      // A response that waited for an earlier one on its connection may have been made but never started.
      const isBegun = res.headersSent && (res.socket !== null || res.writableFinished);
      const status = isBegun ? res.statusCode : CLIENT_GONE;
      metrics.request(operation, status, begun);
      if (status === TOO_MANY && principal !== anonymous)
        metrics.count('tooManyRequests', principal.player === undefined ? principal.keyId : PLAYER);
      if (!log.isLevelEnabled('debug')) return;
      const durationMs = Math.round(clock.monotonicMs() - begunMs);
      log.debug(
        { requestId, ...callerOf(principal), operation, method: req.method, path, status, durationMs },
        'request',
      );
    });
    return next();
  };
