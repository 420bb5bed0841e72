import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it, vi } from 'vitest';

import { apiOf } from '../../../support/api.js';
import { openNamespace } from '../../../support/distributed-server.js';
import { typed } from '../../../cli/typed.js';

/** The longest time until a server accepts a key that another program made, in milliseconds; far above the actual time. */
const KNOWN_WITHIN_MS = 10_000;

describe('anima keys bootstrap', () => {
  it('makes the first owner key without a server, and reports if one was made before [11.2c]', async () => {
    await using namespace = await openNamespace();
    const file = await readFile(join(namespace.dataDir, 'owner-key'), 'utf8');
    expect(file).toBe(`${namespace.ownerKey}\n`);
    const again = await typed(['keys', 'bootstrap', '--json'], { env: { ...namespace.settings } });
    expect([again.code, JSON.parse(again.stdout), again.stderr]).toEqual([0, { made: false }, '']);
    expect(await readFile(join(namespace.dataDir, 'owner-key'), 'utf8')).toBe(file);
    const { url } = await namespace.start('http');
    expect((await apiOf(url, namespace.ownerKey).get('/keys')).status).toBe(200);
  }, 120_000);
});

describe('a key that one server revokes', () => {
  it('is refused by the others within a second [11.4e]', async () => {
    await using namespace = await openNamespace();
    const servers = [await namespace.start('http'), await namespace.start('http')] as const;
    const [here, there] = servers.map(({ url }) => apiOf(url, namespace.ownerKey)) as [
      ReturnType<typeof apiOf>,
      ReturnType<typeof apiOf>,
    ];
    const made = await here.post('/keys', { name: 'game' });
    const { key, keyId } = made.body as { readonly key: string; readonly keyId: string };
    const statusThere = async (): Promise<number> => (await apiOf(servers[1].url, key).get('/npcs')).status;
    await expect.poll(statusThere, { timeout: KNOWN_WITHIN_MS }).toBe(200);
    expect((await here('DELETE', `/keys/${keyId}`)).status).toBe(204);
    await expect.poll(statusThere, { timeout: 1_000, interval: 20 }).toBe(401);
    expect((await there('DELETE', `/keys/${keyId}`)).status).toBe(404);
  }, 120_000);
});

describe('anima keys recover with running servers', () => {
  it('makes owner keys that work on the servers, for local and for a tenant whose first key was never seen [11.3f]', async () => {
    await using namespace = await openNamespace();
    const { url } = await namespace.start('http');
    const answer = await apiOf(url, namespace.ownerKey).post('/tenants', { tenantId: 'studio-b' });
    expect(answer.status).toBe(201);
    const file = join(namespace.dataDir, 'owner-key');
    await rm(file);

    const recover = (...words: string[]) => typed(['keys', 'recover', ...words], { env: { ...namespace.settings } });
    const opens = async (key: string): Promise<readonly string[]> => {
      const { status, body } = await apiOf(url, key).get('/keys');
      if (status !== 200) throw new Error(`the key is not known yet: ${String(status)}`);
      return (body as readonly { readonly keyId: string }[]).map(({ keyId }) => keyId);
    };

    const studio = await recover('--tenant', 'studio-b', '--json');
    expect([studio.code, studio.stderr]).toEqual([0, '']);
    const { key, ...rest } = JSON.parse(studio.stdout) as { readonly key: string };
    expect(rest).toEqual({ tenantId: 'studio-b', path: null });
    const lost = (answer.body as { readonly keyId: string }).keyId;
    await vi.waitFor(async () => expect(await opens(key)).toContain(lost), KNOWN_WITHIN_MS);
    expect((await apiOf(url, key)('DELETE', `/keys/${lost}`)).status).toBe(204);

    const local = await recover();
    expect([local.code, local.stderr]).toEqual([0, expect.stringContaining('It is also in')]);
    expect(await readFile(file, 'utf8')).toBe(local.stdout);
    await vi.waitFor(() => opens(local.stdout.trim()), KNOWN_WITHIN_MS);

    const stranger = await recover('--tenant', 'nobody');
    expect([stranger.code, stranger.stderr]).toEqual([1, expect.stringContaining('No tenant "nobody"')]);
  }, 120_000);
});
