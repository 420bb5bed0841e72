import { once } from 'node:events';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../../support/memory/event-store.js';
import { MemorySoulArchive } from '../../../support/memory/soul-archive.js';
import { signSoul } from '../../../../src/features/souls/soul-signer.js';
import { contentDigest } from '../../../../src/kernel/crypto/content-digest.js';
import { jcs } from '../../../../src/kernel/base/json.js';
import type { SoulDocument, SoulInputs } from '../../../../src/features/souls/domain/document.js';
import {
  keptSoulRoutes,
  LOOKED_INTO,
  SOULS_READ,
  TENANT_LOOKED_INTO,
  TENANT_SOULS_READ,
} from '../../../../src/features/souls/http/souls.js';
import { drained } from '../../../../src/kernel/base/sliced.js';
import { protocolSoulText } from '../../../../src/features/souls/http/soul-answer.js';
import type { ReadModels } from '../../../../src/ports/read-models.js';
import { StreamWriters } from '../../../../src/kernel/streams/stream-writers.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { gate } from '../../../support/gate.js';
import { withPlayerNames } from '../../../support/player-names.js';
import { startApp, type TestApp, testPrincipal } from '../../../support/http.js';
import { closeSockets, openSocket } from '../../../support/sockets.js';
import { ISSUER, noOtherArchives, serverKeys, soulMemories, soulMemory, unsignedSoul } from '../../../support/souls.js';
import { appendNext } from '../../../support/append-next.js';
import { event } from '../../../support/events.js';
import { npcStream } from '../../../../src/kernel/base/stream-names.js';
import { mindFold } from '../../../../src/features/npcs/mind-fold.js';
import { itLong } from '../../../support/long.js';

const keys = await serverKeys('home');

let archive: MemorySoulArchive;
let events: MemoryEventStore;
let app: TestApp;
beforeEach(async () => {
  archive = new MemorySoulArchive();
  events = new MemoryEventStore();
  // No list of souls is requested.
  const readModels = withPlayerNames(events).readModels as ReadModels;
  const clock = new ManualClock();
  const ports = { readModels, soulArchive: archive, events, clock };
  const writers = new StreamWriters(events, clock, { shared: true });
  const trust = { keys, issuer: ISSUER, trusted: null };
  app = await startApp(keptSoulRoutes({ ports, writers, trust, archives: noOtherArchives, publicUrl: 'http://here' }), {
    keys: {
      good: testPrincipal(),
      second: testPrincipal({ tenant: 'second' }),
      third: testPrincipal({ tenant: 'third' }),
    },
  });
});
afterEach(async () => {
  closeSockets();
  await app.stop();
});

const streamOf = ({ provenance: { tenant, npcId } }: SoulDocument): string => npcStream(tenant, npcId);
const publish = async (soul: SoulDocument): Promise<string> => {
  const bytes = Buffer.from(jcs(soul));
  const digest = contentDigest(bytes);
  await archive.stage(digest, bytes, { tenant: 'local', expiresAt: new Date('2100-01-01T00:00:00Z') });
  await archive.publish(digest, { tenant: 'local', at: new Date('2026-01-01T00:00:00Z') });
  return digest;
};
const published = async (more: Partial<SoulInputs> = {}) => {
  const soul = await signSoul(keys, ISSUER, unsignedSoul(more));
  return { soul, txId: await publish(soul) };
};
/** Large enough that no socket accepts it in one write. */
const large = Array.from({ length: 500 }, (_, n) => soulMemory(n, { text: 'x'.repeat(8_000) }));
const as = (key: string) => ({ authorization: `Bearer ${key}` });
const readingSocket = async (path: string, key: string) => {
  const socket = await openSocket(app.port);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  return socket;
};

