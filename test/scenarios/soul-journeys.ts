import { describe, expect, it } from 'vitest';

import type { JsonObject } from '../../src/kernel/base/json.js';
import type { SoulDocument } from '../../src/features/souls/domain/document.js';
import type { Api, Reply } from '../support/api.js';
import { projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

const TEXTS = [
  'The blacksmith owes me three silver coins.',
  'Wolves were heard near the old bridge at night.',
  'The captain of the guard likes honey cakes.',
  'A stranger asked for the way to the crypt.',
];

const ok = (reply: Reply): Reply => {
  expect(reply.status, reply.text).toBe(200);
  return reply;
};

/** A mind with a past: state, memories, one of them confirmed. */
const liveAWhile = async (api: Api, npcId: string): Promise<void> => {
  const data = {
    name: 'Brann',
    mood: 'friendly',
    fear: 0.5,
    inventory: ['lamp'],
    relationships: { mira: 0.75 },
    coins: 3,
  };
  ok(await api.post('/npcs', { npcId, persona: 'Brann lights the lamps.', data }));
  for (const text of TEXTS) ok(await api.post(`/npcs/${npcId}/memory`, { text, importance: 0.6 }));
  const known = { text: 'The crypt is locked.', type: 'knowledge', metadata: { page: 7, tags: ['crypt'] } };
  expect((await api.post(`/v1/agents/${npcId}/memory`, known)).status).toBe(201);
};

const stateOf = async (api: Api, npcId: string): Promise<JsonObject> => {
  const { persona, data } = ok(await api.get(`/npcs/${npcId}`)).body as JsonObject;
  return { persona: persona ?? null, data: data ?? null };
};
const memoriesOf = async (api: Api, npcId: string): Promise<readonly JsonObject[]> =>
  (ok(await api.get(`/npcs/${npcId}/memory`)).body as readonly JsonObject[]).map((memory) => ({
    ...{ id: memory['id'] ?? null, text: memory['text'] ?? null, type: memory['type'] ?? null },
    ...{ importance: memory['importance'] ?? null, createdAt: memory['createdAt'] ?? null },
    ...{ confirmed: memory['confirmed'] ?? null, metadata: memory['metadata'] ?? null },
  }));
/** What a mind recalls once every memory has its vector. */
const recalled = async (api: Api, npcId: string, query: string): Promise<readonly unknown[]> => {
  const ask = async (): Promise<Reply> => ok(await api.post(`/npcs/${npcId}/memory/recall`, { query, limit: 4 }));
  await expect
    .poll(async () => (await ask()).headers.get('anima-embedding-pending'), { timeout: 60_000, interval: 300 })
    .toBeNull();
  return ((await ask()).body as readonly JsonObject[]).map(({ id, similarity }) => [id, Number(similarity).toFixed(3)]);
};

/** Moves a mind by the two phases of both servers, as a client does, and checks both after each step. */
const move = async (from: Api, to: Api, npcId: string): Promise<void> => {
  const begun = ok(await from.post(`/npcs/${npcId}/soul/export`, { npcIdRef: npcId })).body as {
    se1Instruction: { auiEndpoint: string; auiContentType: string; auiAuthHeader: string; auiPayload: SoulDocument };
    se1Signature: string;
  };
  const { auiEndpoint, auiContentType, auiAuthHeader, auiPayload } = begun.se1Instruction;
  expect(
    (ok(await from.get('/souls')).body as { souls: readonly { npcId: string }[] }).souls.map((soul) => soul.npcId),
  ).not.toContain(npcId);
  const uploaded = await fetch(auiEndpoint, {
    method: 'POST',
    headers: { 'content-type': auiContentType, authorization: auiAuthHeader },
    body: JSON.stringify(auiPayload),
  });
  const txId = uploaded.headers.get('x-id') ?? '';
  ok(
    await from.post(`/npcs/${npcId}/soul/confirm`, {
      secUploadResult: { aurTxId: txId, aurStatus: uploaded.status, aurSuccess: true },
      secSignedPayload: auiPayload,
      secSignature: begun.se1Signature,
    }),
  );
  expect(ok(await from.post(`/souls/${txId}/verify`)).body).toMatchObject({ valid: true, signer: 'ours' });
  const known = ok(await from.get(`/souls/${txId}`)).body as { si1Instruction: { adiGatewayUrl: string } };

  ok(await to.post('/npcs/import', { txIdRef: txId }));
  expect((await to.get(`/npcs/${npcId}`)).status).toBe(404);
  const download = await fetch(`${known.si1Instruction.adiGatewayUrl}/${txId}`);
  const confirmed = ok(
    await to.post('/npcs/import/confirm', {
      sicTxId: txId,
      sicDownloadResult: { adrBody: await download.text(), adrStatus: download.status, adrSuccess: true },
    }),
  );
  expect(confirmed.body).toMatchObject({ npcId, copy: false, signer: 'unknown' });
};

/** Two servers without each other's keys, each in its own process: minds move both ways. */
export const soulJourneys = (
  one: { readonly name: string; readonly open: OpenServer },
  other: { readonly name: string; readonly open: OpenServer },
): void => {
  describe('a soul that moves between two unrelated servers', () => {
    const servers = [projectingServer(one.open), projectingServer(other.open)] as const;

    it.each([
      [one.name, other.name, 0, 1],
      [other.name, one.name, 1, 0],
    ] as const)(
      'from %s to %s stays the same mind: state, memories, recall',
      async (_, __, source, target) => {
        const [from, to] = [servers[source].api, servers[target].api];
        const npcId = `brann-from-${String(source)}`;
        await liveAWhile(from, npcId);
        await move(from, to, npcId);
        expect(await stateOf(to, npcId)).toEqual(await stateOf(from, npcId));
        expect(await memoriesOf(to, npcId)).toEqual(await memoriesOf(from, npcId));
        for (const query of ['Who likes cakes?', 'What was heard at the bridge?', 'Who owes you money?'])
          expect(await recalled(to, npcId, query)).toEqual(await recalled(from, npcId, query));
      },
      120_000,
    );
  });
};
