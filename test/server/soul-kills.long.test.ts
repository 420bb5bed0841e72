import { watch } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import type { JsonObject } from '../../src/kernel/base/json.js';
import type { ServerUnderTest } from '../scenarios/server-under-test.js';
import { apiOf, type Reply } from '../support/api.js';
import { openEmbeddedServer } from '../support/embedded-server.js';

/** A kill happens in time or a little late, when the event is already recorded. The number of attempts. */
const ROUNDS = 25;
/** After this time the killed process is dead; the next one takes longer to start. */
const KILLED_WITHIN_MS = 250;

type SoulEvent = { readonly type: string; readonly at: string };

const soulEvents = async (server: ServerUnderTest, npcId: string): Promise<readonly SoulEvent[]> => {
  const { body } = await apiOf(server.url, server.ownerKey).get(`/npcs/${npcId}/history?limit=500`);
  return (body as { readonly events: readonly SoulEvent[] }).events.filter(({ type }) => type.startsWith('Soul'));
};

/**
 * Requests exports of different minds, and kills the server as soon as the archive has a file in a folder, until an event was
 * recorded only after the next start: that kill happened between the two. Every round ends with one of each event, whenever the kill happened.
 */
const killedBetween = async (
  server: ServerUnderTest,
  folder: 'staged' | 'public',
  last: string,
  ask: (npcId: string) => Promise<Reply>,
): Promise<{ readonly npcId: string; readonly reply: Reply }> => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const npcId = `${folder}-${String(round)}`;
    const api = apiOf(server.url, server.ownerKey);
    expect((await api.post(`/npcs/${npcId}/memory`, { text: 'The gate is old.' })).status).toBe(200);
    const seen = new Promise<void>((resolve) => {
      const watcher = watch(join(server.dataDir, 'archive', folder), { recursive: true }, (_, name) => {
        if (!/[A-Za-z0-9_-]{43}/.test(name ?? '')) return;
        watcher.close();
        resolve();
      });
    });
    const asked = ask(npcId).catch(() => null);
    await seen;
    const killedMs = Date.now();
    await server.restart('kill');
    await asked;
    const reply = await ask(npcId);
    expect(reply.status, reply.text).toBe(200);
    const events = await soulEvents(server, npcId);
    const types = events.map(({ type }) => type);
    expect(types).toEqual([...new Set(types)]);
    const recordedMs = Date.parse(events.find(({ type }) => type === last)?.at ?? '');
    if (recordedMs > killedMs + KILLED_WITHIN_MS) return { npcId, reply };
  }
  throw new Error(`no kill in ${String(ROUNDS)} came before ${last}`);
};

const keyed = (server: ServerUnderTest, path: (npcId: string) => string) => (npcId: string) =>
  apiOf(server.url, server.ownerKey).post(path(npcId), {}, { 'idempotency-key': `soul-of-${npcId}` });

it('seals a soul once, and accepts its confirmation, when it is killed after the soul was staged', async () => {
  await using server = await openEmbeddedServer();
  const ask = keyed(server, (npcId) => `/npcs/${npcId}/soul/export`);
  const { npcId, reply } = await killedBetween(server, 'staged', 'SoulSealed', ask);
  const begun = reply.body as {
    readonly se1Instruction: { readonly auiAuthHeader: string; readonly auiPayload: JsonObject };
    readonly se1Signature: string;
  };
  const { auiAuthHeader, auiPayload } = begun.se1Instruction;
  const uploaded = await fetch(`${server.url}/archive`, {
    method: 'POST',
    headers: { authorization: auiAuthHeader },
    body: JSON.stringify(auiPayload),
  });
  const confirmed = await apiOf(server.url, server.ownerKey).post(`/npcs/${npcId}/soul/confirm`, {
    secUploadResult: { aurTxId: uploaded.headers.get('x-id'), aurStatus: 201, aurSuccess: true },
    secSignedPayload: auiPayload,
    secSignature: begun.se1Signature,
  });
  expect(confirmed.status, confirmed.text).toBe(200);
  const types = (await soulEvents(server, npcId)).map(({ type }) => type);
  expect(types).toEqual(['SoulExportRequested', 'SoulSealed', 'SoulExported']);
}, 300_000);

it('exports a soul once when it is killed after the soul was published', async () => {
  await using server = await openEmbeddedServer();
  const ask = keyed(server, (npcId) => `/v1/agents/${npcId}/soul/export`);
  const { npcId, reply } = await killedBetween(server, 'public', 'SoulExported', ask);
  const { soul } = reply.body as { readonly soul: JsonObject };
  const { souls } = (await apiOf(server.url, server.ownerKey).get('/souls')).body as { readonly souls: JsonObject[] };
  const own = souls.filter((listed) => listed['npcId'] === npcId);
  expect(own).toHaveLength(1);
  const read = await fetch(own[0]?.['arweaveUrl'] as string).then((response) => response.json());
  expect(read).toEqual(soul);
}, 300_000);
