import { gzipSync } from 'node:zlib';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Resolve } from '../../../src/adapters/archives/checked-get.js';
import { createGateway } from '../../../src/adapters/archives/gateway.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import type { GatewayAddress } from '../../../src/ports/payload-source.js';
import { MAX_ARCHIVED_BYTES } from '../../../src/ports/soul-archive.js';
import { type LoopbackServer, openLoopbackServer } from '../../support/loopback-server.js';
import { ManualClock } from '../../support/manual-clock.js';

const id = 'A'.repeat(43);
const away = { code: 'ARCHIVE_UNAVAILABLE' };
const because = (words: string) => ({ ...away, cause: { message: expect.stringContaining(words) as string } });

describe('a gateway', () => {
  let server: LoopbackServer;
  beforeEach(async () => {
    server = await openLoopbackServer();
    server.answer((_, response) => response.end('{"name":"Mira"}'));
  });
  afterEach(() => server[Symbol.asyncDispose]());

  const resolveTo =
    (...addresses: readonly string[]): Resolve =>
    () =>
      Promise.resolve(addresses);
  const of = (host: string, given: { isPrivate?: boolean; resolve?: Resolve; path?: string } = {}) => {
    const address: GatewayAddress = {
      url: `http://${host}:${String(server.port)}${given.path ?? ''}`,
      isPrivate: given.isPrivate ?? false,
    };
    return createGateway(address, { clock: systemClock, resolve: given.resolve ?? resolveTo('127.0.0.1') });
  };
  const marked = (path?: string) => of('gateway.test', { isPrivate: true, ...(path !== undefined && { path }) });
  const text = (found: Uint8Array | 'too_large' | null) =>
    found instanceof Uint8Array ? Buffer.from(found).toString() : found;

  it('returns what the server answers under its path, with its own Host header and without compression [8.5n]', async () => {
    expect(text(await marked('/archive').fetch(id))).toBe('{"name":"Mira"}');
    const [{ path, headers } = { path: '', headers: {} }] = server.seen;
    expect([path, headers.host, headers['accept-encoding']]).toEqual([
      `/archive/${id}`,
      `gateway.test:${String(server.port)}`,
      'identity',
    ]);
    expect(headers).not.toHaveProperty('authorization');
  });

  it.each([202, 400, 404, 410])('counts as not having the file when it answers %i', async (status) => {
    server.answer((_, response) => response.writeHead(status).end('nothing'));
    expect(await marked().fetch(id)).toBeNull();
  });

  it.each([403, 429, 500, 502, 206])('counts as unavailable when it answers %i', async (status) => {
    server.answer((_, response) => response.writeHead(status).end('something'));
    await expect(marked().fetch(id)).rejects.toMatchObject(because(`HTTP ${String(status)}`));
  });

  it.each([
    ['loopback', ['127.0.0.1']],
    ['a private network', ['10.0.0.1']],
    ['the metadata of a cloud', ['169.254.169.254']],
    ['loopback in IPv6', ['::1']],
    ['an IPv4 address in IPv6', ['::ffff:127.0.0.1']],
    ['one public and one private address', ['1.1.1.1', '127.0.0.1']],
    ['nothing', []],
  ])('is not contacted when its name resolves to %s [8.5o]', async (_, addresses) => {
    const named = of('gateway.test', { resolve: resolveTo(...addresses) });
    await expect(named.fetch(id)).rejects.toMatchObject(because('not on the public internet'));
    expect(server.seen).toEqual([]);
  });

  it('is not contacted at an address that is never a server, even when it is marked as private [8.5p]', async () => {
    const named = of('gateway.test', { isPrivate: true, resolve: resolveTo('169.254.169.254') });
    await expect(named.fetch(id)).rejects.toMatchObject(because('not on the public internet'));
  });

  it.each(['127.0.0.1', '127.1', '2130706433', '0x7f000001', '[::ffff:127.0.0.1]'])(
    'is not contacted at %s unless it is marked as private',
    async (host) => {
      const resolve = vi.fn<Resolve>(() => Promise.resolve(['1.1.1.1']));
      await expect(of(host, { resolve }).fetch(id)).rejects.toMatchObject(because('not on the public internet'));
      expect([server.seen, resolve.mock.calls]).toEqual([[], []]);
    },
  );

  it('is contacted at the address that was checked, and its name is resolved only once [8.5o]', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const resolve = vi.fn<Resolve>(() => Promise.resolve(answers.shift() ?? []));
    expect(text(await of('rebinding.test', { isPrivate: true, resolve }).fetch(id))).toBe('{"name":"Mira"}');
    expect(resolve.mock.calls).toEqual([['rebinding.test']]);
  });

  it.each([
    ['another host', 'http://elsewhere.test/x'],
    ['an address', 'http://127.0.0.1/x'],
    ['another port', 'http://gateway.test:1/x'],
    ['another protocol', 'https://gateway.test/x'],
    ['a name that only ends like it', 'http://evil-gateway.test/x'],
    ['a file', 'file:///etc/passwd'],
    ['what is no address', 'http://'],
  ])('is not followed to %s [8.5n, 8.5q]', async (_, location) => {
    server.answer((_request, response) => response.writeHead(302, { location }).end());
    await expect(marked().fetch(id)).rejects.toMatchObject(because('redirects to another host'));
    expect(server.seen).toHaveLength(1);
  });

  it('is followed within its own host, and only a few times [8.5q]', async () => {
    server.answer(({ path }, response) => {
      if (path === '/raw') response.end('there');
      else response.writeHead(302, { location: '/raw' }).end();
    });
    expect(text(await marked().fetch(id))).toBe('there');
    server.answer((_, response) => response.writeHead(302, { location: `/${id}` }).end());
    await expect(marked().fetch(id)).rejects.toMatchObject(because('too many times'));
    expect(server.seen).toHaveLength(2 + 4);
  });

  it('is followed to a subdomain, which the private mark does not cover', async () => {
    const location = `http://sandbox.gateway.test:${String(server.port)}/raw`;
    server.answer((_, response) => response.writeHead(302, { location }).end());
    const resolve = vi.fn<Resolve>(() => Promise.resolve(['127.0.0.1']));
    const named = of('gateway.test', { isPrivate: true, resolve });
    await expect(named.fetch(id)).rejects.toMatchObject(because('sandbox.gateway.test has an address'));
    expect(resolve.mock.calls).toEqual([['gateway.test'], ['sandbox.gateway.test']]);
    expect(server.seen).toHaveLength(1);
  });

  it('is followed to a name below localhost, which is always this machine, whatever DNS says [8.5q]', async () => {
    const location = `http://${id.toLowerCase()}.ipfs.localhost:${String(server.port)}/`;
    server.answer(({ headers }, response) => {
      if (headers.host?.includes('ipfs') === true) response.end('there');
      else response.writeHead(301, { location }).end();
    });
    const resolve = vi.fn<Resolve>(() => Promise.resolve(['1.1.1.1']));
    expect(text(await of('localhost', { isPrivate: true, resolve }).fetch(id))).toBe('there');
    await expect(of('localhost', { resolve }).fetch(id)).rejects.toMatchObject(because('not on the public'));
    expect([resolve.mock.calls, server.seen.length]).toEqual([[], 2]);
  });

  it('counts as unavailable when it compresses: nothing is inflated [8.5r]', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    server.answer((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    await expect(marked().fetch(id)).rejects.toMatchObject(because('compressed'));
  });

  it('is refused when it announces or sends more than an archive may hold [8.5r]', async () => {
    expect(MAX_ARCHIVED_BYTES).toBe(16 * 1024 * 1024);
    server.answer((_, response) => response.writeHead(200, { 'content-length': MAX_ARCHIVED_BYTES + 1 }).write('{'));
    expect(await marked().fetch(id)).toBe('too_large');
    let sent = 0;
    server.answer((_, response) => {
      const piece = Buffer.alloc(1024 * 1024);
      const more = (): void => {
        if (response.destroyed) return;
        sent += 1;
        response.write(piece, () => setImmediate(more));
      };
      more();
    });
    expect(await marked().fetch(id)).toBe('too_large');
    expect(sent).toBeLessThan(64);
  });

  it('returns a payload of the largest size, and rejects one that breaks off', async () => {
    server.answer((_, response) => response.end(Buffer.alloc(MAX_ARCHIVED_BYTES, 7)));
    expect(await marked().fetch(id)).toHaveLength(MAX_ARCHIVED_BYTES);
    server.answer((_, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('half');
      setTimeout(() => response.destroy(), 20);
    });
    await expect(marked().fetch(id)).rejects.toMatchObject(away);
  });

  it.each([
    ['begins no answer', 4_000, false],
    ['never ends its answer', 8_000, true],
  ])('that %s is given up after %i ms [8.5r]', async (_, ms, begins) => {
    const clock = new ManualClock();
    server.answer((_request, response) => {
      if (begins) response.writeHead(200).write('{');
    });
    const address = { url: `http://gateway.test:${String(server.port)}`, isPrivate: true };
    const asked = createGateway(address, { clock, resolve: resolveTo('127.0.0.1') }).fetch(id);
    const ended = expect(asked).rejects.toMatchObject(because('did not respond in time'));
    let isOver = false;
    void asked.catch(() => (isOver = true));
    await expect.poll(() => server.seen.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await clock.advance(ms - 1);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await ended;
  });

  it('counts as unavailable when its name does not resolve or it refuses connections', async () => {
    const lost = of('gateway.test', { resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    await expect(lost.fetch(id)).rejects.toMatchObject(because('ENOTFOUND'));
    const closed = marked();
    await server[Symbol.asyncDispose]();
    await expect(closed.fetch(id)).rejects.toMatchObject(away);
  });

  it('is retried only after a pause if it was unreachable, and immediately if its answer was bad [8.5l]', async () => {
    const clock = new ManualClock();
    const found: (readonly string[])[] = [[], ['127.0.0.1']];
    const resolve = vi.fn<Resolve>(() => Promise.resolve(found.shift() ?? ['127.0.0.1']));
    const address = { url: `http://gateway.test:${String(server.port)}`, isPrivate: true };
    const gateway = createGateway(address, { clock, resolve });
    for (let asks = 0; asks < 3; asks += 1) await expect(gateway.fetch(id)).rejects.toMatchObject(away);
    await clock.advance(4_999);
    await expect(gateway.fetch('B'.repeat(43))).rejects.toMatchObject(because('not on the public internet'));
    expect(resolve).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    expect(text(await gateway.fetch(id))).toBe('{"name":"Mira"}');
    server.answer((_, response) => response.destroy());
    for (let asks = 0; asks < 2; asks += 1) await expect(gateway.fetch(id)).rejects.toMatchObject(away);
    expect(server.seen).toHaveLength(3);
  });

  it.each([
    ['is asked', 499],
    ['is not asked', 500],
  ])('that one caller could not reach %s for another id when that caller left after %i ms', async (outcome, ms) => {
    const clock = new ManualClock();
    const resolve = vi
      .fn<Resolve>(() => Promise.resolve(['127.0.0.1']))
      .mockReturnValueOnce(new Promise(() => undefined));
    const address = { url: `http://gateway.test:${String(server.port)}`, isPrivate: true };
    const gateway = createGateway(address, { clock, resolve });
    const stop = new AbortController();
    const left = expect(gateway.fetch(id, stop.signal)).rejects.toThrow('time is up');
    await clock.advance(ms);
    stop.abort(new Error('time is up'));
    await left;
    const next = gateway.fetch('B'.repeat(43));
    if (outcome === 'is asked') expect(text(await next)).toBe('{"name":"Mira"}');
    else await expect(next).rejects.toMatchObject(away);
  });
});
