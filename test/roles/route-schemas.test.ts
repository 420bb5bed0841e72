import { describe, expect, it } from 'vitest';

import { checkOf } from '../../src/kernel/http/guard/schema-check.js';
import { allRoutes } from '../../src/roles/routes.js';

/** Whatever a route takes apart when it is defined. */
const anything: never = new Proxy(() => undefined, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => 'https://anima.example' : anything),
  apply: () => anything,
}) as never;

describe('the schemas of requests', () => {
  const own = { ports: anything, levels: { builtIn: [] }, soulTrust: null };
  const services = new Proxy(own, { get: (from, name) => (name in from ? from[name as keyof typeof from] : anything) });
  const routes = allRoutes(services as never, anything);

  it('are those of all routes', () => {
    expect(routes.length).toBeGreaterThan(90);
  });

  it.each(routes.map((route) => [route.operationId, route] as const))('can be compiled: %s', (_, route) => {
    const { params, query, body } = route;
    for (const schema of [params, query, body])
      if (schema !== undefined) expect(() => checkOf('body', schema)({})).not.toThrow();
  });
});
