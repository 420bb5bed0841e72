import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';

import { CompactSign } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { MemorySoulArchive } from '../../../support/memory/soul-archive.js';
import { yieldToEventLoop } from '../../../../src/kernel/concurrency/yield-to-event-loop.js';
import {
  type ArchiveGrant,
  ARCHIVE_GRANT_TYPE,
  issueArchiveGrant,
} from '../../../../src/features/souls/archive-grant.js';
import { contentDigest } from '../../../../src/kernel/crypto/content-digest.js';
import { jcs, type Json } from '../../../../src/kernel/base/json.js';
import { openApi } from '../../../../src/kernel/http/openapi/document.js';
import { archiveRoutes, SHOWN_PAYLOADS } from '../../../../src/features/souls/http/archive.js';
import { gate } from '../../../support/gate.js';
import { startApp, type TestApp } from '../../../support/http.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { settle } from '../../../support/settle.js';
import { closeSockets, heard, openSocket } from '../../../support/sockets.js';
import { nested } from '../../../kernel/http/fake-routes.js';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const signing = {
  issuer: 'http://anima',
  sign: (claims: Json) =>
    new CompactSign(Buffer.from(jcs(claims)))
      .setProtectedHeader({ alg: 'EdDSA', typ: ARCHIVE_GRANT_TYPE, kid: 'ours' })
      .sign(privateKey),
};

const soul = { name: 'Mira', state: { fear: 0.5, extra: { b: [1, null], a: 'caf\u00e9 \u{1f600}' } }, memories: [] };
const bytesOf = (value: Json): Buffer => Buffer.from(jcs(value));
const id = contentDigest(bytesOf(soul));
const HOUR_MS = 3_600_000;

let clock: ManualClock;
let archive: MemorySoulArchive;
let app: TestApp;
/** Whether the export of a grant still waits for its upload. */
let wanted: (grant: ArchiveGrant) => Promise<boolean>;
beforeEach(async () => {
  clock = new ManualClock();
  archive = new MemorySoulArchive();
  const signingKeys = {
    publicKey: async (kid: string) => (kid === 'ours' ? publicKey : undefined),
    isVoid: () => false,
  };
  wanted = async () => true;
  const mayUpload = (grant: ArchiveGrant) => wanted(grant);
  app = await startApp(archiveRoutes({ ports: { soulArchive: archive, clock }, signingKeys, mayUpload }), { clock });
});
afterEach(async () => {
  closeSockets();
  await app.stop();
});

const grantFor = (over: Partial<ArchiveGrant> = {}) =>
  issueArchiveGrant(signing, {
    digest: id,
    tenant: 'studio',
    npcId: 'mira',
    soulId: 's0_0_aaaaaaaaaaaaaaaa',
    expiresAt: new Date(clock.now().getTime() + HOUR_MS),
    ...over,
  });
const withGrant = async (over: Partial<ArchiveGrant> = {}) => ({ authorization: `Bearer ${await grantFor(over)}` });
const upload = async (body: Json | string | Buffer, headers: Record<string, string> = {}) =>
  app.request('POST', '/archive', { body, headers: { ...(await withGrant()), ...headers } });
const stage = (value: Json = soul) =>
  archive.stage(contentDigest(bytesOf(value)), bytesOf(value), {
    tenant: 'studio',
    expiresAt: new Date(clock.now().getTime() + HOUR_MS),
  });
/** The payload as a client may rewrite it: other spaces, order and escapes. */
const rewritten = `\n{ "memories" : [ ], "state": {"extra":{"a":"caf\\u00e9 \\ud83d\\ude00","b":[1.0,null]},"fear":5e-1},\t"name": "\\u004dira"}`;

