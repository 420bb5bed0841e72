import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { EmbeddedSoulArchive } from '../../src/adapters/embedded/soul-archive.js';
import { contentDigest } from '../../src/kernel/crypto/content-digest.js';
import { openEmbeddedServer } from '../support/embedded-server.js';

const by = { tenant: 'local', at: new Date('2026-01-01T00:00:00Z') };
const payload = (name: string) => Buffer.from(JSON.stringify({ name }));
const digest = (name: string) => contentDigest(payload(name));

describe('a server with an archive', () => {
  it('has public souls after a kill, drops expired ones, and keeps those that may still be uploaded', async () => {
    await using server = await openEmbeddedServer();
    await server.halt();
    const archiveOf = () => EmbeddedSoulArchive.open(join(server.dataDir, 'archive'), { error: () => undefined });
    const stopped = await archiveOf();
    for (const [name, expiresAt] of [
      ['public', new Date(0)],
      ['expired', new Date(0)],
      ['waiting', new Date(Date.UTC(9_999, 0))],
    ] as const) {
      await stopped.stage(digest(name), payload(name), { ...by, expiresAt });
    }
    await stopped.publish(digest('public'), by);

    await server.restart('kill');
    const get = (name: string) => fetch(`${server.url}/archive/${digest(name)}`);
    expect(await (await get('public')).json()).toEqual({ name: 'public' });
    expect((await get('waiting')).status).toBe(404);
    const refused = await fetch(`${server.url}/archive`, { method: 'POST', body: payload('waiting') });
    expect(refused.status).toBe(401);

    await server.halt();
    const archive = await archiveOf();
    const there = async (name: string) => (await archive.read(digest(name))) !== null;
    expect([await there('public'), await there('expired'), await there('waiting')]).toEqual([true, false, true]);
  });
});
