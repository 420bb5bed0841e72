import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { inSlices } from '../../src/app/pacing/in-slices.js';
import { soulFromCbor } from '../../src/domain/soul/binary.js';
import { ipfsCid } from '../../src/domain/soul/ipfs-cid.js';
import type { JsonObject } from '../../src/domain/shared/json.js';
import { codeOf } from '../support/api.js';
import { type LoopbackServer, openLoopbackServer } from '../support/loopback-server.js';
import { type ProjectingServer, projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

/** More text than one chunk of a file in IPFS holds, in memories. */
const LONG = Array.from({ length: 40 }, (_, n) => `${String(n)} ${'The gate is old. '.repeat(420)}`);

const mindOf = async (running: ProjectingServer, npcId: string, texts: readonly string[]): Promise<string> => {
  const { api } = running;
  expect((await api.post('/npcs', { npcId, persona: 'Mira keeps the inn.' })).status).toBe(200);
  for (const text of texts) expect((await api.post(`/npcs/${npcId}/memory`, { text })).status).toBe(200);
  return npcId;
};
const exportPath = (npcId: string): string => `/v1/agents/${npcId}/soul/export`;

/** How souls get to archives beyond the built-in one, on every profile (contract 7.2, 8). */
export const soulsElsewhereScenarios = (profile: string, open: OpenServer): void => {
  describe(`souls on ${profile}, by their CIDs`, () => {
    const running = projectingServer(open);

    it.each([
      ['json', 'application/json', 'small', ['The gate is old.']],
      ['json', 'application/json', 'large', LONG],
      ['binary', 'application/cbor', 'small', ['The gate is old.']],
      ['binary', 'application/cbor', 'large', LONG],
    ])('leave as %s (%s, %s) under the CID of exactly the bytes that the archive answers', async (...given) => {
      const [format, type, size, texts] = given;
      const npcId = await mindOf(running, `${format}-${size}`, texts);
      const exported = await running.api.post(exportPath(npcId), { format, storage: 'ipfs' });
      const { cid } = exported.body as { cid: string };
      expect(exported.body, exported.text).toEqual({ format, storage: 'ipfs', cid });

      const answer = await fetch(`${running.server.url}/archive/${cid}`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(await inSlices(ipfsCid(bytes))).toBe(cid);
      const soul = (format === 'json' ? JSON.parse(bytes.toString()) : soulFromCbor(bytes)) as JsonObject;
      expect(soul).toMatchObject({ npcId, memories: texts.map((text) => ({ text })) });

      expect((await running.api.post(`/souls/${cid}/verify`)).body).toMatchObject({ valid: true, soulId: soul['id'] });
      expect((await running.api.get(`/souls/${cid}`)).body).toMatchObject({ soul: { id: soul['id'] } });
      const listed = (await running.api.get('/souls')).body as { souls: JsonObject[] };
      expect(listed.souls[0]).toMatchObject({ txId: cid, npcId, arweaveUrl: `${running.server.url}/archive/${cid}` });
    });

    it('are found under a CID after a kill', async () => {
      const npcId = await mindOf(running, 'kept', LONG);
      const { cid } = (await running.api.post(exportPath(npcId), { storage: 'ipfs' })).body as { cid: string };
      await running.server.restart('kill');
      running.again();
      expect((await fetch(`${running.server.url}/archive/${cid}`)).status).toBe(200);
    }, 120_000);
  });

  describe(`souls on ${profile}, with an IPFS node`, () => {
    let node: LoopbackServer;
    const running = projectingServer(async (env) => {
      node = await openLoopbackServer();
      return open({ ...env, IPFS_API_URL: node.url, ANIMA_SOUL_DEADLINE_MS: '8000' });
    });
    afterAll(() => node[Symbol.asyncDispose]());
    const says = (hash: string) =>
      node.answer(({ path }, response) => {
        response.end(path.startsWith('/api/v0/add?') ? JSON.stringify({ Name: hash, Hash: hash, Size: '1' }) : '{}');
      });
    const types = async (npcId: string): Promise<readonly string[]> =>
      ((await running.api.get(`/npcs/${npcId}/history?limit=500`)).body as { events: { type: string }[] }).events
        .map(({ type }) => type)
        .filter((type) => type.startsWith('Soul'));

    beforeAll(() => says('nothing'));

    it('are refused when the node names them differently, and are in no archive then', async () => {
      const npcId = await mindOf(running, 'misnamed', []);
      const other = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku';
      says(other);
      const refused = await running.api.post(exportPath(npcId), { storage: 'ipfs' });
      expect([refused.status, codeOf(refused)], refused.text).toEqual([422, 'SOUL_UPLOAD_FAILED']);
      expect(refused.text).toContain(other);
      expect(await types(npcId)).toEqual(['SoulExportRequested', 'SoulSealed', 'SoulExportFailed']);
      expect((await running.api.get('/souls')).body).toEqual({ souls: [] });
    });

    it('begin no export while the node is down', async () => {
      const npcId = await mindOf(running, 'not-begun', []);
      node.answer((_, response) => response.destroy());
      const refused = await running.api.post(exportPath(npcId), { storage: 'ipfs' });
      expect([refused.status, codeOf(refused)], refused.text).toEqual([503, 'ARCHIVE_UNAVAILABLE']);
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(await types(npcId)).toEqual([]);
      expect((await running.api.post(exportPath(npcId), { storage: 'local' })).status).toBe(200);
    });

    it('end by their deadline when the node goes down in between', async () => {
      const npcId = await mindOf(running, 'waiting', []);
      node.answer(({ path }, response) => {
        if (path.startsWith('/api/v0/add?')) response.destroy();
        else response.end('{}');
      });
      const asked = await running.api.post(exportPath(npcId), { storage: 'ipfs' });
      expect([410, 503], asked.text).toContain(asked.status);
      await expect.poll(() => types(npcId), { timeout: 24_000, interval: 200 }).toContain('SoulExportExpired');
      expect((await running.api.get('/souls')).body).toMatchObject({ souls: [{ npcId: 'not-begun' }] });
    }, 60_000);
  });
};
