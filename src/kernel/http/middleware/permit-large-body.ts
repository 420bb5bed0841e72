import { Semaphore } from '../../concurrency/semaphore.js';
import { DEFAULT_BODY_LIMIT } from '../guard/read-body.js';
import type { RequestMiddleware } from '../request-state.js';
import { releaseAfter } from './release.js';

/**
 * How many requests with a large body one route has at once in this process, and of one tenant: each may take ten times as much memory as its bytes, and
 * comes as slowly as its client likes.
 */
const PERMITS = 8;
const TENANT_PERMITS = 4;

/**
 * Bounds the requests of a route whose body is beyond DEFAULT_BODY_LIMIT, or whose length is not said. Each has its permit until
 * its answer is made; one in pieces may be made from the body.
 * @throws Rejection BUSY
 */
export const permitLargeBody = (): RequestMiddleware => {
  const permits = new Semaphore(PERMITS, TENANT_PERMITS);
  return (ctx, next) => {
    const { headers } = ctx.req;
    const length = headers['content-length'];
    const isLarge =
      length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > DEFAULT_BODY_LIMIT;
    if (!isLarge) return next();
    return releaseAfter(ctx, next, permits.acquire(ctx.state.principal.tenant));
  };
};
