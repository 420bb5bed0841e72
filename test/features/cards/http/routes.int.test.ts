import { once } from 'node:events';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { openApi } from '../../../../src/kernel/http/openapi/document.js';
import { cardRoutes } from '../../../../src/features/cards/http/routes.js';
import { startApp, type TestApp, testPrincipal } from '../../../support/http.js';
import { MemorySoulArchive } from '../../../support/memory/soul-archive.js';
import { openMinds } from '../../../support/minds.js';
import { withCards } from '../../../../src/features/cards/card-picture.js';
import { zipOf } from '../zip-of.js';
import { v1Card } from '../domain/cards.js';
import { closeSockets, openSocket } from '../../../support/sockets.js';

const MIB = 1024 * 1024;
/** No request here reaches a mind. */
const routes = cardRoutes({ ports: {} } as never);

let app: TestApp;
beforeEach(async () => {
  const tenants = ['one', 'two', 'three'].map((tenant) => [tenant, testPrincipal({ tenant, keyId: tenant })] as const);
  app = await startApp(routes, { keys: { good: testPrincipal(), ...Object.fromEntries(tenants) } });
});
afterEach(async () => {
  closeSockets();
  await app.stop();
});
const head = (type: string, length: number, key = 'good'): string =>
  `POST /npcs/mira/card HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${type}\r\nExpect: 100-continue\r\nContent-Length: ${String(length)}\r\n\r\n`;

