import { describe, expect, it } from 'vitest';

import { portRoutes } from '../../scripts/served-routes.js';
import { checkOf } from '../../src/kernel/http/guard/schema-check.js';

describe('the schemas of requests', () => {
  const routes = portRoutes();

  it('come from all routes', () => {
    expect(routes.length).toBeGreaterThan(90);
  });

  it.each(routes.map((route) => [route.operationId, route] as const))('can be compiled: %s', (_, route) => {
    const { params, query, body } = route;
    for (const schema of [params, query, body])
      if (schema !== undefined) expect(() => checkOf('body', schema)({})).not.toThrow();
  });
});
