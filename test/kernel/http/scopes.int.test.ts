import { expect, it } from 'vitest';

import { openEmbeddedServer } from '../../support/embedded-server.js';

/** For each scope, the prefixes of its paths; the longest match counts. */
const scopeOf = (method: string, path: string): string | undefined => {
  if (/^\/(status|livez|readyz|openapi\.json|docs|\.well-known|archive)(\/|$)/.test(path)) return undefined;
  if (path === '/') return undefined;
  if (/^\/(keys|tenants)(\/|$)/.test(path)) return 'admin';
  if (path === '/metrics' || path.endsWith('/memory/retract')) return 'ops';
  if (/\/(chain-breaks|checkpoints)$/.test(path) && method === 'post') return 'ops';
  if (/^\/(v1\/)?ghost\/|^\/levels/.test(path)) return 'ghosts';
  if (/\/(history|state|turns|events|why|replays|lineage|coverage|chain-breaks)(\/|$)/.test(path)) return 'audit';
  if (/^\/search$|\/audit\//.test(path)) return 'audit';
  if (/\/memory(\/|$)/.test(path)) return 'memory';
  if (/^\/rules/.test(path)) return 'rules';
  if (/\/(soul|souls|import|custody)(\/|$)/.test(path)) return 'souls';
  return 'npc';
};

it('Each route needs the scope of its subject, in OpenAPI and on the server [11.4g]', async () => {
  await using server = await openEmbeddedServer();
  type Operation = { readonly 'x-scope'?: string };
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const found = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method, path, scope: operation['x-scope'] })),
  );
  expect(found).toEqual(found.map(({ method, path }) => ({ method, path, scope: scopeOf(method, path) })));
  const made = await fetch(`${server.url}/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.ownerKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'no other', scopes: ['npc'] }),
  });
  const { key } = (await made.json()) as { readonly key: string };
  for (const { method, path, scope } of found) {
    if (scope === undefined || scope === 'npc' || path === '/metrics') continue;
    const url = `${server.url}${path.replaceAll(/\{[^}]*\}/g, '1')}`;
    const { status } = await fetch(url, {
      method: method.toUpperCase(),
      headers: { authorization: `Bearer ${key}`, ...(method === 'get' ? {} : { 'content-type': 'application/json' }) },
      ...(method === 'post' || method === 'put' ? { body: '{}' } : {}),
    });
    expect([method, path, status]).toEqual([method, path, 403]);
  }
});
