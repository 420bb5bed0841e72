import { describe, expect, it, vi } from 'vitest';

import { patientApiOf, type Reply } from '../support/api.js';
import type { OpenServer } from './server-under-test.js';
import { projectingServer } from './projecting-server.js';

type Item = {
  readonly id: string;
  readonly text: string;
  readonly similarity: number;
  readonly scoreParts?: Readonly<Record<string, number>>;
  readonly cause: { readonly revision: number };
};

const NECKLACE = 'the player stole the ruby necklace';
const THIEF = 'a thief took my jewelry';

/** Recall with other words than those of the memory: the same on every profile. */
export const recallScenarios = (profile: string, open: OpenServer): void => {
  describe(`recall on ${profile}`, () => {
    const running = projectingServer(open);
    let minds = 0;
    const newMind = (): string => `mind-${String((minds += 1))}`;
    const store = async (npcId: string, text: string, more: object = {}): Promise<Reply> => {
      const reply = await running.api.post(`/npcs/${npcId}/memory`, { text, ...more });
      expect(reply.status, reply.text).toBe(200);
      return reply;
    };
    const recall = async (
      npcId: string,
      body: object,
      headers: Record<string, string> = {},
    ): Promise<readonly Item[]> => {
      const reply = await running.api.post(`/npcs/${npcId}/memory/recall`, body, headers);
      expect(reply.status, reply.text).toBe(200);
      return reply.body as readonly Item[];
    };
    const others = [
      'the weather was mild and the harvest good',
      'the blacksmith sharpened an axe',
      'soup was served for supper at the inn',
    ];

    it('finds recently stored memories by other words, on both families of routes [1.1a, 1.1b, 3.3c, 3.5d, 3.5e, 3.6a]', async () => {
      const npcId = newMind();
      for (const text of others) await store(npcId, text);
      await store(npcId, NECKLACE);
      const [best] = await recall(npcId, { query: THIEF });
      expect(best).toMatchObject({ text: NECKLACE, content: NECKLACE, embedding: [], confirmed: true });
      expect(best?.scoreParts?.['meaning']).toBe(best?.similarity);
      const agent = await running.api.post(`/v1/agents/${npcId}/memory/recall`, { query: THIEF });
      expect([agent.status, agent.body[0]]).toMatchObject([
        200,
        { text: NECKLACE, type: 'observation', metadata: {}, id: best?.id },
      ]);
      expect(agent.body[0].score).toBeGreaterThanOrEqual(0.5);
      for (const { score } of agent.body as { readonly score: number }[]) expect(score).toBeGreaterThanOrEqual(0.5);
      expect(agent.headers.get('anima-embedding-pending')).toBeNull();
    });

    it('finds each memory immediately after it was stored, every time [1.8d]', async () => {
      const npcId = newMind();
      for (let at = 0; at < 5; at += 1) {
        const { headers } = await store(npcId, `the number of the night is ${String(at)}`);
        const reply = await running.api.post(`/npcs/${npcId}/memory/recall`, {
          query: 'the number of the night',
          limit: 100,
        });
        expect(reply.body).toHaveLength(at + 1);
        const revision = Number(headers.get('anima-revision'));
        expect(Number(reply.headers.get('anima-revision'))).toBeGreaterThanOrEqual(revision);
      }
    });

    it('respects limits and filters [3.3a, 3.3d]', async () => {
      const npcId = newMind();
      await store(npcId, NECKLACE, { type: 'emotion', importance: 0.9 });
      await store(npcId, `${NECKLACE} again`, { type: 'experience', importance: 0.2 });
      for (const text of others) await store(npcId, text, { type: 'emotion', importance: 0.1 });
      const texts = async (more: object): Promise<readonly string[]> =>
        (await recall(npcId, { query: THIEF, ...more })).map(({ text }) => text);
      expect(await texts({})).toHaveLength(5);
      expect(await texts({ limit: 1 })).toHaveLength(1);
      expect(await texts({ type: 'experience' })).toEqual([`${NECKLACE} again`]);
      expect((await texts({ type: 'experience,emotion' })).length).toBe(5);
      expect(await texts({ type: 'emotion', minImportance: 0.5 })).toEqual([NECKLACE]);
      expect(await texts({ similarity: 1 })).toEqual([]);
      expect(await texts({ threshold: 1 })).toEqual([]);
      expect(await texts({ similarity: 0, threshold: 1 })).toHaveLength(5);
      expect(await texts({ type: 'knowledge' })).toEqual([]);
    });

    it('returns equally good memories newest first [3.3b]', async () => {
      const npcId = newMind();
      const ids: string[] = [];
      for (let at = 0; at < 3; at += 1) {
        const reply = await running.api.post(`/v1/agents/${npcId}/memory`, { text: NECKLACE });
        ids.unshift((reply.body as { id: string }).id);
      }
      expect((await recall(npcId, { query: THIEF })).map(({ id }) => id)).toEqual(ids);
    });

    it('omits cleared memories, except as of an earlier moment [3.3d, 3.4b, 3.4c]', async () => {
      const npcId = newMind();
      const stored = await store(npcId, NECKLACE);
      const before = Number(stored.headers.get('anima-revision'));
      expect((await running.api('DELETE', `/npcs/${npcId}/memory/clear`)).status).toBe(200);
      const at = new Date().toISOString();
      expect(await recall(npcId, { query: THIEF })).toEqual([]);
      await store(npcId, others[0] ?? '');
      expect((await recall(npcId, { query: THIEF })).map(({ text }) => text)).toEqual([others[0]]);
      for (const asOf of [before, String(before)]) {
        expect((await recall(npcId, { query: THIEF, asOf })).map(({ text }) => text)).toEqual([NECKLACE]);
      }
      expect(await recall(npcId, { query: THIEF, asOf: at })).toEqual([]);
      expect(await recall(npcId, { query: THIEF, asOf: '2001-01-01T00:00:00Z' })).toEqual([]);
    });

    it('returns nothing for an unknown mind, without creating it, nor for an archived one [1.6g, 2.1f]', async () => {
      const unknown = newMind();
      expect(await recall(unknown, { query: THIEF })).toEqual([]);
      expect((await running.api.get(`/npcs/${unknown}`)).status).toBe(404);
      const npcId = newMind();
      await store(npcId, NECKLACE);
      expect((await running.api('DELETE', `/npcs/${npcId}`)).status).toBe(200);
      expect(await recall(npcId, { query: THIEF })).toEqual([]);
    });

    it('returns nothing of another tenant’s mind with the same name', async () => {
      const npcId = newMind();
      await store(npcId, NECKLACE);
      const made = await running.api.post('/tenants', { tenantId: `t${npcId}` });
      const other = patientApiOf(running.server.url, (made.body as { key: string }).key);
      const reply = await other.post(`/npcs/${npcId}/memory/recall`, { query: THIEF });
      expect([reply.status, reply.body]).toEqual([200, []]);
    });

    it("records a client's own recall, also for a new mind [1.6f, 3.3e, 3.3f]", async () => {
      const npcId = newMind();
      const brought = [{ text: NECKLACE, similarity: 0.7 }, { text: 'the gate is old' }];
      const body = { query: THIEF, similarity: 0.4, limit: 3, memories: brought };
      const reply = await running.api.post(`/npcs/${npcId}/memory/recall`, body, { 'idempotency-key': npcId });
      expect([reply.status, reply.headers.get('anima-revision')]).toEqual([200, '0']);
      expect(reply.body).toMatchObject([
        { text: NECKLACE, content: NECKLACE, type: 'observation', importance: 0.5, similarity: 0.7, embedding: [] },
        { text: 'the gate is old', importance: 0.5, similarity: 0 },
      ]);
      const again = await running.api.post(`/npcs/${npcId}/memory/recall`, body, { 'idempotency-key': npcId });
      expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([reply.text, 'true']);
      const { body: history } = await running.api.get(`/npcs/${npcId}/history`);
      expect(history.events).toMatchObject([
        {
          type: 'RecallReported',
          data: { query: THIEF, similarity: 0.4, limit: 3, memories: brought },
        },
      ]);
      const [{ id: eventId }] = history.events as readonly [{ readonly id: string }];
      for (const [at, item] of (reply.body as readonly Item[]).entries())
        expect(item).toMatchObject({ id: `${eventId}-${String(at)}`, cause: { turnId: null, eventId, revision: 0 } });
      // It stores nothing.
      expect((await running.api.get(`/npcs/${npcId}/memory`)).body).toEqual([]);
      expect((await running.api.post(`/npcs/${npcId}/memory/recall`, { query: THIEF, memories: [] })).body).toEqual([]);
      const { body: both } = await running.api.get(`/npcs/${npcId}/history?type=RecallReported`);
      expect(both.events.at(-1)).toMatchObject({ revision: 1, data: { memories: [] } });
    });

    it('refuses parameters out of bounds [3.3a, 3.5d, 3.6g]', async () => {
      const npcId = newMind();
      const status = async (body: object, path = `/npcs/${npcId}/memory/recall`): Promise<number> =>
        (await running.api.post(path, body)).status;
      const query = THIEF;
      for (const body of [
        {},
        { query: 'é'.repeat(4_097) },
        { query, limit: 0 },
        { query, limit: 101 },
        { query, similarity: 1.1 },
        { query, minImportance: -1 },
        { query, asOf: 'yesterday' },
        { query, memories: [{}] },
      ])
        expect(await status(body), JSON.stringify(body)).toBe(400);
      expect(await status({ query: 'é'.repeat(4_096), limit: 100, similarity: null })).toBe(200);
      expect(await status({ query: '' })).toBe(200);
      const agent = `/v1/agents/${npcId}/memory/recall`;
      for (const body of [{}, { query, limit: 101 }, { query, minScore: 2 }])
        expect(await status(body, agent)).toBe(400);
      const reader = await running.api.post('/keys', { name: 'npc only', scopes: ['npc'] });
      const reply = await patientApiOf(running.server.url, (reader.body as { key: string }).key).post(agent, { query });
      expect(reply.status).toBe(403);
    });

    it('waits for the requested revision, and refuses one that does not come', async () => {
      const npcId = newMind();
      const revision = (await store(npcId, NECKLACE)).headers.get('anima-revision') ?? '';
      expect(await recall(npcId, { query: THIEF }, { 'anima-min-revision': revision })).toHaveLength(1);
      const late = await running.api.post(
        `/npcs/${npcId}/memory/recall`,
        { query: THIEF },
        { 'anima-min-revision': '99' },
      );
      expect([late.status, late.body.error.code]).toEqual([503, 'READ_MODEL_BEHIND']);
    });

    it('finds the same after a restart', async () => {
      const npcId = newMind();
      await store(npcId, NECKLACE);
      await running.server.restart('kill');
      running.again();
      // A projector that was killed needs longer than a recall waits for it.
      await vi.waitFor(
        async () => expect((await recall(npcId, { query: THIEF })).map(({ text }) => text)).toEqual([NECKLACE]),
        { timeout: 30_000, interval: 500 },
      );
    });
  });
};