describe('a withdrawn soul', () => {
  it('is gone for everyone; only the studio that exported it can withdraw it [8.1v, 8.1w]', async () => {
    const { txId } = await published();
    const remove = (key?: string) =>
      app.request('DELETE', `/souls/${txId}`, key === undefined ? {} : { headers: as(key) });
    expect((await remove('second')).status).toBe(404);
    expect((await app.get(`/souls/${txId}/disclosure`)).status).toBe(200);
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
    expect((await app.get(`/souls/${txId}/disclosure`)).status).toBe(404);
    expect(await archive.readPublic(txId)).toBeNull();
  });

  const history = async (soul: SoulDocument) =>
    (await events.read(streamOf(soul), { direction: 'forwards', limit: 10 })).events;
  const livedBy = async (soul: SoulDocument, ...types: readonly ('NpcRegistered' | 'NpcArchived')[]) => {
    for (const type of types) await appendNext(events, streamOf(soul), [event(type, { type, data: {} })]);
  };

  it('is recorded in the history of its NPC, with who withdrew it [8.1z]', async () => {
    const { soul, txId } = await published();
    await livedBy(soul, 'NpcRegistered');
    expect((await app.request('DELETE', `/souls/${txId}`, { headers: as('second') })).status).toBe(404);
    expect((await app.request('DELETE', `/souls/${txId}`)).status).toBe(204);
    const data = { soulId: soul.id, txId };
    expect((await history(soul)).slice(1)).toMatchObject([{ type: 'SoulWithdrawn', data, meta: { actor: 'k1' } }]);
    expect((await app.request('DELETE', `/souls/${txId}`)).status).toBe(404);
    expect(await history(soul)).toHaveLength(2);
  });

  it('is recorded before it is removed, and a repeat completes the removal [8.1z]', async () => {
    const { soul, txId } = await published();
    await livedBy(soul, 'NpcRegistered');
    const withdraw = archive.withdraw.bind(archive);
    archive.withdraw = () => Promise.reject(new Error('killed'));
    expect((await app.request('DELETE', `/souls/${txId}`)).status).toBe(500);
    expect((await history(soul)).map(({ type }) => type)).toEqual(['NpcRegistered', 'SoulWithdrawn']);
    archive.withdraw = withdraw;
    expect((await app.request('DELETE', `/souls/${txId}`)).status).toBe(204);
    expect(await archive.readPublic(txId)).toBeNull();
    expect((await history(soul)).map(({ type }) => type).slice(1)).toEqual(['SoulWithdrawn', 'SoulWithdrawn']);
  });

  it('stays in the archive if its withdrawal cannot be recorded [8.1z]', async () => {
    const { soul, txId } = await published();
    await livedBy(soul, 'NpcRegistered');
    events.append = () => Promise.reject(new Error('away'));
    expect((await app.request('DELETE', `/souls/${txId}`)).status).toBe(500);
    expect(await archive.readPublic(txId)).not.toBeNull();
  });

  it('may be the soul of an archived NPC, which stays archived, or of one without a history [8.1z]', async () => {
    const { soul, txId } = await published();
    await livedBy(soul, 'NpcRegistered', 'NpcArchived');
    expect((await app.request('DELETE', `/souls/${txId}`)).status).toBe(204);
    const state = (await history(soul)).reduce((mind, recorded) => mindFold.evolve(mind, recorded), mindFold.initial);
    expect(state).toMatchObject({ archived: true, revision: 2 });
    const lost = await published({ npcId: 'lost', provenance: { ...soul.provenance, npcId: 'lost' } });
    expect((await app.request('DELETE', `/souls/${lost.txId}`)).status).toBe(204);
    expect([await archive.readPublic(lost.txId), await history(lost.soul)]).toEqual([null, []]);
  });

  it('is not one that another server signed', async () => {
    const plain = unsignedSoul();
    const issuer = 'https://elsewhere.example';
    const unsigned = { ...plain, provenance: { ...plain.provenance, issuer } };
    const soul = await signSoul(await serverKeys('a stranger'), issuer, unsigned);
    const txId = await publish(soul);
    expect((await app.request('DELETE', `/souls/${txId}`)).status).toBe(404);
    expect(await archive.readPublic(txId)).not.toBeNull();
  });
});

describe('a stored soul', () => {
  it.each([0, 1, 3, 2_000])('is returned in full, with its memories as lists show them: %i', async (count) => {
    const { soul, txId } = await published({ memories: soulMemories(count) });
    const { status, body } = await app.get(`/souls/${txId}`);
    const si1Instruction = { adiGatewayUrl: 'http://here/archive', adiExpectedTxId: txId };
    expect([status, body]).toEqual([200, { si1Instruction, soul: JSON.parse(drained(protocolSoulText(soul))) }]);
  });

  it('is refused if it is not a soul, or does not exist [8.5d]', async () => {
    const { soul } = await published();
    const txId = await publish({ ...soul, persona: 'Zoë is a thief.' });
    const si1Instruction = { adiGatewayUrl: 'http://here/archive', adiExpectedTxId: txId };
    for (let times = 0; times < 2; times += 1) {
      expect((await app.get(`/souls/${txId}`)).body).toEqual({ si1Instruction });
      expect((await app.post(`/souls/${txId}/verify`)).body).toEqual({ valid: false, reason: 'wrong_root' });
      for (const path of [`proof?memoryId=${soulMemory(0).id}`, 'disclosure'])
        expect((await app.get(`/souls/${txId}/${path}`)).body.error.code).toBe('SOUL_NOT_FOUND');
    }
    const missing = 'A'.repeat(43);
    expect((await app.get(`/souls/${missing}`)).body).toMatchObject({ si1Instruction: { adiExpectedTxId: missing } });
    expect((await app.post(`/souls/${missing}/verify`)).body.error.code).toBe('SOUL_NOT_FOUND');
  });

  it('is proven, verified and disclosed for any number of requests [8.5a, 8.8b]', async () => {
    const { soul, txId } = await published();
    for (let times = 0; times < SOULS_READ + 2; times += 1) {
      const verified = (await app.post(`/souls/${txId}/verify`)).body as unknown;
      expect(verified).toMatchObject({ valid: true, soulId: soul.id });
      expect(verified).not.toHaveProperty('reason');
      const { body } = await app.get(`/souls/${txId}/proof?memoryId=${soulMemory(1).id}`);
      expect(body).toMatchObject({ part: 2, parts: 4, root: soul.trainingProof });
      expect((await app.get(`/souls/${txId}/proof?memoryId=nobody`)).body.error.code).toBe('MEMORY_NOT_FOUND');
      expect((await app.get(`/souls/${txId}/disclosure`)).body).toMatchObject({ soulId: soul.id, turns: 'read' });
      await app.request('HEAD', `/souls/${txId}`);
    }
  });

  it('is returned as JSON in UTF-8, as all responses are [8.5e]', async () => {
    const { txId } = await published();
    for (const path of ['', `/proof?memoryId=${soulMemory(0).id}`, '/disclosure']) {
      const { headers } = await app.get(`/souls/${txId}${path}`);
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(headers.get('transfer-encoding')).toBe('chunked');
    }
  });

  itLong(
    'is in memory a bounded number of times for slow clients, per tenant to fewer, and is released when they leave [8.5f]',
    async () => {
      const { txId: small } = await published();
      const sockets = [];
      const read: string[] = [];
      for (const key of ['good', 'second']) {
        for (let n = 0; n < TENANT_SOULS_READ; n += 1) {
          const { txId } = await published({ soulId: `${key}${n}`, memories: large });
          const socket = await readingSocket(`/souls/${txId}`, key);
          await once(socket, 'data');
          sockets.push(socket.pause());
          read.push(txId);
        }
        expect((await app.get(`/souls/${small}`)).body.error.code).toBe('BUSY');
        expect((await app.get(`/souls/${small}`, as('third'))).status).toBe(key === 'good' ? 200 : 503);
      }
      expect(read).toHaveLength(SOULS_READ);
      expect([SOULS_READ, TENANT_SOULS_READ]).toEqual([16, 8]);
      // A reader of one of those uses no more memory.
      expect((await app.get(`/souls/${read[0] ?? ''}`)).status).toBe(200);
      sockets[1]?.destroy();
      await expect.poll(async () => (await app.get(`/souls/${small}`, as('third'))).status).toBe(200);
    },
    60_000,
  );
});

