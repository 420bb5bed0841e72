import { Semaphore } from '../../concurrency/semaphore.js';
import { DEFAULT_BODY_LIMIT } from '../guard/read-body.js';
import type { RequestMiddleware } from '../request-state.js';
import { releaseAfter } from './release.js';

/**
 * The maximum number of requests with a large body that one route of this process accepts at a time, in total and from one tenant: each may take ten
 * times its size in memory, and arrives as slowly as its client sends it.
 */
const PERMITS = 8;
const TENANT_PERMITS = 4;

/**
 * Limits the requests of a route whose body exceeds DEFAULT_BODY_LIMIT, or does not announce its length. Each holds a permit until its response is
 * made, because a streamed response may be made from the body.
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
