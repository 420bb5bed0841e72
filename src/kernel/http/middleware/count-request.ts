import type { Log } from '../../../ports/log.js';
import type { Metrics } from '../../../ports/metrics.js';
import { onClosed } from '../on-closed.js';
import type { RequestMiddleware } from '../request-state.js';

/** The status in metrics if the client left before the response. It is never sent. */
const CLIENT_GONE = 499;

/** Counts each request, with its duration, once its response was read or its client has disconnected. */
export const countRequest =
  (metrics: Pick<Metrics, 'begin' | 'request'>, log: Pick<Log, 'isLevelEnabled' | 'debug'>): RequestMiddleware =>
  (ctx, next) => {
    const begun = metrics.begin();
    onClosed(ctx, () => {
      const { req, res, state } = ctx;
      const { requestId, operationId: operation, path } = state;
      // A response that waited for an earlier one on its connection may have been made but never started.
      const isBegun = res.headersSent && (res.socket !== null || res.writableFinished);
      const status = isBegun ? res.statusCode : CLIENT_GONE;
      metrics.request(operation, status, begun);
      if (log.isLevelEnabled('debug')) log.debug({ requestId, operation, method: req.method, path, status }, 'request');
    });
    return next();
  };
