import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createIpfsNode } from '../../../src/adapters/archives/ipfs-node.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import type { IpfsNode } from '../../../src/ports/ipfs-node.js';
import { MAX_ARCHIVED_BYTES } from '../../../src/ports/soul-archive.js';
import { type LoopbackServer, openLoopbackServer } from '../../support/loopback-server.js';
import { ManualClock } from '../../support/manual-clock.js';

const cid = 'bafkreigs4kw7of33pkfp3w6bfuldjtzd5inhcaqpnijqqbykczaa7nup3y';
const down = { code: 'ARCHIVE_UNAVAILABLE', details: { archive: 'ipfs' } };

/** What only a simulated node does: it is slow, broken or hostile. What a real one answers is in ipfs-node.dist.test.ts. */
describe('an IPFS node', () => {
  let server: LoopbackServer;
  let node: IpfsNode;
  beforeEach(async () => {
    server = await openLoopbackServer();
    node = createIpfsNode(server.url, { clock: systemClock });
  });
  afterEach(() => server[Symbol.asyncDispose]());

  it('is asked by POST for what the options say, and given the bytes as a file', async () => {
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
  ])('that answers %s to a file has not taken it', async (_, status, body) => {
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
  ])('gives the bytes of a file, and nothing where it says: %s', async (said) => {
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
  ])('that fails for %s cannot be asked, rather than having nothing', async (_, body) => {
    server.answer((_request, response) => response.writeHead(500).end(body));
    await expect(node.fetch(cid)).rejects.toMatchObject(down);
  });

  it('that sends more than an archive holds has something too large', async () => {
    server.answer((_, response) => response.end(Buffer.alloc(MAX_ARCHIVED_BYTES + 1)));
    expect(await node.fetch(cid)).toBe('too_large');
  });

  it('is down when nobody listens, or the connection breaks', async () => {
    server.answer((_, response) => response.destroy());
    await expect(node.ping()).rejects.toMatchObject(down);
    await expect(node.fetch(cid)).rejects.toMatchObject(down);
    server.answer((_, response) => response.writeHead(403).end());
    await expect(node.ping()).rejects.toMatchObject(down);
    await expect(node.fetch(cid)).rejects.toMatchObject(down);
    await server[Symbol.asyncDispose]();
    await expect(node.ping()).rejects.toMatchObject(down);
  });

  it.each(['ping', 'fetch', 'add'] as const)('that stays silent is down for %s', async (call) => {
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

  it('is let go with the reason of who asks', async () => {
    server.answer(() => undefined);
    const stop = new AbortController();
    const asked = node.fetch(cid, stop.signal);
    await expect.poll(() => server.seen.length).toBe(1);
    stop.abort(new Error('nobody waits'));
    await expect(asked).rejects.toThrow('nobody waits');
  });
});
