import type { RouterContext } from '@koa/router';
import Koa, { type Context } from 'koa';

import { createWritten } from '../app/read-models/written.js';
import { Rejection } from '../domain/shared/rejection.js';
import type { Clock } from '../ports/clock.js';
import type { IdempotencyStore } from '../ports/idempotency-store.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import type { Random } from '../ports/random.js';
import type { RateLimiter } from '../ports/rate-limiter.js';
import { createDispatch } from './dispatch.js';
import { attachExchange, type Exchange } from './exchange.js';
import type { Authenticate } from './guard/admit.js';
import { ClientGone } from './guard/read-body.js';
import { linger } from './guard/unread-body.js';
import { createRequestIds } from './guard/request-id.js';
import type { Lifecycle } from './lifecycle.js';
import { refusalOf, toRejection } from './on-error.js';
import { compilePipeline, type PipelineDeps } from './pipeline.js';
import { sendJson } from './respond.js';
import { createRetryPacing } from './retry-pacing.js';
import type { RouteDefinition } from './route.js';

type CommonDeps = {
  readonly routes: readonly RouteDefinition[];
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Log;
  readonly metrics: Metrics;
  /** Said where no route is, in place of the usual words: this process does not serve what others do. */
  readonly servesNoMore?: string;
};

export type AppDeps = CommonDeps & {
  readonly authenticate: Authenticate;
  readonly rateLimiter: RateLimiter;
  readonly idempotency: IdempotencyStore;
  readonly revisionOf: (stream: string) => Promise<number>;
};

const UNROUTED = 'unrouted';
/** What a request counts as whose client left before its answer; nobody is sent this status. */
const CLIENT_GONE = 499;
/** `GET, HEAD, or POST` */
const oneOf = new Intl.ListFormat('en', { type: 'disjunction' });

/** The raw path and query of a request target; an absolute one (as proxies send it) loses its origin. */
const splitTarget = (target: string): { readonly path: string; readonly query: string | undefined } => {
  const local = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const mark = local.indexOf('?');
  return mark === -1 ? { path: local, query: undefined } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
};

const refuseDoubles = (routes: readonly RouteDefinition[]): void => {
  const names = new Set<string>();
  for (const { operationId, method, path } of routes) {
    for (const name of [operationId, `${method} ${path.replace(/:\w+/g, ':')}`]) {
      if (names.has(name)) throw new Error(`two routes share ${name}`);
      names.add(name);
    }
  }
};

const build = (deps: CommonDeps, keys: PipelineDeps['keys']): Koa => {
  const { lifecycle, logger, metrics } = deps;
  refuseDoubles(deps.routes);
  const definitions = new Map(deps.routes.map((definition) => [definition.operationId, definition]));
  const pipelineDeps: PipelineDeps = { lifecycle, clock: deps.clock, random: deps.random, log: logger, keys };
  const dispatch = createDispatch(
    deps.routes.map((definition) => ({ definition, run: compilePipeline(definition, pipelineDeps) })),
  );

  const pacing = createRetryPacing(deps);

  /** Runs after the router: no route took the request. */
  const refuseUnrouted = (ctx: Context, headers: Record<string, string>): never => {
    const matched = (ctx as unknown as Partial<RouterContext>).matched ?? [];
    const always = matched.some(({ name }) => definitions.get(name ?? '')?.always === true);
    if (lifecycle.phase !== 'ready' && !always) throw new Rejection('NOT_READY');
    if (matched.length === 0)
      throw new Rejection('NOT_FOUND', deps.servesNoMore === undefined ? {} : { message: deps.servesNoMore });
    const allow = [...new Set(matched.flatMap(({ methods }) => methods))].sort();
    headers['Allow'] = allow.join(', ');
    throw new Rejection('METHOD_NOT_ALLOWED', {
      message: `This path accepts ${oneOf.format(allow)}, not ${ctx.method}.`,
      details: { allow },
    });
  };

  const refuse = (ctx: Context, exchange: Exchange, thrown: unknown): void => {
    if (thrown instanceof ClientGone) {
      // A request that was refused outside Koa may still be sending, and nothing else would notice its end.
      linger(ctx.req, () => ctx.res.destroy());
      return;
    }
    const { requestId, operationId } = exchange;
    const rejection = toRejection(thrown, logger, { requestId, operation: operationId });
    const refusal = refusalOf(rejection, requestId, definitions.get(operationId)?.shortForbidden === true);
    Object.assign(exchange.headers, refusal.headers);
    if (refusal.status === 503) {
      const seconds = Number(refusal.headers['Retry-After']);
      exchange.headers['Retry-After'] = String(pacing.stretched(seconds, rejection.retrySpread));
    }
    if (ctx.res.headersSent) ctx.res.destroy();
    else sendJson(ctx, refusal.status, exchange.headers, refusal.body);
  };

  const nameRequest = createRequestIds(deps.random);
  const app = new Koa();
  app.on('error', (err: unknown) => {
    logger.debug({ err }, 'a connection broke');
  });
  app.use(async (ctx, next) => {
    const { req, res } = ctx;
    const requestId = nameRequest(req.headers);
    const headers: Record<string, string> = { 'X-Request-Id': requestId };
    const { path, query } = splitTarget(req.url ?? '');
    const exchange: Exchange = { requestId, operationId: UNROUTED, path, query, headers, begun: metrics.begin() };
    attachExchange(ctx, exchange);
    ctx.respond = false;
    try {
      if (req.headers.host === undefined && req.httpVersion === '1.1') {
        throw new Rejection('REQUEST_UNREADABLE', { details: { reason: 'The Host header is missing.' } });
      }
      await dispatch(ctx, path, next);
    } catch (thrown) {
      refuse(ctx, exchange, thrown);
    }
    metrics.request(exchange.operationId, res.headersSent ? res.statusCode : CLIENT_GONE, exchange.begun);
    if (logger.isLevelEnabled('debug')) {
      logger.debug(
        { requestId, operation: exchange.operationId, method: req.method, path, status: res.statusCode },
        'request',
      );
    }
  });
  app.use((ctx) => refuseUnrouted(ctx, (ctx.state['exchange'] as Exchange).headers));
  return app;
};

/** The whole application: every route behind the same guard (contract 1). */
export const createApp = (deps: AppDeps): Koa =>
  build(deps, {
    authenticate: deps.authenticate,
    rateLimiter: deps.rateLimiter,
    idempotency: deps.idempotency,
    revisionOf: deps.revisionOf,
    written: createWritten(),
  });

/** What answers before the ports are open: routes that work always, and 503 for everything else (contract 11.3). */
export const createStartingApp = (deps: CommonDeps): Koa => build(deps, null);
