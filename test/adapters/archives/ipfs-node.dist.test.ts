import { randomBytes } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { createGateway } from '../../../src/adapters/archives/gateway.js';
import { createIpfsNode } from '../../../src/adapters/archives/ipfs-node.js';
import { systemClock as clock } from '../../../src/adapters/system/clock.js';
import { inSlices } from '../../../src/kernel/concurrency/in-slices.js';
import { jcs, type JsonObject } from '../../../src/kernel/base/json.js';
import { ipfsCid } from '../../../src/kernel/crypto/ipfs-cid.js';
import { MAX_ARCHIVED_BYTES } from '../../../src/ports/soul-archive.js';
import { apiOf } from '../../support/api.js';
import { openEmbeddedServer } from '../../support/embedded-server.js';
import { ipfsOfRun } from '../../support/ipfs.js';
import { openServers } from '../../support/own-servers.js';

const ipfs = ipfsOfRun();
const rpc = (command: string, arg: string): Promise<Response> =>
  fetch(`${ipfs?.api ?? ''}/api/v0/${command}?arg=${arg}`, { method: 'POST' });
const noGate = { resolve: () => Promise.reject(new Error('an address needs no name')) };

/** The same as the node of `npm run servers`: Kubo. */
describe.skipIf(ipfs === null)('a real IPFS node', () => {
  const node = createIpfsNode(ipfs?.api ?? '', { clock });
  const gateway = createGateway({ url: ipfs?.gateway ?? '', isPrivate: true }, { clock, ...noGate });

  it.each([0, 1, 262_143, 262_144, 262_145, 524_288, 524_289, 5_000_000, MAX_ARCHIVED_BYTES])(
    'gives a file of %i bytes the CID that we compute, pins it, and returns it, as does its gateway',
    async (length) => {
      const bytes = randomBytes(length);
      const cid = await inSlices(ipfsCid(bytes));
      expect(await node.add(bytes)).toBe(cid);
      expect(await node.add(bytes)).toBe(cid);
      expect(await (await rpc('pin/ls', cid)).json()).toEqual({ Keys: { [cid]: { Type: 'recursive', Name: '' } } });
      for (const source of [node, gateway]) {
        expect(Buffer.from((await source.fetch(cid)) ?? 'nothing').equals(bytes)).toBe(true);
      }
    },
  );

  it('answers that it has nothing for a CID that was never added, or that is a directory', async () => {
    await node.ping();
    expect(await node.fetch(await inSlices(ipfsCid(randomBytes(100))))).toBeNull();
    const { Hash: directory } = (await (await rpc('files/stat', '/')).json()) as { Hash: string };
    const { Formatted: cid } = (await (await rpc('cid/format', `${directory}&v=1&b=base32`)).json()) as {
      Formatted: string;
    };
    expect((await rpc('cat', cid)).status).toBe(500);
    expect(await node.fetch(cid)).toBeNull();
  });

  it('has a gateway that redirects to a name below localhost for each file, and is followed there', async () => {
    const bytes = randomBytes(300_000);
    const cid = await node.add(bytes);
    const url = (ipfs?.gateway ?? '').replace('127.0.0.1', 'localhost');
    expect((await fetch(`${url}/${cid}`, { redirect: 'manual' })).headers.get('location')).toContain('ipfs.localhost');
    const local = createGateway({ url, isPrivate: true }, { clock, ...noGate });
    expect(Buffer.from((await local.fetch(cid)) ?? 'nothing').equals(bytes)).toBe(true);
  });

  it.each(['json', 'binary'])('stores what a server exports as %s, and serves it to a server', async (format) => {
    await using server = await openEmbeddedServer({ IPFS_API_URL: ipfs?.api ?? '' });
    const api = apiOf(server.url, server.ownerKey);
    expect((await api.post('/npcs', { npcId: 'mira', persona: `Mira ${randomBytes(8).toString('hex')}` })).status).toBe(
      200,
    );
    const { cid } = (await api.post('/v1/agents/mira/soul/export', { format, storage: 'ipfs' })).body as {
      cid: string;
    };
    const kept = Buffer.from(await (await fetch(`${server.url}/archive/${cid}`)).arrayBuffer());
    expect(Buffer.from((await node.fetch(cid)) ?? 'nothing').equals(kept)).toBe(true);

    await using other = await openEmbeddedServer({ IPFS_API_URL: ipfs?.api ?? '' });
    const elsewhere = apiOf(other.url, other.ownerKey);
    expect((await elsewhere.post(`/souls/${cid}/verify`)).body).toMatchObject({ valid: true, signer: 'unknown' });
    const unknown = await inSlices(ipfsCid(Buffer.from(jcs({ nobody: cid } satisfies JsonObject))));
    expect((await elsewhere.post(`/souls/${unknown}/verify`)).status).toBe(404);
  });

  it('does not delay other exports after it was killed, and stores souls again once it is back', async () => {
    await using servers = await openServers('ipfs');
    await using server = await openEmbeddedServer({ IPFS_API_URL: servers.env['IPFS_API_URL'] ?? '' });
    const api = apiOf(server.url, server.ownerKey);
    expect((await api.post('/npcs', { npcId: 'mira' })).status).toBe(200);
    const asked = (storage: string) => api.post('/v1/agents/mira/soul/export', { storage });
    const first = (await asked('ipfs')).body as { cid: string };
    await servers.kill('ipfs');
    expect([(await asked('ipfs')).status, (await asked('local')).status]).toEqual([503, 200]);
    expect((await fetch(`${server.url}/archive/${first.cid}`)).status).toBe(200);
    await servers.restart('ipfs');
    expect((await asked('ipfs')).status).toBe(200);
    const own = createIpfsNode(servers.env['IPFS_API_URL'] ?? '', { clock });
    expect(await own.fetch(first.cid)).not.toBeNull();
  });
});