describe('verifications', () => {
  it('are limited in number, per tenant to fewer [8.5f]', async () => {
    const txIds = await Promise.all(
      Array.from({ length: SOULS_READ + 1 }, async (_, n) => (await published({ soulId: `s${n}` })).txId),
    );
    const { opened, open } = gate();
    const read = archive.readPublic.bind(archive);
    let [reading, allowed] = [0, 0];
    archive.readPublic = async (digest) => {
      reading += 1;
      // One too many ends the test instead of waiting for it.
      if (reading > allowed) open();
      await opened;
      return read(digest);
    };
    const verify = (n: number, key: string) => app.post(`/souls/${txIds[n] ?? ''}/verify`, {}, as(key));
    const busy = { status: 503, body: { error: { code: 'BUSY' } } };
    const asked: ReturnType<typeof verify>[] = [];
    for (const key of ['good', 'second']) {
      allowed += TENANT_SOULS_READ;
      while (asked.length < allowed) asked.push(verify(asked.length, key));
      await expect.poll(() => reading).toBe(allowed);
      expect(await verify(SOULS_READ, key)).toMatchObject(busy);
    }
    expect(asked).toHaveLength(16);
    expect(await verify(SOULS_READ, 'third')).toMatchObject(busy);
    open();
    for (const reply of await Promise.all(asked)) expect(reply.body).toMatchObject({ valid: true });
  });
});

describe('disclosures and proofs', () => {
  it('are limited in number, per tenant to fewer; disclosures run one at a time, and proofs do not wait for them [8.5f]', async () => {
    const txIds = await Promise.all(
      Array.from({ length: LOOKED_INTO + 1 }, async (_, n) => (await published({ soulId: `s${n}` })).txId),
    );
    expect([LOOKED_INTO, TENANT_LOOKED_INTO]).toEqual([32, 16]);
    const { opened, open } = gate();
    const read = events.read.bind(events);
    let reading = 0;
    events.read = async (...range) => {
      reading += 1;
      await opened;
      return read(...range);
    };
    const ask = (key: string) => app.get(`/souls/${txIds.pop() ?? ''}/disclosure`, as(key));
    const { txId } = await published();
    const proven = (key: string) => app.get(`/souls/${txId}/proof?memoryId=${soulMemory(0).id}`, as(key));
    const asked = Array.from({ length: TENANT_LOOKED_INTO - 1 }, () => ask('good'));
    await expect.poll(() => reading).toBe(1);
    // As many payloads as one tenant may have in memory: waiting requests have none there.
    expect(asked.length).toBeGreaterThan(TENANT_SOULS_READ);
    await expect.poll(async () => (await proven('good')).status).toBe(200);
    asked.push(ask('good'), ask('good'));
    expect((await Promise.race(asked)).body.error.code).toBe('BUSY');
    expect((await proven('good')).body.error.code).toBe('BUSY');
    expect((await proven('second')).status).toBe(200);
    asked.push(...Array.from({ length: LOOKED_INTO - TENANT_LOOKED_INTO }, () => ask('second')));
    await expect.poll(async () => (await proven('third')).status).toBe(503);
    expect(reading).toBe(1);
    open();
    const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(LOOKED_INTO).fill(200), 503]);
  });
});
