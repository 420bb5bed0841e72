import type { RouterContext } from '@koa/router';
import Koa from 'koa';

import { createWritten } from '../read-models/written.js';
import { Rejection } from '../base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { IdempotencyStore } from '../../ports/idempotency-store.js';
import type { Log } from '../../ports/log.js';
import type { Metrics } from '../../ports/metrics.js';
import type { Random } from '../../ports/random.js';
import type { RateLimiter } from '../../ports/rate-limiter.js';
import { dispatch } from './dispatch.js';
import type { Authenticate } from './guard/admit.js';
import type { Lifecycle } from './lifecycle.js';
import { answerRefusals } from './middleware/answer-refusals.js';
import { countRequest } from './middleware/count-request.js';
import type { OnAccess } from './middleware/note-access.js';
import { nameRequest } from './middleware/name-request.js';
import type { RequestMiddleware, RequestState } from './request-state.js';
import type { RouteDefinition } from './route.js';
import { type RouteDeps, routeMiddleware } from './route-middleware.js';

type CommonDeps = {
  readonly routes: readonly RouteDefinition[];
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Log;
  readonly metrics: Metrics;
  /** Replaces the message of NOT_FOUND in a process that does not serve the routes of others. */
  readonly servesNoMore?: string;
};

export type AppDeps = CommonDeps & {
  readonly authenticate: Authenticate;
  readonly rateLimiter: RateLimiter;
  readonly idempotency: IdempotencyStore;
  readonly revisionOf: (stream: string) => Promise<number>;
  readonly lastPosition: () => Promise<number>;
  readonly onAccess?: OnAccess;
};

/** `GET, HEAD, or POST` */
const oneOf = new Intl.ListFormat('en', { type: 'disjunction' });

const refuseDoubles = (routes: readonly RouteDefinition[]): void => {
  const names = new Set<string>();
  for (const { operationId, method, path } of routes) {
    for (const name of [operationId, `${method} ${path.replace(/:\w+/g, ':')}`]) {
      if (names.has(name)) throw new Error(`two routes share ${name}`);
      names.add(name);
    }
  }
};

/** HTTP/1.1 requires it (RFC 9112, 3.2). @throws Rejection REQUEST_UNREADABLE */
const requireHost: RequestMiddleware = ({ req }, next) => {
  if (req.headers.host === undefined && req.httpVersion === '1.1')
    throw new Rejection('REQUEST_UNREADABLE', { details: { reason: 'The Host header is missing.' } });
  return next();
};

/** Runs after the router, if no route matched the request. @throws Rejection NOT_READY, NOT_FOUND, METHOD_NOT_ALLOWED */
const refuseUnrouted =
  ({ lifecycle, servesNoMore }: CommonDeps, definitions: ReadonlyMap<string, RouteDefinition>): RequestMiddleware =>
  (ctx) => {
    const { matched = [] } = ctx as Partial<RouterContext>;
    const always = matched.some(({ name }) => definitions.get(name ?? '')?.always === true);
    if (lifecycle.phase !== 'ready' && !always) throw new Rejection('NOT_READY');
    if (matched.length === 0)
      throw new Rejection('NOT_FOUND', servesNoMore === undefined ? {} : { message: servesNoMore });
    const allow = [...new Set(matched.flatMap(({ methods }) => methods))].sort();
    ctx.set('Allow', allow.join(', '));
    throw new Rejection('METHOD_NOT_ALLOWED', {
      message: `This path supports ${oneOf.format(allow)}, not ${ctx.method}.`,
      details: { allow },
    });
  };

const build = (deps: CommonDeps, keys: RouteDeps['keys']): Koa => {
  const { routes, lifecycle, clock, random, logger } = deps;
  refuseDoubles(routes);
  const definitions = new Map(routes.map((definition) => [definition.operationId, definition]));
  const app = new Koa<RequestState>();
  app.on('error', (err: unknown) => {
    logger.debug({ err }, 'A connection broke');
  });
  app.use(nameRequest(random));
  app.use(countRequest(deps));
  app.use(answerRefusals(deps, (operationId) => definitions.get(operationId)?.shortForbidden === true));
  app.use(requireHost);
  const routeDeps: RouteDeps = { lifecycle, clock, random, log: logger, keys };
  app.use(dispatch(routes.map((definition) => ({ definition, middleware: routeMiddleware(definition, routeDeps) }))));
  app.use(refuseUnrouted(deps, definitions));
  return app;
};

/** The complete application: every route behind the same guard. */
export const createApp = (deps: AppDeps): Koa =>
  build(deps, {
    authenticate: deps.authenticate,
    rateLimiter: deps.rateLimiter,
    idempotency: deps.idempotency,
    revisionOf: deps.revisionOf,
    lastPosition: deps.lastPosition,
    onAccess: deps.onAccess,
    written: createWritten(),
  });

/** Answers requests before the ports are open: the routes that always work, and 503 for everything else. */
export const createStartingApp = (deps: CommonDeps): Koa => build(deps, null);
