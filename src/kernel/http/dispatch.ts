import { Router, type RouterMiddleware } from '@koa/router';
import compose from 'koa-compose';

import type { RequestMiddleware, RequestState } from './request-state.js';
import type { RouteDefinition } from './route.js';

export type Dispatched = { readonly definition: RouteDefinition; readonly middleware: readonly RequestMiddleware[] };

const isEndless = ({ responses }: RouteDefinition): boolean =>
  Object.values(responses).some(({ stream }) => stream === 'endless');

/** The properties that all paths of one router share: the first segment and the number of segments. */
const shapeOf = (path: string): string => {
  let segments = 0;
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) segments += 1;
  const end = path.indexOf('/', 1);
  return `${segments}${end === -1 ? path : path.slice(0, end)}`;
};

/**
 * Finds the route of a raw path. The router tries its routes one after the other. Over the whole list that costs more than everything else before the
 * handler, so there is one router for each shape of path, with a handful of routes.
 */
export const dispatch = (routes: readonly Dispatched[]): RequestMiddleware => {
  const routers = new Map<string, Router<RequestState>>();
  for (const { definition, middleware } of routes) {
    if (/^\/:|[*{}]/.test(definition.path)) throw new Error(`${definition.path} does not begin with a fixed segment`);
    const shape = shapeOf(definition.path);
    const router =
      routers.get(shape) ?? new Router<RequestState>({ strict: true, sensitive: true, exclusive: 'specificity' });
    routers.set(shape, router);
    const layer = router.register(
      definition.path,
      [definition.method],
      // Composed once, because the router composes its middleware for each request.
      compose([...middleware]) as RouterMiddleware<RequestState>,
      { name: definition.operationId },
    );
    // The router answers HEAD wherever it answers GET; an endless stream would keep the connection open without ever sending anything.
    if (isEndless(definition)) layer.methods = layer.methods.filter((method) => method !== 'HEAD');
  }
  const byShape = new Map(Array.from(routers, ([shape, router]) => [shape, router.routes()] as const));
  return (ctx, next) => {
    const { path } = ctx.state;
    // The router prefers this to Koa's path, which is parsed a second time and normalised.
    ctx['newRouterPath'] = path;
    const route = byShape.get(shapeOf(path));
    return route === undefined ? next() : (route(ctx as never, next) as Promise<void>);
  };
};
