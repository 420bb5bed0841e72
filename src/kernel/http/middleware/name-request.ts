import type { Random } from '../../../ports/random.js';
import { createRequestIds } from '../guard/request-id.js';
import { anonymous } from '../guard/admit.js';
import type { RequestMiddleware, RequestState } from '../request-state.js';

/** The bytes of a route that does not accept a body, or accepts JSON. */
const noBytes: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

/** The body of a request that has none, or whose body was dropped. */
export const noJson: RequestState['json'] = { value: Object.freeze({}), mayHoldNull: false };

/** The raw path and query of a request target; an absolute one (as proxies send it) loses its origin. */
const splitTarget = (target: string): Pick<RequestState, 'path' | 'query'> => {
  const local = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const mark = local.indexOf('?');
  return mark === -1 ? { path: local, query: undefined } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
};

/** Creates the state of each request, and puts its id into the response. */
export const nameRequest = (random: Random): RequestMiddleware => {
  const idOf = createRequestIds(random);
  return (ctx, next) => {
    const { req } = ctx;
    const requestId = idOf(req.headers);
    const state: Omit<RequestState, 'call' | 'answer'> = {
      requestId,
      ...splitTarget(req.url ?? ''),
      operationId: 'unrouted',
      principal: anonymous,
      granted: undefined,
      json: noJson,
      bytes: noBytes,
      params: {},
      search: {},
      issues: [],
      attempt: null,
      streams: false,
      lingers: null,
    };
    ctx.state = state as RequestState;
    ctx.set('X-Request-Id', requestId);
    return next();
  };
};