describe('the import of a card', () => {
  it('accepts each type up to its limit, and refuses a larger body before reading it [8.9a]', async () => {
    for (const [type, length, begun] of [
      ['application/json; charset=utf-8', MIB, true],
      ['application/json', MIB + 1, false],
      ['IMAGE/PNG', 16 * MIB, true],
      ['image/png', 16 * MIB + 1, false],
      ['application/zip', 16 * MIB, true],
      ['application/zip', 16 * MIB + 1, false],
      ['image/jpeg', 16 * MIB + 1, false],
      ['text/plain', 16 * MIB + 1, false],
    ] as const) {
      const socket = await openSocket(app.port);
      const answered = once(socket, 'data') as Promise<[Buffer]>;
      socket.write(head(type, length));
      const [first] = await answered;
      expect(first.toString().split('\r\n')[0], `${type} ${String(length)}`).toBe(
        begun ? 'HTTP/1.1 100 Continue' : 'HTTP/1.1 413 Payload Too Large',
      );
      socket.destroy();
    }
  });

  it.each(['image/png', 'application/zip', 'image/jpeg'])(
    'reads a picture by its bytes, whatever it is called: %s [8.9aa]',
    async (type) => {
      const { deps } = await openMinds();
      const imports = await startApp(
        cardRoutes({ ports: { ...deps, soulArchive: new MemorySoulArchive() }, writers: deps.writers } as never),
      );
      const post = async (body: Buffer) => {
        const { status, body: answer } = await imports.request('POST', '/npcs/mira/card', {
          body,
          headers: { 'content-type': type },
        });
        return [status, (answer as { error?: { code: string } }).error?.code ?? null];
      };
      const json = JSON.stringify(v1Card);
      const jpeg = Buffer.from('ffd8ffe0ffd9', 'hex');
      expect(await post(withCards({ chara: v1Card }))).toEqual([200, null]);
      expect(await post(zipOf([{ name: 'card.json', content: json }]))).toEqual([200, null]);
      expect(await post(Buffer.concat([jpeg, zipOf([{ name: 'card.json', content: json }])]))).toEqual([200, null]);
      expect(await post(jpeg)).toEqual([422, 'CARD_MISSING']);
      const neither = type === 'image/png' ? 'PNG_INVALID' : 'CHARX_INVALID';
      expect(await post(Buffer.from('neither'))).toEqual([422, neither]);
      await imports.stop();
    },
  );

  it('accepts no other type and no compressed body [8.9a]', async () => {
    const refused = await app.request('POST', '/npcs/mira/card', {
      body: '{}',
      headers: { 'content-type': 'text/plain' },
    });
    expect(refused).toMatchObject({
      status: 415,
      body: {
        error: {
          message: expect.stringContaining('application/json, image/png, application/zip or image/jpeg') as string,
        },
      },
    });
    const packed = await app.request('POST', '/npcs/mira/card', {
      body: '{}',
      headers: { 'content-encoding': 'gzip' },
    });
    expect(packed.status).toBe(415);
  });

  /** Connections of a tenant whose bodies never arrive. */
  const slow = async (key: string) => {
    const sockets = await Promise.all(Array.from({ length: 8 }, () => openSocket(app.port)));
    const going = sockets.map((socket) => once(socket, 'data'));
    for (const socket of sockets) socket.write(head('application/json', 2, key));
    await Promise.all(going);
    return sockets;
  };
  const ask = (key: string) => app.post('/npcs/mira/card', {}, { authorization: `Bearer ${key}` });

  it('runs at most eight times at a time per tenant: a ninth gets a retry, and other tenants are unaffected [8.9k]', async () => {
    const [first] = await slow('one');
    const refused = await ask('one');
    expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([503, 'BUSY', '1']);
    expect((await ask('two')).status).toBe(422);
    first?.destroy();
    await expect.poll(async () => (await ask('one')).status).toBe(422);
  });

  it('runs at most sixteen times at a time for all tenants [8.9k]', async () => {
    await slow('one');
    const [first] = await slow('two');
    expect((await ask('three')).body.error.code).toBe('BUSY');
    first?.destroy();
    await expect.poll(async () => (await ask('three')).status).toBe(422);
  });

  it('is refused with Retry-After when another card is imported in the meantime [8.9k]', async () => {
    const { deps } = await openMinds();
    const { writers } = deps;
    const imports = await startApp(
      cardRoutes({ ports: { ...deps, soulArchive: new MemorySoulArchive() }, writers } as never),
    );
    const take = (description: string) => imports.post('/npcs/mira/card', { ...v1Card, description });
    expect((await take('The first.')).status).toBe(200);
    const current = writers.current.bind(writers);
    // The first look is for the kept file.
    const looks = vi.spyOn(writers, 'current').mockImplementationOnce(current);
    looks.mockImplementationOnce(async (...of) => {
      const earlier = await current(...of);
      expect((await take('The second.')).status).toBe(200);
      return earlier;
    });
    const { status, body, headers } = await take('The third.');
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([409, 'CONFLICT', '1']);
    await imports.stop();
  });

  it('sends at most eight files at a time to one tenant, and frees a place when a client leaves [8.9ae]', async () => {
    const { deps } = await openMinds();
    const ports = { ...deps, soulArchive: new MemorySoulArchive(), readModels: {} };
    const files = await startApp(cardRoutes({ ports, writers: deps.writers } as never));
    // More than the buffers of a connection hold.
    const large = Buffer.concat([
      Buffer.from('ffd8ffe0ffd9', 'hex'),
      Buffer.alloc(15 * MIB),
      zipOf([{ name: 'card.json', content: JSON.stringify(v1Card) }]),
    ]);
    const sent = await files.request('POST', '/npcs/mira/card', {
      body: large,
      headers: { 'content-type': 'image/jpeg' },
    });
    expect(sent.status).toBe(200);
    const path = '/npcs/mira/card?format=file';
    const sockets = await Promise.all(Array.from({ length: 8 }, () => openSocket(files.port)));
    const begun = sockets.map((socket) => once(socket, 'readable'));
    for (const socket of sockets) socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n`);
    await Promise.all(begun);
    const refused = await files.request('GET', path);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    sockets[0]?.destroy();
    await expect.poll(async () => (await files.request('HEAD', path)).status).toBe(200);
    await expect.poll(async () => (await files.request('HEAD', path)).status).toBe(200);
    closeSockets();
    await files.stop();
  });

  it('has all of its types in the OpenAPI document, as does the export', () => {
    const { paths } = openApi(routes) as { readonly paths: Readonly<Record<string, Record<string, object>>> };
    const types = { 'application/json': {}, 'image/png': {} };
    const taken = { ...types, 'application/zip': {}, 'image/jpeg': {} };
    expect(paths['/npcs/{npcId}/card']).toMatchObject({
      post: { requestBody: { content: taken }, tags: ['NPCs', '(ext)'] },
      get: { responses: { 200: { content: taken } } },
    });
  });
});
