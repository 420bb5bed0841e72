import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createIpfsNode } from '../../../src/adapters/archives/ipfs-node.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import type { IpfsNode } from '../../../src/ports/ipfs-node.js';
import { MAX_ARCHIVED_BYTES } from '../../../src/ports/soul-archive.js';
import { type LoopbackServer, openLoopbackServer } from '../../support/loopback-server.js';
import { ManualClock } from '../../support/manual-clock.js';

const cid = 'bafkreigs4kw7of33pkfp3w6bfuldjtzd5inhcaqpnijqqbykczaa7nup3y';
const down = { code: 'ARCHIVE_UNAVAILABLE', details: { archive: 'ipfs' } };

/** What only a simulated node can show: slow, broken and hostile answers. For a real node see ipfs-node.dist.test.ts. */
describe('an IPFS node', () => {
  let server: LoopbackServer;
  let node: IpfsNode;
  beforeEach(async () => {
    server = await openLoopbackServer();
    node = createIpfsNode(server.url, { clock: systemClock });
  });
  afterEach(() => server[Symbol.asyncDispose]());

  it('gets the configured options and the bytes as a file, by POST [7.2g]', async () => {
    server.answer((_, response) => response.end(`{"Name":"x","Bytes":1}\n{"Name":"x","Hash":"${cid}","Size":"3"}\n`));
    expect(await node.add(Buffer.from('abc'))).toBe(cid);
    const [request] = server.seen;
    const { pathname, searchParams } = new URL(request?.path ?? '', server.url);
    expect([request?.method, pathname]).toEqual(['POST', '/api/v0/add']);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      'cid-version': '1',
      'raw-leaves': 'true',
      chunker: 'size-262144',
      pin: 'true',
    });
    expect(request?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(request?.body.toString()).toContain('\r\n\r\nabc\r\n');
  });

  it.each([
    ['an error', 500, '{"Message":"no space","Code":0,"Type":"error"}'],
    ['no CID', 200, '{"Name":"x"}'],
    ['no JSON', 200, '<html>'],
    ['nothing', 200, ''],
    ['an error after the headers', 200, '{"Message":"no space","Code":0,"Type":"error"}'],
    ['more than a line or two', 200, ' '.repeat(100_000)],
    ['a redirect', 302, ''],
  ])('counts as failed when it answers %s to an upload', async (_, status, body) => {
    server.answer((_request, response) =>
      response.writeHead(status, { location: `${server.url}/elsewhere` }).end(body),
    );
    await expect(node.add(Buffer.from('abc'))).rejects.toMatchObject(down);
    expect(server.seen.map(({ path }) => path.split('?')[0])).toEqual(['/api/v0/add']);
  });

  it.each([
    'block was not found locally (offline): ipld: could not find bafkrei',
    'ipld: could not find bafkrei',
    'merkledag: not found',
    'this dag node is a directory',
    'protobuf: (PBNode) invalid wireType, expected 2, got 6',
  ])('returns the bytes of a file, and null when the node answers: %s', async (said) => {
    server.answer(({ path }, response) => {
      if (path.includes(cid)) response.end('abc');
      else response.writeHead(500).end(`{"Message":"${said}","Code":0,"Type":"error"}`);
    });
    expect(await node.fetch(cid)).toEqual(Buffer.from('abc'));
    expect(await node.fetch('bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku')).toBeNull();
  });

  it.each([
    ['a reason of its own', '{"Message":"open blocks/X7/CIQ.data: permission denied","Code":0,"Type":"error"}'],
    ['the time that it has', '{"Message":"context deadline exceeded","Code":0,"Type":"error"}'],
    ['no reason', '{"Message":7}'],
    ['no JSON', 'merkledag: not found'],
    ['nothing', ''],
  ])('counts as unavailable, not as empty, when it fails with %s', async (_, body) => {
    server.answer((_request, response) => response.writeHead(500).end(body));
    await expect(node.fetch(cid)).rejects.toMatchObject(down);
  });

  it('is refused as too large when it sends more than an archive may hold', async () => {
    server.answer((_, response) => response.end(Buffer.alloc(MAX_ARCHIVED_BYTES + 1)));
    expect(await node.fetch(cid)).toBe('too_large');
  });

  it('counts as down when it refuses connections or the connection breaks', async () => {
    server.answer((_, response) => response.destroy());
    await expect(node.ping()).rejects.toMatchObject(down);
    await expect(node.fetch(cid)).rejects.toMatchObject(down);
    server.answer((_, response) => response.writeHead(403).end());
    await expect(node.ping()).rejects.toMatchObject(down);
    await expect(node.fetch(cid)).rejects.toMatchObject(down);
    await server[Symbol.asyncDispose]();
    await expect(node.ping()).rejects.toMatchObject(down);
  });

  it.each(['ping', 'fetch', 'add'] as const)('counts as down when it does not answer %s', async (call) => {
    const clock = new ManualClock();
    const silent = createIpfsNode(server.url, { clock });
    server.answer(() => undefined);
    const calls = {
      ping: () => silent.ping(),
      fetch: () => silent.fetch(cid),
      add: () => silent.add(Buffer.from('abc')),
    };
    const asked = calls[call]();
    const ended = expect(asked).rejects.toMatchObject(down);
    await expect.poll(() => server.seen.length).toBe(1);
    await clock.advance(50_000);
    await ended;
  });

  it('is cancelled with the reason of the caller', async () => {
    server.answer(() => undefined);
    const stop = new AbortController();
    const asked = node.fetch(cid, stop.signal);
    await expect.poll(() => server.seen.length).toBe(1);
    stop.abort(new Error('nobody waits'));
    await expect(asked).rejects.toThrow('nobody waits');
  });
});
