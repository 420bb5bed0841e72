import { createLifecycle } from '../src/kernel/http/lifecycle.js';
import { openApi } from '../src/kernel/http/openapi/document.js';
import type { RouteDefinition } from '../src/kernel/http/route.js';
import { statusRoutes } from '../src/kernel/http/status.js';
import { allRoutes } from '../src/roles/routes.js';
import type { OpenApiDocument } from './route-pages.js';

/** A substitute for every service: the definition of a route may destructure it and call it, but no handler runs here. */
const anything: never = new Proxy(() => undefined, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => 'https://anima.example' : anything),
  apply: () => anything,
}) as never;

const services = new Proxy(
  { ports: anything, levels: { builtIn: [] }, soulTrust: null },
  { get: (own, name) => (name in own ? own[name as keyof typeof own] : anything) },
);

/** The routes that need the ports. */
export const portRoutes = (): readonly RouteDefinition[] => allRoutes(services as never, anything, anything);

/** Every route that a server has, in the order in which it serves them. */
export const servedRoutes = (): readonly RouteDefinition[] => [
  ...portRoutes(),
  ...statusRoutes({
    lifecycle: createLifecycle(),
    metrics: anything,
    dependencies: () => ({}),
    allRoutes: () => [],
  }),
];

/** The OpenAPI document of all routes, as a client gets it. */
export const servedDocument = (): OpenApiDocument =>
  JSON.parse(JSON.stringify(openApi(servedRoutes()))) as OpenApiDocument;
