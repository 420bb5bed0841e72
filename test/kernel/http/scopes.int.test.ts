import { expect, it } from 'vitest';

import { scopes } from '../../../src/kernel/base/scopes.js';
import { openEmbeddedServer } from '../../support/embedded-server.js';

/** For each scope, the prefixes of its paths; the longest match counts. */
const scopeOf = (method: string, path: string): string | undefined => {
  if (/^\/(status|livez|readyz|openapi\.json|schemas|docs|\.well-known|archive)(\/|$)/.test(path)) return undefined;
  if (path === '/') return undefined;
  if (path === '/signing-keys') return undefined;
  if (/^\/(keys|tenants|signing-keys)(\/|$)/.test(path)) return 'admin';
  if (path === '/metrics') return 'metrics';
  if (path.endsWith('/memory/retract')) return 'retract';
  if (path.endsWith('/chain-breaks') && method === 'post') return 'acknowledge';
  if (path.endsWith('/checkpoints') && method === 'post') return 'ops';
  if (/^\/(v1\/)?ghost\/|^\/levels/.test(path)) return 'ghosts';
  if (
    /\/(history|state|changes|turns|events|activity|why|replays|lineage|retractions|coverage|chain-breaks|prompt)(\/|$)/.test(
      path,
    )
  )
    return 'audit';
  if (path === '/audit/log/restart') return 'ops';
  if (/^\/(search|access)$|\/audit\//.test(path)) return 'audit';
  if (/\/memory(\/|$)/.test(path)) return 'memory';
  if (/\/facts$/.test(path) && method === 'post') return 'facts';
  if (path === '/player-tokens') return 'players';
  if (/^\/rules/.test(path)) return 'rules';
  if (/\/(soul|souls|import|custody)(\/|$)/.test(path)) return 'souls';
  return 'npc';
};

/** Of which `read` is enough for GET routes. */
const READABLE: readonly (string | undefined)[] = ['npc', 'memory', 'rules', 'souls', 'ghosts'];
const scopesOf = (method: string, path: string): readonly string[] | undefined => {
  const scope = scopeOf(method, path);
  if (scope === undefined) return undefined;
  // Histories name keys.
  if (method === 'get' && path === '/keys') return ['admin', 'audit'];
  return method === 'get' && READABLE.includes(scope) ? [scope, 'read'] : [scope];
};

it('Each route needs the scope of its subject, in OpenAPI and on the server, or for reading `read` [1.3b, 11.4g, 11.4j]', async () => {
  await using server = await openEmbeddedServer();
  type Operation = { readonly 'x-scopes'?: readonly string[] };
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const found = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method, path, allowing: operation['x-scopes'] })),
  );
  expect(found).toEqual(found.map(({ method, path }) => ({ method, path, allowing: scopesOf(method, path) })));
  const statusOf = async (method: string, path: string, key: string | undefined): Promise<number> => {
    const url = `${server.url}${path.replaceAll(/\{[^}]*\}/g, '1')}`;
    const { status, body } = await fetch(url, {
      method: method.toUpperCase(),
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(method === 'get' ? {} : { 'content-type': 'application/json' }),
      },
      ...(method === 'post' || method === 'put' ? { body: '{}' } : {}),
    });
    // A response that nobody reads would keep its connection, and the server from stopping.
    await body?.cancel();
    return status;
  };
  const keyWith = async (granted: readonly string[]): Promise<string> => {
    const made = await fetch(`${server.url}/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.ownerKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'not all', scopes: granted }),
    });
    return ((await made.json()) as { readonly key: string }).key;
  };
  const onlyNpc = await keyWith(['npc']);
  const allButNpc = await keyWith(scopes.filter((scope) => scope !== 'npc' && scope !== 'read'));
  const onlyRead = await keyWith(['read']);
  for (const { method, path, allowing } of found) {
    const isOpen = allowing === undefined ? `${method} ${path}` !== 'post /archive' : path === '/metrics';
    expect([method, path, (await statusOf(method, path, undefined)) !== 401]).toEqual([method, path, isOpen]);
    if (isOpen || allowing === undefined) continue;
    const key = allowing.includes('npc') ? allButNpc : onlyNpc;
    expect([method, path, await statusOf(method, path, key)]).toEqual([method, path, 403]);
    const isRead = (await statusOf(method, path, onlyRead)) !== 403;
    expect([method, path, isRead]).toEqual([method, path, allowing.includes('read')]);
  }
});
