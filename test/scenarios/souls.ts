import { readFile } from 'node:fs/promises';

import { describe, expect, it, vi } from 'vitest';

import { jcs, type JsonObject } from '../../src/kernel/base/json.js';
import { sha256Base64url } from '../../src/kernel/crypto/sha256.js';
import { soulFromCbor } from '../support/soul-from-cbor.js';
import { patientApiOf, codeOf, type Reply } from '../support/api.js';
import { type ProjectingServer, projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

/** Long enough for a test, short enough to wait for. */
const DEADLINE_MS = 8_000;
/** How long after a request the server is killed, the first time and the second. */
const KILLED_AFTER_MS = [15, 90];
/** So that the steps of a soul take a moment. */
const LONG_MEMORIES = 40;

type Instruction = {
  readonly auiEndpoint: string;
  readonly auiContentType: string;
  readonly auiAuthHeader: string;
  readonly auiPayload: JsonObject;
};
type Begun = {
  readonly se1Instruction: Instruction;
  readonly se1SignedPayload: JsonObject;
  readonly se1Signature: string;
};

/** What the scenarios do with a server. */
const clientOf = (running: ProjectingServer) => {
  let minds = 0;
  const ok = (reply: Reply, status = 200): Reply => {
    expect(reply.status, reply.text).toBe(status);
    return reply;
  };
  const pathOf = (npcId: string): string => `/npcs/${encodeURIComponent(npcId)}`;
  /** A mind with a persona, a state that fits a soul only in part, and two memories. */
  const freshMind = async (): Promise<string> => {
    const npcId = `mira ${String(minds++)} é`;
    const data = { mood: 'loyal', fear: 0.25, inventory: ['key'], coins: 40, skills: { brewing: 'good' } };
    ok(await running.api.post('/npcs', { npcId, persona: 'Mira keeps the inn.', data }));
    ok(await running.api.post(`${pathOf(npcId)}/memory`, { text: 'A guest left without paying.', importance: 0.9 }));
    const agent = `/v1/agents/${encodeURIComponent(npcId)}/memory`;
    ok(await running.api.post(agent, { text: 'The gate is old.', type: 'knowledge', metadata: { page: 1 } }), 201);
    return npcId;
  };
  const begin = async (npcId: string, body: object = {}): Promise<Begun> =>
    ok(await running.api.post(`${pathOf(npcId)}/soul/export`, { npcIdRef: npcId, ...body })).body as Begun;
  const upload = async (
    { auiEndpoint, auiContentType, auiAuthHeader, auiPayload }: Instruction,
    text = JSON.stringify(auiPayload),
  ): Promise<{ readonly status: number; readonly id: string | null; readonly body: JsonObject }> => {
    const response = await fetch(auiEndpoint, {
      method: 'POST',
      headers: { 'content-type': auiContentType, authorization: auiAuthHeader },
      body: text,
    });
    return {
      status: response.status,
      id: response.headers.get('x-id'),
      body: (await response.json()) as JsonObject,
    };
  };
  const confirm = (
    npcId: string,
    begun: Begun,
    result: object,
    payload: unknown = begun.se1SignedPayload,
    headers: Readonly<Record<string, string>> = {},
  ) =>
    running.api.post(
      `${pathOf(npcId)}/soul/confirm`,
      {
        secUploadResult: { aurStatus: 201, aurSuccess: true, ...result },
        secSignedPayload: payload,
        secSignature: begun.se1Signature,
      },
      headers,
    );
  const types = async (npcId: string): Promise<readonly string[]> =>
    (ok(await running.api.get(`${pathOf(npcId)}/history?limit=500`)).body as { events: { type: string }[] }).events
      .map(({ type }) => type)
      .filter((type) => type.startsWith('Soul'));
  return { ok, pathOf, freshMind, begin, upload, confirm, types };
};

/** The export of souls, as clients see it over HTTP: the same on every profile. */
export const soulScenarios = (profile: string, open: OpenServer): void => {
  describe(`souls on ${profile}`, () => {
    const running = projectingServer(open, { ANIMA_SOUL_DEADLINE_MS: String(DEADLINE_MS) });
    const { ok, pathOf, freshMind, begin, upload, confirm, types } = clientOf(running);

    it('are exported in two phases, and can be read, listed, verified and proven [7.2i, 7.2k, 8.1a, 8.1b, 8.2a, 8.2g, 8.5a, 8.5c, 8.7e, 8.8a]', async () => {
      const npcId = await freshMind();
      const begun = await begin(npcId);
      const { auiPayload: soul } = begun.se1Instruction;
      expect(begun.se1SignedPayload).toEqual(soul);
      expect(begun.se1Signature).toBe(soul['signature']);
      expect(soul).toMatchObject({
        version: '1',
        npcId,
        persona: 'Mira keeps the inn.',
        baseModelWeights: '',
        state: {
          mood: 'loyal',
          fear: 0.25,
          confidence: 0,
          inventory: ['key'],
          skills: {},
          relationships: {},
          extra: { coins: 40, skills: { brewing: 'good' } },
          filled: ['confidence', 'relationships', 'skills'],
        },
        memories: [
          { text: 'A guest left without paying.', importance: 0.9, confirmed: true },
          { text: 'The gate is old.', type: 'knowledge', metadata: { page: 1 }, confirmed: false },
        ],
      });
      expect(await types(npcId)).toEqual(['SoulExportRequested', 'SoulSealed']);

      const uploaded = await upload(begun.se1Instruction);
      const txId = sha256Base64url(jcs(soul));
      expect(uploaded).toEqual({ status: 201, id: txId, body: { id: txId } });
      const done = ok(await confirm(npcId, begun, { aurTxId: txId })).body as JsonObject;
      const items = (soul['memories'] as readonly Readonly<Record<string, string | boolean>>[]).map(
        ({ id, text, confirmed }) => expect.objectContaining({ id, text, confirmed }) as unknown,
      );
      expect(done).toEqual({
        txId,
        arweaveUrl: `${running.server.url}/archive/${txId}`,
        signature: begun.se1Signature,
        soul: {
          ...{ id: soul['id'] as string, version: '1', name: npcId, persona: 'Mira keeps the inn.' },
          ...{ signature: begun.se1Signature, state: soul['state'] as object, memories: items },
        },
      });
      expect(await types(npcId)).toEqual(['SoulExportRequested', 'SoulSealed', 'SoulExported']);

      const read = await fetch(done['arweaveUrl'] as string);
      expect(await read.json()).toEqual(soul);
      const listed = (ok(await running.api.get('/souls')).body as { souls: JsonObject[] }).souls;
      const exportedAt = expect.stringMatching(/Z$/) as string;
      expect(listed[0]).toEqual({ txId, name: npcId, npcId, exportedAt, arweaveUrl: done['arweaveUrl'] as string });
      expect(ok(await running.api.get(`/souls/${txId}`)).body).toMatchObject({
        si1Instruction: { adiExpectedTxId: txId },
        soul: { id: soul['id'], memories: [{ text: 'A guest left without paying.' }, { text: 'The gate is old.' }] },
      });
      expect(ok(await running.api.post(`/souls/${txId}/verify`)).body).toMatchObject({ valid: true });
      const [memory] = soul['memories'] as readonly { readonly id: string }[];
      const proof = ok(await running.api.get(`/souls/${txId}/proof?memoryId=${memory?.id ?? ''}`)).body;
      expect(proof).toMatchObject({ txId, soulId: soul['id'], memory, part: 1, parts: 3, root: soul['trainingProof'] });
    });

    it('are withdrawn from the archive, which their history and the list say [8.1v, 8.1w, 8.1z]', async () => {
      const npcId = await freshMind();
      const begun = await begin(npcId);
      const { id: txId } = await upload(begun.se1Instruction);
      const done = ok(await confirm(npcId, begun, { aurTxId: txId })).body as JsonObject;
      ok(await running.api('DELETE', pathOf(npcId)));
      expect((await running.api('DELETE', `/souls/${txId ?? ''}`)).status).toBe(204);
      expect((await fetch(done['arweaveUrl'] as string)).status).toBe(404);
      expect(await types(npcId)).toEqual(['SoulExportRequested', 'SoulSealed', 'SoulExported', 'SoulWithdrawn']);
      expect(ok(await running.api.get(pathOf(npcId))).body).toMatchObject({ archived: true });
      const listed = (ok(await running.api.get('/souls')).body as { souls: JsonObject[] }).souls;
      expect(listed.find((soul) => soul['npcId'] === npcId)).toMatchObject({ txId, withdrawnAt: expect.any(String) });
      // Its grant is still valid: what was withdrawn can be published again.
      expect((await upload(begun.se1Instruction)).status).toBe(201);
      expect((await fetch(done['arweaveUrl'] as string)).status).toBe(200);
    });

    it('accept a reserialised payload, whatever the order of its members [8.1c, 8.2b]', async () => {
      const npcId = await freshMind();
      const begun = await begin(npcId);
      const { auiPayload: soul } = begun.se1Instruction;
      const reversed = JSON.stringify(Object.fromEntries(Object.entries(soul).toReversed()), null, 2);
      const { id: txId } = await upload(begun.se1Instruction, reversed);
      expect(txId).toBe(sha256Base64url(jcs(soul)));
      ok(await confirm(npcId, begun, { aurTxId: txId }, reversed));
    });

    it('return the first response to a second confirmation, and record nothing for it [1.7k, 8.1n, 8.2e]', async () => {
      const npcId = await freshMind();
      const begun = await begin(npcId);
      const { id: txId } = await upload(begun.se1Instruction);
      expect(await upload(begun.se1Instruction)).toMatchObject({ status: 200, id: txId });
      const first = ok(await confirm(npcId, begun, { aurTxId: txId }));
      const second = ok(await confirm(npcId, begun, { aurTxId: txId }));
      expect(second.body).toEqual(first.body);
      const again = await begin(npcId);
      const { id } = await upload(again.se1Instruction);
      const together = await Promise.all(Array.from({ length: 6 }, () => confirm(npcId, again, { aurTxId: id })));
      expect(new Set(together.map((reply) => JSON.stringify(ok(reply).body))).size).toBe(1);
      expect((await types(npcId)).filter((type) => type === 'SoulExported')).toHaveLength(2);
    });

    it('are exported once with one Idempotency-Key [8.1h, 8.1k]', async () => {
      const npcId = await freshMind();
      const key = { 'idempotency-key': `soul of ${npcId}`.replaceAll(/[^ -~]| /g, '-') };
      const ask = () => running.api.post(`${pathOf(npcId)}/soul/export`, { npcIdRef: npcId }, key);
      const [first, again] = [ok(await ask()), ok(await ask())];
      const soul = (first.body as Begun).se1SignedPayload;
      // Streamed anew around the archived bytes: only the soul's id is stored.
      for (const { body, text, headers } of [first, again]) {
        expect(headers.get('content-length')).toBeNull();
        expect(text.split(jcs(soul))).toHaveLength(3);
        expect(body).toMatchObject({ se1Instruction: { auiPayload: soul }, se1Signature: soul['signature'] });
      }
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(again.headers.get('anima-revision')).toBe(first.headers.get('anima-revision'));
      expect(await types(npcId)).toEqual(['SoulExportRequested', 'SoulSealed']);
      const begun = again.body as Begun;
      const { id: txId } = await upload(begun.se1Instruction);
      const confirmKey = { 'idempotency-key': `${key['idempotency-key']}-confirmed` };
      const done = ok(await confirm(npcId, begun, { aurTxId: txId }, soul, confirmKey));
      const replayed = ok(await confirm(npcId, begun, { aurTxId: txId }, soul, confirmKey));
      expect([replayed.body, replayed.headers.get('idempotency-replayed')]).toEqual([done.body, 'true']);
      expect((ok(await ask()).body as Begun).se1SignedPayload).toEqual(soul);
    });

    it('join the open export when they are requested again, while the mind is unchanged [8.1f, 8.1g]', async () => {
      const npcId = await freshMind();
      const [first, ...others] = await Promise.all(Array.from({ length: 6 }, () => begin(npcId)));
      if (first === undefined) throw new Error('nothing was begun');
      const again = await begin(npcId);
      for (const { se1SignedPayload } of [...others, again]) expect(se1SignedPayload).toEqual(first.se1SignedPayload);
      expect(await types(npcId)).toEqual(['SoulExportRequested', 'SoulSealed']);
      const { id: txId } = await upload(again.se1Instruction);
      ok(await confirm(npcId, first, { aurTxId: txId }));
      const next = await begin(npcId);
      expect(next.se1SignedPayload['id']).not.toBe(first.se1SignedPayload['id']);
      const other = await begin(npcId, { includeMemories: false });
      expect(other.se1SignedPayload['memories']).toEqual([]);
      expect((await begin(npcId)).se1SignedPayload['id']).toBe(next.se1SignedPayload['id']);
      ok(await running.api.post(`${pathOf(npcId)}/memory`, { text: 'A new guest came.' }));
      expect((await begin(npcId)).se1SignedPayload['memories']).toHaveLength(3);
    });

    it('report the result of the export to a repeat with the same Idempotency-Key [8.1h]', async () => {
      const [lost, late] = [await freshMind(), await freshMind()];
      const ask = (npcId: string) =>
        running.api.post(`${pathOf(npcId)}/soul/export`, {}, { 'idempotency-key': `soul-${npcId.length}` });
      const [begun] = [ok(await ask(lost)).body as Begun, ok(await ask(late))];
      await confirm(lost, begun, { aurSuccess: false });
      const failed = await ask(lost);
      expect([failed.status, codeOf(failed)]).toEqual([422, 'SOUL_UPLOAD_FAILED']);
      await expect.poll(() => types(late), { timeout: DEADLINE_MS * 3, interval: 200 }).toContain('SoulExportExpired');
      const expired = await ask(late);
      expect([expired.status, codeOf(expired)]).toEqual([410, 'SOUL_EXCHANGE_EXPIRED']);
    });

    it('leave nothing half done when the payload differs, was not uploaded, or its export is unknown [1.2h, 8.1o, 8.2b, 8.2d, 8.2f]', async () => {
      const npcId = await freshMind();
      const begun = await begin(npcId);
      const { se1Instruction: instruction, se1SignedPayload: soul } = begun;
      const other = { ...soul, persona: 'Mallory keeps the inn.' };
      expect(await upload(instruction, JSON.stringify(other))).toMatchObject({
        status: 422,
        body: { error: { code: 'SOUL_PAYLOAD_MISMATCH' } },
      });
      const refusals = [
        [await confirm(npcId, begun, { aurTxId: 'nowhere' }), 422, 'SOUL_UPLOAD_FAILED'],
        [await confirm(npcId, begun, {}, { ...soul, id: 's0_0_aaaaaaaaaaaaaaaa' }), 404, 'SOUL_EXPORT_NOT_FOUND'],
        [await confirm(npcId, begun, {}, { ...soul, id: 7 }), 404, 'SOUL_EXPORT_NOT_FOUND'],
        [await confirm(npcId, begun, {}, '{"id":'), 400, 'MALFORMED_JSON'],
        [await confirm(npcId, begun, {}, '{"id": "a", "id": "b"}'), 400, 'MALFORMED_JSON'],
        [await confirm('somebody else', begun, {}), 404, 'SOUL_EXPORT_NOT_FOUND'],
      ] as const;
      for (const [reply, status, code] of refusals) expect([reply.status, codeOf(reply)]).toEqual([status, code]);
      const { id: txId } = await upload(instruction);
      const mismatch = await confirm(npcId, begun, { aurTxId: txId }, other);
      expect([mismatch.status, codeOf(mismatch)]).toEqual([422, 'SOUL_PAYLOAD_MISMATCH']);
      ok(await confirm(npcId, begun, { aurTxId: txId }));
      expect(codeOf(await running.api.get('/npcs/somebody%20else'))).toBe('NPC_NOT_FOUND');
    });

    it('are exported only by their own upload', async () => {
      const [one, other] = [await freshMind(), await freshMind()];
      const first = await begin(one);
      const { id: txId } = await upload(first.se1Instruction);
      ok(await confirm(one, first, { aurTxId: txId }));
      const second = await begin(other);
      const taken = await confirm(other, second, { aurTxId: txId });
      expect([taken.status, codeOf(taken)]).toEqual([422, 'SOUL_UPLOAD_FAILED']);
      const { id: own } = await upload(second.se1Instruction);
      ok(await confirm(other, second, { aurTxId: own }));
    });

    it('are not ended by a client without them, and stay exported whatever is reported afterwards [8.2d, 8.2e]', async () => {
      const npcId = await freshMind();
      const begun = await begin(npcId);
      const forged = await confirm(npcId, { ...begun, se1Signature: 'no' }, { aurSuccess: false });
      expect([forged.status, codeOf(forged)]).toEqual([422, 'SOUL_PAYLOAD_MISMATCH']);
      const { id: txId } = await upload(begun.se1Instruction);
      const done = ok(await confirm(npcId, begun, { aurTxId: txId }));
      expect(ok(await confirm(npcId, begun, { aurTxId: txId, aurSuccess: false })).body).toEqual(done.body);
      expect(await types(npcId)).toEqual(['SoulExportRequested', 'SoulSealed', 'SoulExported']);
    });

    it('end as failed when the client could not upload, and stay failed [8.1i, 8.1t, 8.2c]', async () => {
      const npcId = await freshMind();
      const begun = await begin(npcId);
      const failed = await confirm(npcId, begun, { aurSuccess: false, aurStatus: 507, aurError: 'no room' });
      expect([failed.status, codeOf(failed)]).toEqual([422, 'SOUL_UPLOAD_FAILED']);
      // An export that is not finished by then stays failed, although the grant's time is not over.
      const uploaded = await upload(begun.se1Instruction);
      expect([uploaded.status, uploaded.id]).toEqual([401, null]);
      const txId = sha256Base64url(jcs(begun.se1SignedPayload));
      expect((await fetch(`${running.server.url}/archive/${txId}`)).status).toBe(404);
      expect(codeOf(await confirm(npcId, begun, { aurTxId: txId }))).toBe('SOUL_UPLOAD_FAILED');
      expect(await types(npcId)).toEqual(['SoulExportRequested', 'SoulSealed', 'SoulExportFailed']);
    });

    it('are refused with a memory that is nested too deep for a soul, which is named [8.7j]', async () => {
      const npcId = await freshMind();
      const metadata = { deep: JSON.parse('['.repeat(28) + ']'.repeat(28)) as unknown };
      const deep = ok(
        await running.api.post(`/v1/agents/${encodeURIComponent(npcId)}/memory`, {
          text: 'A map of maps.',
          type: 'knowledge',
          metadata,
        }),
        201,
      ).body as { readonly id: string };
      const refused = await running.api.post(`${pathOf(npcId)}/soul/export`, {}, { 'idempotency-key': 'too-deep' });
      expect([refused.status, codeOf(refused)]).toEqual([422, 'SOUL_TOO_LARGE']);
      expect(refused.body).toMatchObject({ error: { details: { memoryId: deep.id, depthLimit: 30 } } });
      expect(await types(npcId)).toEqual(['SoulExportRequested', 'SoulExportFailed']);
    });

    it('expire between the phases [8.1i, 8.6b]', async () => {
      const npcId = await freshMind();
      const begun = await begin(npcId);
      const { id: txId } = await upload(begun.se1Instruction);
      await expect.poll(() => types(npcId), { timeout: DEADLINE_MS * 3, interval: 200 }).toContain('SoulExportExpired');
      const late = await confirm(npcId, begun, { aurTxId: txId });
      expect([late.status, codeOf(late)]).toEqual([410, 'SOUL_EXCHANGE_EXPIRED']);
      expect((await upload(begun.se1Instruction)).status).toBe(401);
    });

    it('are exported of an unknown mind, with the data in the request, and without memories on request [1.6f, 8.1d, 8.1e, 8.1f]', async () => {
      const npcId = 'nobody knows him';
      const { se1SignedPayload: soul } = await begin(npcId, { persona: 'A stranger.', npcState: { mood: 'hostile' } });
      expect(soul).toMatchObject({ npcId, persona: 'A stranger.', memories: [], state: { mood: 'hostile' } });
      const known = await freshMind();
      const bare = await begin(known, { persona: 'Another.', npcState: { coins: null }, includeMemories: false });
      expect(bare.se1SignedPayload).toMatchObject({ persona: 'Mira keeps the inn.', memories: [] });
      expect(bare.se1SignedPayload['state']).toMatchObject({ extra: { skills: { brewing: 'good' } } });
      const wrong = await running.api.post(`${pathOf(known)}/soul/export`, { npcIdRef: npcId });
      expect([wrong.status, codeOf(wrong)]).toEqual([422, 'SOUL_ID_DIFFERS']);
    });

    it('are exported immediately through the agent family, in both formats [7.2a, 7.2c]', async () => {
      const npcId = await freshMind();
      const path = `/v1/agents/${encodeURIComponent(npcId)}/soul/export`;
      const json = ok(await running.api.post(path)).body as { soul: JsonObject };
      expect(json).toMatchObject({ format: 'json', storage: 'local', soul: { npcId, version: '1' } });
      const txId = sha256Base64url(jcs(json.soul));
      expect(ok(await running.api.post(`/souls/${txId}/verify`)).body).toMatchObject({ valid: true });
      const binary = ok(await running.api.post(path, { format: 'binary', includeMemories: false })).body as {
        soul: JsonObject;
      };
      const { binary: cbor, ...document } = binary.soul;
      expect(document).toMatchObject({ memories: [] });
      expect(soulFromCbor(Buffer.from(cbor as string, 'base64'))).toEqual(document);
      expect(await types(npcId)).toEqual(
        Array.from({ length: 2 }, () => ['SoulExportRequested', 'SoulSealed', 'SoulExported']).flat(),
      );
      const unknown = await running.api.post('/v1/agents/unheard%20of/soul/export', {});
      expect([unknown.status, codeOf(unknown)]).toEqual([404, 'NPC_NOT_FOUND']);
    });

    it('disclose named players, and omit them on request [7.2b, 8.1f, 8.7h, 8.10a, 8.10d, 8.10e, 8.10g, 8.10l]', async () => {
      const npcId = await freshMind();
      const agent = `/v1/agents/${encodeURIComponent(npcId)}`;
      const ask = (input: string, context: object) => running.api.post(`${agent}/process`, { input, context });
      const { turnId } = ok(await ask('Good evening to you.', { player: { id: 'p-1717', name: 'Marigold' } })).body as {
        readonly turnId: string;
      };
      ok(await ask('The rain will not stop.', { weather: 'rain' }));
      ok(await running.api.post(`${pathOf(npcId)}/memory`, { text: 'It was Marigold who took the necklace.' }));
      const exported = async (body: object): Promise<JsonObject> =>
        (ok(await running.api.post(`${agent}/soul/export`, body)).body as { readonly soul: JsonObject }).soul;
      const disclosureOf = async (soul: JsonObject): Promise<JsonObject> =>
        ok(await running.api.get(`/souls/${sha256Base64url(jcs(soul))}/disclosure`)).body as JsonObject;
      const textsOf = (soul: JsonObject) => (soul['memories'] as { text: string }[]).map(({ text }) => text);

      const whole = await exported({});
      expect(whole).not.toHaveProperty('without');
      expect(await disclosureOf(whole)).toMatchObject({
        soulId: whole['id'],
        npcId,
        bytes: Buffer.byteLength(jcs(whole)),
        without: [],
        turns: 'read',
        players: [{ names: ['p-1717', 'Marigold'], memories: 2, state: 0 }],
        memories: {
          about: 2,
          items: [
            { turnId, players: ['p-1717'], by: ['turn'] },
            { turnId: null, players: ['p-1717'], by: ['text'] },
          ],
        },
      });

      const bare = await exported({ without: ['players'] });
      expect(bare['without']).toEqual(['players']);
      expect(textsOf(bare)).toEqual(
        textsOf(whole).filter((text) => !text.includes('Marigold') && !text.includes('Good evening')),
      );
      expect(textsOf(bare)).toContain('The gate is old.');
      expect(await disclosureOf(bare)).toMatchObject({
        without: ['players'],
        turns: 'read',
        players: [],
        memories: { about: 0, items: [] },
        state: { items: [] },
      });
      const verified = ok(await running.api.post(`/souls/${sha256Base64url(jcs(bare))}/verify`)).body;
      expect(verified).toMatchObject({ valid: true });
      // Nobody named the player to this mind.
      const other = await freshMind();
      ok(await running.api.post(`${pathOf(other)}/memory`, { text: 'Marigold owes two coins.' }));
      const elsewhere = `/v1/agents/${encodeURIComponent(other)}/soul/export`;
      const all = ok(await running.api.post(elsewhere, {})).body as { readonly soul: JsonObject };
      const left = ok(await running.api.post(elsewhere, { without: ['players'] })).body as {
        readonly soul: JsonObject;
      };
      expect([all, left].map(({ soul }) => textsOf(soul).includes('Marigold owes two coins.'))).toEqual([true, false]);
      expect(await disclosureOf(all.soul)).toMatchObject({ players: [{ names: ['p-1717', 'Marigold'], memories: 1 }] });

      const wrong = await running.api.post(`${agent}/soul/export`, { without: ['memories'] });
      expect([wrong.status, codeOf(wrong)]).toEqual([400, 'SCHEMA_INVALID']);
      const none = await running.api.get(`/souls/${'A'.repeat(43)}/disclosure`);
      expect([none.status, codeOf(none)]).toEqual([404, 'SOUL_NOT_FOUND']);
    });

    it('are listed and confirmed for their own tenant only; a public id lets anyone read and check them [8.5c, 8.10e]', async () => {
      const npcId = await freshMind();
      const begun = await begin(npcId);
      const made = ok(await running.api.post('/tenants', { tenantId: 'soul-buyer' }), 201).body as {
        readonly key: string;
      };
      const theirs = patientApiOf(running.server.url, made.key);
      const { se1SignedPayload: soul, se1Signature: secSignature } = begun;
      const { id: txId } = await upload(begun.se1Instruction);
      const secUploadResult = { aurTxId: txId, aurStatus: 201, aurSuccess: true };
      const stolen = await theirs.post(`${pathOf(npcId)}/soul/confirm`, {
        ...{ secUploadResult, secSignature },
        secSignedPayload: soul,
      });
      expect([stolen.status, codeOf(stolen)]).toEqual([404, 'SOUL_EXPORT_NOT_FOUND']);
      expect(await types(npcId)).toEqual(['SoulExportRequested', 'SoulSealed']);
      ok(await confirm(npcId, begun, { aurTxId: txId }));
      expect(ok(await theirs.get('/souls')).body).toEqual({ souls: [] });
      const id = txId ?? '';
      const [memory] = soul['memories'] as readonly { readonly id: string }[];
      expect(ok(await theirs.get(`/souls/${id}`)).body).toMatchObject({ soul: { id: soul['id'] } });
      expect(ok(await theirs.post(`/souls/${id}/verify`)).body).toMatchObject({ valid: true, soulId: soul['id'] });
      expect(ok(await theirs.get(`/souls/${id}/proof?memoryId=${memory?.id ?? ''}`)).body).toMatchObject({ part: 1 });
      // The turns of another tenant's mind are not inspected.
      expect(ok(await theirs.get(`/souls/${id}/disclosure`)).body).toMatchObject({ turns: 'unread' });
      expect((await theirs.get(pathOf(npcId))).status).toBe(404);
    });

    it('name the rules that the NPC followed, and the last event that they cover [8.7f, 8.7g]', async () => {
      const made = ok(await running.api.post('/tenants', { tenantId: 'soul-rules' }), 201).body as {
        readonly key: string;
      };
      const api = patientApiOf(running.server.url, made.key);
      ok(await api.post('/npcs', { npcId: 'ruled', persona: 'Guards the gate.' }));
      const exported = async (): Promise<JsonObject> =>
        (ok(await api.post('/v1/agents/ruled/soul/export')).body as { readonly soul: JsonObject }).soul;
      expect((await exported())['ruleset']).toBeNull();
      ok(await api.post('/rules', { rulesetId: 'default', rulesetRules: [{ ruleAction: 'FORBID ATTACK' }] }));
      const set = ok(await api.get('/rules/default')).body as JsonObject;
      const { ruleset, provenance } = await exported();
      expect(ruleset).toEqual({
        rulesetId: 'default',
        version: set['version'],
        digest: sha256Base64url(jcs(set)),
      });
      ok(await api.post('/rules', { rulesetId: 'gate', rulesetRules: [{ ruleAction: 'FORBID FLEE' }] }));
      ok(await api.post('/npcs', { npcId: 'ruled', rulesetId: 'gate' }));
      expect((await exported())['ruleset']).toMatchObject({ rulesetId: 'gate', version: 1, bound: true });
      ok(await api('DELETE', '/rules/gate'));
      expect((await exported())['ruleset']).toMatchObject({ rulesetId: 'gate', version: 1, bound: true });
      ok(await api.post('/npcs', { npcId: 'ruled', rulesetId: '' }));
      const { revision, hash, ...from } = provenance as { readonly revision: number; readonly hash: string };
      expect(from).toEqual({ issuer: running.server.url, tenant: 'soul-rules', npcId: 'ruled', chain: [] });
      const { events } = ok(await api.get('/npcs/ruled/history')).body as {
        readonly events: readonly { readonly revision: number; readonly type: string; readonly hash: string }[];
      };
      expect(events.find((event) => event.revision === revision)).toMatchObject({
        type: 'SoulExportRequested',
        hash: Buffer.from(hash, 'base64url').toString('hex'),
      });
    });

    it('have a published schema [8.7a]', async () => {
      const page = await readFile(new URL('../../docs/reference/soul.schema.json', import.meta.url), 'utf8');
      expect(ok(await running.api.get('/souls/schema')).body).toEqual(JSON.parse(page));
    });

    it('are unknown under ids that no archive has [8.5d, 8.8b]', async () => {
      const unknown = 'A'.repeat(43);
      const none = await running.api.get(`/souls/${unknown}/proof?memoryId=m1`);
      expect([none.status, codeOf(none)]).toEqual([404, 'SOUL_NOT_FOUND']);
      expect((await running.api.post(`/souls/${unknown}/verify`)).status).toBe(404);
      expect(ok(await running.api.get(`/souls/${unknown}`)).body).not.toHaveProperty('soul');
    });
  });
};

/** Exports of souls while the server is killed. */
export const soulKillScenarios = (profile: string, open: OpenServer): void => {
  describe(`souls on ${profile}, after kills`, () => {
    const running = projectingServer(open);
    const { ok, pathOf, freshMind, begin, upload, confirm, types } = clientOf(running);

    it('continue after kill -9 once a step was answered [8.6a]', async () => {
      const npcId = await freshMind();
      const killed = async (): Promise<void> => {
        await running.server.restart('kill');
        running.again();
      };
      const begun = await begin(npcId);
      await killed();
      // The address of the server may have changed.
      const auiEndpoint = `${running.server.url}/archive`;
      const { status, id: txId } = await upload({ ...begun.se1Instruction, auiEndpoint });
      expect(status).toBe(201);
      await killed();
      const done = ok(await confirm(npcId, begun, { aurTxId: txId })).body as JsonObject;
      await killed();
      expect(ok(await confirm(npcId, begun, { aurTxId: txId })).body).toEqual(done);
      expect(await types(npcId)).toEqual(['SoulExportRequested', 'SoulSealed', 'SoulExported']);
      expect(ok(await running.api.post(`/souls/${txId ?? ''}/verify`)).body).toMatchObject({ valid: true });
    });

    it('are exported completely and once, whenever the server is killed within a step', async () => {
      const npcId = await freshMind();
      /** Retries until the response is not a 503, which a server that has just started may send. */
      const answered = <T>(step: () => Promise<T | null>): Promise<T> =>
        vi.waitFor(
          async () => {
            const answer = await step();
            if (answer === null) throw new Error('the step has no answer yet');
            return answer;
          },
          { timeout: 60_000, interval: 500 },
        );
      /** The response to a step that is retried until it has one; at first the server is killed during it. */
      const inSpiteOfKills = async <T>(step: () => Promise<T | null>): Promise<T> => {
        for (const waited of KILLED_AFTER_MS) {
          const asked = step().catch(() => null);
          await new Promise((resolve) => setTimeout(resolve, waited));
          await running.server.restart('kill');
          running.again();
          await asked;
        }
        return answered(step);
      };
      const keyed =
        (path: string, body: object = {}) =>
        async (): Promise<JsonObject | null> => {
          const key = sha256Base64url(jcs({ path, ...body }));
          const reply = await running.api.post(path, body, { 'idempotency-key': key });
          return reply.status === 200 ? (reply.body as JsonObject) : null;
        };
      for (let place = 0; place < LONG_MEMORIES; place += 1) {
        const text = `${String(place)} ${'The road is long. '.repeat(400)}`;
        await answered(keyed(`${pathOf(npcId)}/memory`, { text }));
      }
      const begun = (await inSpiteOfKills(keyed(`${pathOf(npcId)}/soul/export`))) as unknown as Begun;
      const { se1SignedPayload: soul } = begun;
      expect(soul['memories']).toHaveLength(2 + LONG_MEMORIES);
      const txId = await inSpiteOfKills(async () => {
        // The address of the server may have changed.
        const auiEndpoint = `${running.server.url}/archive`;
        return (await upload({ ...begun.se1Instruction, auiEndpoint })).id;
      });
      const done = await inSpiteOfKills(async () => {
        const reply = await confirm(npcId, begun, { aurTxId: txId });
        return reply.status === 200 ? (reply.body as JsonObject) : null;
      });
      expect(done).toMatchObject({ txId, soul: { id: soul['id'] } });
      expect(await types(npcId)).toEqual(['SoulExportRequested', 'SoulSealed', 'SoulExported']);

      const agent = `/v1/agents/${encodeURIComponent(npcId)}/soul/export`;
      const { soul: atOnce } = (await inSpiteOfKills(keyed(agent))) as { readonly soul: JsonObject };
      expect(await types(npcId)).toHaveLength(6);
      for (const one of [soul, atOnce]) {
        const id = sha256Base64url(jcs(one));
        const read = await fetch(`${running.server.url}/archive/${id}`);
        expect(await read.json()).toEqual(one);
      }
      const listed = async () =>
        (ok(await running.api.get('/souls')).body as { souls: JsonObject[] }).souls.filter(
          (one) => one['npcId'] === npcId,
        );
      await expect.poll(listed, { timeout: 60_000, interval: 300 }).toHaveLength(2);
    }, 300_000);
  });
};