describe('an upload to the archive', () => {
  it('publishes the staged payload, and returns its id twice [8.1n]', async () => {
    await stage();
    expect((await app.get(`/archive/${id}`)).status).toBe(404);
    const first = await upload(jcs(soul));
    expect([first.status, first.body, first.headers.get('x-id')]).toEqual([201, { id }, id]);
    const again = await upload(jcs(soul));
    expect([again.status, again.body, again.headers.get('x-id')]).toEqual([200, { id }, id]);
    expect((await app.get(`/archive/${id}`)).body).toEqual(soul);
  });

  it('is accepted in any equivalent form, and stored in the canonical one [8.1c]', async () => {
    await stage();
    expect((await upload(rewritten)).status).toBe(201);
    expect((await app.get(`/archive/${id}`)).text).toBe(jcs(soul));
  });

  it.each([jcs(soul), rewritten])('is kept even if the payload is no longer staged', async (text) => {
    expect((await upload(text)).status).toBe(201);
    expect((await app.get(`/archive/${id}`)).text).toBe(jcs(soul));
  });

  it.each(['application/octet-stream', 'text/plain', 'application/json; charset=utf-8'])(
    'may have any content type: %s [8.1m]',
    async (type) => {
      expect((await upload(rewritten, { 'content-type': type })).status).toBe(201);
    },
  );

  it('may arrive twice at the same time [8.1p]', async () => {
    await stage();
    const statuses = (await Promise.all([upload(rewritten), upload(jcs(soul))])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 201]);
  });

  it('may be repeated, and ignores an Idempotency-Key [8.1p]', async () => {
    await stage();
    const key = { 'idempotency-key': 'once' };
    expect((await upload(jcs(soul), key)).status).toBe(201);
    const again = await upload(rewritten, key);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect((await upload({ ...soul, name: 'Mora' }, key)).body.error.code).toBe('SOUL_PAYLOAD_MISMATCH');
  });

  it('is refused after its export has failed, even if that happened during the upload [8.1i, 8.1o]', async () => {
    await stage();
    const asked: ArchiveGrant[] = [];
    wanted = async (grant) => asked.push(grant) === 1;
    const late = await upload(jcs(soul));
    expect([late.status, late.body.error.code, asked.length]).toEqual([401, 'UNAUTHORIZED', 2]);
    expect(asked[0]).toMatchObject({ soulId: 's0_0_aaaaaaaaaaaaaaaa', npcId: 'mira', tenant: 'studio', digest: id });
    expect((await upload(jcs(soul))).status).toBe(401);
    expect((await app.get(`/archive/${id}`)).status).toBe(404);
  });

  it('of another payload is refused, and archives nothing [8.1o]', async () => {
    await stage();
    const { status, body } = await upload({ ...soul, name: 'Mora' });
    expect([status, body.error.code]).toEqual([422, 'SOUL_PAYLOAD_MISMATCH']);
    expect((await app.get(`/archive/${id}`)).status).toBe(404);
  });

  it.each<[what: string, body: string | Buffer]>([
    ['nothing', ''],
    ['no JSON', '{'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['33 levels', JSON.stringify(nested(33))],
    ['a member with the name __proto__', '{"__proto__":1}'],
  ])('of %s is refused', async (_, body) => {
    const refused = await upload(body);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'MALFORMED_JSON']);
  });

  it.each<[what: string, headers: () => Promise<Record<string, string>>]>([
    ['no grant', async () => ({ authorization: '' })],
    ['an API key', async () => ({ authorization: 'Bearer good' })],
    ['an expired grant', () => withGrant({ expiresAt: new Date(clock.now().getTime()) })],
    ['a grant in another scheme', async () => ({ authorization: `Basic ${await grantFor()}` })],
  ])('with %s is refused before its body is read [8.1m, 8.1o]', async (_, headers) => {
    const large = { 'content-encoding': 'gzip' };
    const refused = await upload('x'.repeat(100), { ...large, ...(await headers()) });
    expect([refused.status, refused.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    const head = `POST /archive HTTP/1.1\r\nHost: a\r\nContent-Length: 99000000\r\nExpect: 100-continue\r\n`;
    const answer = await app.raw(`${head}Authorization: ${(await headers())['authorization'] ?? ''}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('that is too large or compressed is refused for a client with a grant [1.2q]', async () => {
    const { authorization } = await withGrant();
    const head = `POST /archive HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nAuthorization: ${authorization}\r\n`;
    expect(await app.raw(`${head}Content-Length: ${String(16 * 1024 * 1024 + 1)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413 /);
    expect((await upload(jcs(soul), { 'content-encoding': 'gzip' })).status).toBe(415);
  });

  it('serves only the tenant of the grant: payloads staged by another stay hidden', async () => {
    const other = { ...soul, name: 'Odo' };
    await stage(other);
    const digest = contentDigest(bytesOf(other));
    const elsewhere = await withGrant({ tenant: 'elsewhere' });
    expect((await app.request('POST', '/archive', { body: jcs(other), headers: elsewhere })).status).toBe(422);
    expect((await app.get(`/archive/${digest}`)).status).toBe(404);
  });

  it('yields while it is read, however large it is', async () => {
    const memories = Array.from({ length: 20_000 }, (_, n) => ({
      text: `memory ${String(n)}`,
      at: n,
      tags: ['b', 'a'],
    }));
    const large = { ...soul, memories };
    const text = Buffer.from(JSON.stringify(large, null, 4));
    const { authorization } = await withGrant({ digest: contentDigest(bytesOf(large)) });
    const publish = archive.publish.bind(archive);
    const { opened: isRead, open: read } = gate();
    archive.publish = (...args) => {
      read();
      return publish(...args);
    };
    const socket = await openSocket(app.port);
    const head = `POST /archive HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: ${authorization}\r\n`;
    socket.write(`${head}Content-Length: ${String(text.length)}\r\n\r\n`);
    socket.write(text.subarray(0, -1));
    await settle(1_000);
    let turns = 0;
    let isOver = false;
    void isRead.then(() => (isOver = true));
    socket.write(text.subarray(-1));
    while (!(isOver as boolean)) {
      await yieldToEventLoop();
      turns += 1;
    }
    expect(await heard(socket)).toMatch(/^HTTP\/1\.1 201 /);
    expect(turns).toBeGreaterThan(text.length / 50_000);
  });

  it('runs at most sixteen times at a time, and eight for its tenant: one more gets a retry before it sends anything [8.1q]', async () => {
    const begin = async (tenant: string): Promise<Socket> => {
      const { authorization } = await withGrant({ tenant });
      const socket = await openSocket(app.port);
      const going = once(socket, 'data');
      const head = `POST /archive HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n`;
      socket.write(`${head}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`);
      await going;
      return socket;
    };
    const refusedTo = async (tenant: string): Promise<void> => {
      const refused = await upload(jcs(soul), await withGrant({ tenant }));
      expect([refused.status, refused.body.error.code]).toEqual([503, 'BUSY']);
    };
    const sockets = await Promise.all(Array.from({ length: 8 }, () => begin('studio')));
    await refusedTo('studio');
    sockets.push(...(await Promise.all(Array.from({ length: 8 }, () => begin('another')))));
    await refusedTo('third');
    for (const socket of sockets) socket.destroy();
    const { opened, open } = gate();
    const tryAgain = async (): Promise<void> => {
      if ((await upload(jcs(soul))).status === 201) open();
      else await tryAgain();
    };
    await Promise.all([tryAgain(), opened]);
  });
});

describe('a payload of the archive', () => {
  const publish = async (value: Json = soul): Promise<string> => {
    await stage(value);
    const digest = contentDigest(bytesOf(value));
    await archive.publish(digest, { tenant: 'studio', at: new Date('2026-01-01T00:00:00Z') });
    return digest;
  };

  it('is public, immutable and sent in chunks [8.1r, 8.1s]', async () => {
    await publish();
    const { status, text, headers } = await app.get(`/archive/${id}`, { authorization: 'Bearer bad' });
    expect([status, text]).toEqual([200, jcs(soul)]);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'public, max-age=3600, immutable',
      etag: `"${id}"`,
      'transfer-encoding': 'chunked',
      'x-content-type-options': 'nosniff',
    });
  });

  it('is not found once it has expired [8.1y]', async () => {
    await publish();
    await archive.dropPublic(new Date('2026-01-01T00:00:00Z'), 10);
    const { status, body } = await app.get(`/archive/${id}`);
    expect([status, body.error.code]).toEqual([404, 'ARCHIVE_NOT_FOUND']);
  });

  it('answers HEAD', async () => {
    await publish();
    const { status, text, headers } = await app.request('HEAD', `/archive/${id}`);
    expect([status, text, headers.get('etag')]).toEqual([200, '', `"${id}"`]);
    const missing = await app.request('HEAD', `/archive/${'a'.repeat(43)}`);
    expect([missing.status, missing.headers.get('cache-control')]).toEqual([404, null]);
  });

  it.each([`"${id}"`, `W/"${id}"`, '*', `"other", "${id}"`])(
    'is not sent again to a client that has it: %s [8.1s]',
    async (tag) => {
      await publish();
      const { status, text, headers } = await app.get(`/archive/${id}`, { 'if-none-match': tag });
      expect([status, text, headers.get('etag')]).toEqual([304, '', `"${id}"`]);
      expect((await app.get(`/archive/${id}`, { 'if-none-match': '"other"' })).status).toBe(200);
    },
  );

  it.each(['a'.repeat(43), id, 'x', `${'a'.repeat(43)}=`, '..%2e', 'a'.repeat(44)])(
    'is not found: %s [8.1t]',
    async (name) => {
      await stage();
      const { status, body, headers } = await app.get(`/archive/${name}`);
      expect([status, body.error.code]).toEqual([404, 'ARCHIVE_NOT_FOUND']);
      expect([headers.get('etag'), headers.get('cache-control')]).toEqual([null, null]);
    },
  );

  it('of many chunks is complete, and is in memory only while it is read', async () => {
    const large = { ...soul, memories: ['x'.repeat(300_000)] };
    const digest = await publish(large);
    for (let n = 0; n <= SHOWN_PAYLOADS; n += 1) {
      expect((await app.get(`/archive/${digest}`)).text).toBe(jcs(large));
      await app.request('HEAD', `/archive/${digest}`);
      await app.get(`/archive/${digest}`, { 'if-none-match': '*' });
    }
    const names = await Promise.all(Array.from({ length: SHOWN_PAYLOADS }, (_, n) => publish({ ...soul, n })));
    const statuses = await Promise.all(names.map(async (name) => (await app.get(`/archive/${name}`)).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('waits for a slow client, and is released when the client leaves [8.1u]', async () => {
    await publish();
    const large = bytesOf('x'.repeat(8_000_000));
    const readSmall = archive.readPublic.bind(archive);
    archive.readPublic = async (digest) => (digest === id ? readSmall(digest) : large);
    const names = Array.from({ length: SHOWN_PAYLOADS }, (_, n) => contentDigest(Buffer.from(String(n))));
    const sockets = await Promise.all(
      names.map(async (name) => {
        const socket = await openSocket(app.port);
        const begun = once(socket, 'data');
        socket.write(`GET /archive/${name} HTTP/1.1\r\nHost: a\r\n\r\n`);
        await begun;
        return socket.pause();
      }),
    );
    expect(sockets).toHaveLength(32);
    expect((await app.get(`/archive/${id}`)).body.error.code).toBe('BUSY');
    expect((await app.get(`/archive/${names[1] ?? ''}`)).text).toHaveLength(large.length);
    sockets[0]?.destroy();
    for (let status = 503; status !== 200;) status = (await app.get(`/archive/${id}`)).status;
  });

  it('that cannot be read now causes a refusal, not a partial response', async () => {
    await publish();
    archive.readPublic = () => Promise.reject(new Error('no'));
    expect((await app.get(`/archive/${id}`)).status).toBe(500);
    expect(await heard(await openSocketAsking())).toMatch(/^HTTP\/1\.1 500 /);
  });

  const openSocketAsking = async () => {
    const socket = await openSocket(app.port);
    socket.write(`GET /archive/${id} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    return socket;
  };
});

describe('the archive in the OpenAPI document', () => {
  it('requires a grant to upload, and nothing to read [1.3b]', () => {
    const document = openApi(
      archiveRoutes({
        ports: { soulArchive: archive, clock },
        signingKeys: { publicKey: async () => undefined, isVoid: () => false },
        mayUpload: async () => true,
      }),
    );
    expect(document).toMatchObject({
      paths: { '/archive': { post: { security: [{ grant: [] }] } }, '/archive/{txId}': { get: { security: [] } } },
      components: { securitySchemes: { grant: { type: 'http', scheme: 'bearer' } } },
    });
  });
});
