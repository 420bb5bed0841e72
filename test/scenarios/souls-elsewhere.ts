import { readFile } from 'node:fs/promises';

import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { inSlices } from '../../src/kernel/concurrency/in-slices.js';
import { contentDigest } from '../../src/kernel/crypto/content-digest.js';
import { soulFromCbor } from '../support/soul-from-cbor.js';
import { ipfsCid } from '../../src/kernel/crypto/ipfs-cid.js';
import { jcs, type JsonObject } from '../../src/kernel/base/json.js';
import { codeOf } from '../support/api.js';
import { type LoopbackServer, openLoopbackServer } from '../support/loopback-server.js';
import { type ProjectingServer, projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

/** Memories with more text than one chunk of a file in IPFS holds. */
const LONG = Array.from({ length: 40 }, (_, n) => `${String(n)} ${'The gate is old. '.repeat(420)}`);

/** A soul of another server. */
const example = await (async () => {
  const text = await readFile(new URL('../../examples/soul.json', import.meta.url), 'utf8');
  const soul = JSON.parse(text) as JsonObject;
  const bytes = Buffer.from(jcs(soul));
  const { kid = '' } = decodeProtectedHeader(soul['signature'] as string);
  return { soul, bytes, kid, txId: contentDigest(bytes), cid: await inSlices(ipfsCid(bytes)) };
})();

const mindOf = async (running: ProjectingServer, npcId: string, texts: readonly string[]): Promise<string> => {
  const { api } = running;
  expect((await api.post('/npcs', { npcId, persona: 'Mira keeps the inn.' })).status).toBe(200);
  for (const text of texts) expect((await api.post(`/npcs/${npcId}/memory`, { text })).status).toBe(200);
  return npcId;
};
const exportPath = (npcId: string): string => `/v1/agents/${npcId}/soul/export`;

/** How souls get to archives other than the built-in one, on every profile. */
export const soulsElsewhereScenarios = (profile: string, open: OpenServer): void => {
  describe(`souls on ${profile}, by their CIDs`, () => {
    const running = projectingServer(open);

    it.each([
      ['json', 'application/json', 'small', ['The gate is old.']],
      ['json', 'application/json', 'large', LONG],
      ['binary', 'application/cbor', 'small', ['The gate is old.']],
      ['binary', 'application/cbor', 'large', LONG],
    ])(
      'are exported as %s (%s, %s) under the CID of exactly the archived bytes [7.2a, 7.2d, 7.2f, 8.1s, 8.5c]',
      async (...given) => {
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

        expect((await running.api.post(`/souls/${cid}/verify`)).body).toMatchObject({
          valid: true,
          soulId: soul['id'],
        });
        expect((await running.api.get(`/souls/${cid}`)).body).toMatchObject({ soul: { id: soul['id'] } });
        const listed = (await running.api.get('/souls')).body as { souls: JsonObject[] };
        expect(listed.souls[0]).toMatchObject({ txId: cid, npcId, arweaveUrl: `${running.server.url}/archive/${cid}` });
      },
    );

    it('are found under a CID after a kill', async () => {
      const npcId = await mindOf(running, 'kept', LONG);
      const { cid } = (await running.api.post(exportPath(npcId), { storage: 'ipfs' })).body as { cid: string };
      await running.server.restart('kill');
      running.again();
      expect((await fetch(`${running.server.url}/archive/${cid}`)).status).toBe(200);
    });
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

    it('are refused when the node returns another name, and are in no archive then [7.2g]', async () => {
      const npcId = await mindOf(running, 'misnamed', []);
      const other = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku';
      says(other);
      const refused = await running.api.post(exportPath(npcId), { storage: 'ipfs' });
      expect([refused.status, codeOf(refused)], refused.text).toEqual([422, 'SOUL_UPLOAD_FAILED']);
      expect(refused.text).toContain(other);
      expect(await types(npcId)).toEqual(['SoulExportRequested', 'SoulSealed', 'SoulExportFailed']);
      expect((await running.api.get('/souls')).body).toEqual({ souls: [] });
    });

    it('start no export while the node is down [7.2h]', async () => {
      const npcId = await mindOf(running, 'not-begun', []);
      node.answer((_, response) => response.destroy());
      const refused = await running.api.post(exportPath(npcId), { storage: 'ipfs' });
      expect([refused.status, codeOf(refused)], refused.text).toEqual([503, 'ARCHIVE_UNAVAILABLE']);
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(await types(npcId)).toEqual([]);
      expect((await running.api.post(exportPath(npcId), { storage: 'local' })).status).toBe(200);
    });

    it('expire at their deadline when the node goes down between the phases [7.2h]', async () => {
      const npcId = await mindOf(running, 'waiting', []);
      node.answer(({ path }, response) => {
        if (path.startsWith('/api/v0/add?')) response.destroy();
        else response.end('{}');
      });
      const asked = await running.api.post(exportPath(npcId), { storage: 'ipfs' });
      expect([410, 503], asked.text).toContain(asked.status);
      await expect.poll(() => types(npcId), { timeout: 24_000, interval: 200 }).toContain('SoulExportExpired');
      expect((await running.api.get('/souls')).body).toMatchObject({ souls: [{ npcId: 'not-begun' }] });
    });
  });

  describe(`souls on ${profile}, on Arweave and at gateways`, () => {
    /** A bundler and its gateway: an upload with the token is available immediately, unless the gateway lags. */
    let arweave: LoopbackServer;
    /** A gateway with the contents of `there`, by path. */
    let other: LoopbackServer;
    const there = new Map<string, Buffer | number>();
    let uploads = 0;
    let lags = false;
    const running = projectingServer(async (env) => {
      [arweave, other] = await Promise.all([openLoopbackServer(), openLoopbackServer()]);
      arweave.answer(({ method, path, headers, body }, response) => {
        const found = there.get(`arweave${path}`);
        if (method === 'POST' && headers.authorization === 'Bearer upload-only') {
          const id = `tx${String((uploads += 1))}`.padEnd(43, '_');
          if (!lags) there.set(`arweave/${id}`, body);
          response.writeHead(200, { 'x-id': id }).end(JSON.stringify({ id }));
        } else if (found instanceof Buffer && headers.authorization === undefined) response.end(found);
        else response.writeHead(404).end();
      });
      other.answer(({ path }, response) => {
        const found = there.get(path) ?? 404;
        if (typeof found === 'number') response.writeHead(found).end();
        else response.end(found);
      });
      return open({
        ...env,
        ARWEAVE_BUNDLER_URL: `${arweave.url}/upload`,
        ARWEAVE_BUNDLER_KEY: 'upload-only',
        ARWEAVE_GATEWAY_URL: arweave.url,
        IPFS_GATEWAY_URL: `${other.url}/ipfs`,
        ANIMA_SOUL_GATEWAYS: `${other.url}/archive`,
        ANIMA_SOUL_TRUST: example.kid,
      });
    });
    afterAll(async () => {
      await arweave[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    });

    type Begun = {
      readonly se1Instruction: { readonly auiEndpoint: string; readonly auiAuthHeader: string };
      readonly se1SignedPayload: JsonObject;
      readonly se1Signature: string;
    };
    const begin = async (npcId: string): Promise<Begun> => {
      await mindOf(running, npcId, ['The gate is old.']);
      const begun = await running.api.post(`/npcs/${npcId}/soul/export`, { npcIdRef: npcId });
      expect(begun.status, begun.text).toBe(200);
      return begun.body as Begun;
    };
    /** In a client's own serialisation, as it would upload it. */
    const upload = async ({ se1Instruction, se1SignedPayload }: Begun): Promise<string> => {
      const { auiEndpoint, auiAuthHeader } = se1Instruction;
      const headers = { authorization: auiAuthHeader, 'content-type': 'application/json' };
      const body = JSON.stringify(Object.fromEntries(Object.entries(se1SignedPayload).toReversed()), null, 1);
      const answer = await fetch(auiEndpoint, { method: 'POST', headers, body });
      return answer.headers.get('x-id') ?? '';
    };
    const confirm = (npcId: string, begun: Begun, aurTxId: string | null) =>
      running.api.post(`/npcs/${npcId}/soul/confirm`, {
        secUploadResult: { aurTxId, aurStatus: 200, aurSuccess: true },
        secSignedPayload: begun.se1SignedPayload,
        secSignature: begun.se1Signature,
      });

    it('are uploaded to the bundler, and read at its gateway [8.1l, 8.2h, 8.5m]', async () => {
      const begun = await begin('bundled');
      expect(begun.se1Instruction).toMatchObject({
        auiEndpoint: `${arweave.url}/upload`,
        auiAuthHeader: 'Bearer upload-only',
      });
      const txId = await upload(begun);
      const arweaveUrl = `${arweave.url}/${txId}`;
      const done = await confirm('bundled', begun, txId);
      expect(done.body, done.text).toMatchObject({ txId, arweaveUrl });
      expect((await confirm('bundled', begun, txId)).body).toEqual(done.body);
      expect((await running.api.get('/souls')).body).toMatchObject({ souls: [{ txId, arweaveUrl }] });
      expect((await running.api.get(`/souls/${txId}`)).body).toMatchObject({
        si1Instruction: { adiGatewayUrl: arweave.url, adiExpectedTxId: txId },
        soul: { id: begun.se1SignedPayload['id'] },
      });
      const verified = (await running.api.post(`/souls/${txId}/verify`)).body;
      expect(verified).toMatchObject({ valid: true, signer: 'ours' });
      expect((await fetch(`${running.server.url}/archive/${txId}`)).status).toBe(404);
    });

    it('are accepted from the client while the gateway lags, and never under an id of something else [8.2h, 8.2i]', async () => {
      const begun = await begin('lagging');
      const taken = 'taken'.padEnd(43, '_');
      for (const [aurTxId, content, code] of [
        [taken, '{"another":"soul"}', 'SOUL_PAYLOAD_MISMATCH'],
        [taken, '<html>', 'SOUL_PAYLOAD_MISMATCH'],
        ['too-short', '', 'SOUL_UPLOAD_FAILED'],
        [null, '', 'SOUL_UPLOAD_FAILED'],
      ] as const) {
        there.set(`arweave/${taken}`, Buffer.from(content));
        const refused = await confirm('lagging', begun, aurTxId);
        expect([refused.status, codeOf(refused)], refused.text).toEqual([422, code]);
      }
      lags = true;
      const txId = await upload(begun);
      lags = false;
      expect((await confirm('lagging', begun, txId)).body).toMatchObject({
        txId,
        arweaveUrl: `${arweave.url}/${txId}`,
      });
      const unread = (await running.api.get(`/souls/${txId}`)).body as JsonObject;
      expect(unread).toEqual({ si1Instruction: { adiGatewayUrl: arweave.url, adiExpectedTxId: txId } });
    });

    it('are found at gateways, by content [8.5g, 8.5i, 8.5m]', async () => {
      const { bytes, cid, txId } = example;
      there.set(`/archive/${txId}`, bytes);
      there.set(`/ipfs/${cid}`, bytes);
      for (const [id, adiGatewayUrl] of [
        [txId, arweave.url],
        [cid, `${other.url}/ipfs`],
      ] as const) {
        const verified = (await running.api.post(`/souls/${id}/verify`)).body;
        expect(verified).toMatchObject({ valid: true, signer: 'known', kid: example.kid });
        const soul = (await running.api.get(`/souls/${id}`)).body;
        expect(soul).toMatchObject({ si1Instruction: { adiGatewayUrl }, soul: { id: example.soul['id'] } });
      }
      there.set(`/ipfs/${cid}`, Buffer.from(JSON.stringify(example.soul, null, 3)));
      there.set(`/archive/${cid}`, Buffer.from('{}'));
      expect(codeOf(await running.api.post(`/souls/${cid}/verify`))).toBe('SOUL_NOT_FOUND');
      expect(((await running.api.get(`/souls/${cid}`)).body as JsonObject)['soul']).toBeUndefined();
    });

    it.each([
      ['no soul', '[1e999]', 'malformed'],
      ['no JSON', '{', 'malformed'],
      ['something deep', '['.repeat(1_000_000), 'malformed'],
    ])('that are %s are reported as such [8.5a]', async (name, content, reason) => {
      const txId = name.replace(' ', '-').padEnd(43, '_');
      there.set(`/archive/${txId}`, Buffer.from(content));
      expect((await running.api.post(`/souls/${txId}/verify`)).body).toEqual({ valid: false, reason });
    });

    it('are not reported as unknown while a gateway is unavailable [8.5j]', async () => {
      const txId = 'away'.padEnd(43, '_');
      there.set(`/archive/${txId}`, 502);
      const refused = await running.api.post(`/souls/${txId}/verify`);
      expect([refused.status, codeOf(refused)]).toEqual([503, 'ARCHIVE_UNAVAILABLE']);
      const asked = await running.api.get(`/souls/${txId}`);
      expect([asked.status, Object.keys(asked.body as object)]).toEqual([200, ['si1Instruction']]);
    });
  });
};
