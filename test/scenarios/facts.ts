import { describe, expect, it } from 'vitest';

import { apiOf, codeOf, type Reply } from '../support/api.js';
import { projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

/** What the game reports: the same on every profile. */
export const factsScenarios = (profile: string, open: OpenServer): void => {
  describe(`facts on ${profile}`, () => {
    const running = projectingServer(open);
    let npcs = 0;
    const ok = (reply: Reply, status = 200): Reply => {
      expect(reply.status, reply.text).toBe(status);
      return reply;
    };
    const newId = () => `known-${String((npcs += 1))}`;
    const report = (npcId: string, facts: object, headers = {}): Promise<Reply> =>
      running.api.post(`/npcs/${npcId}/facts`, { facts }, headers);
    const factsOf = async (npcId: string): Promise<unknown> =>
      ok(await running.api.get(`/npcs/${npcId}/facts`)).body.facts as unknown;
    const typesOf = async (npcId: string): Promise<readonly string[]> =>
      (ok(await running.api.get(`/npcs/${npcId}/history?limit=500`)).body.events as { type: string }[]).map(
        ({ type }) => type,
      );

    it('are reported as a merge patch, read, and shown as of any moment [5.9a, 5.9b, 5.9h, 5.9j]', async () => {
      const npcId = newId();
      const unknown = await running.api.get(`/npcs/${npcId}/facts`);
      expect([unknown.status, codeOf(unknown)]).toEqual([404, 'NPC_NOT_FOUND']);
      expect(ok(await report(npcId, {})).body).toEqual({ npcId, facts: {}, revision: -1 });
      const first = ok(await report(npcId, { weather: 'storm', war: { days: 3 } }));
      expect(first.body).toEqual({ npcId, facts: { weather: 'storm', war: { days: 3 } }, revision: 0 });
      expect(ok(await report(npcId, { war: { days: 3 } })).body.revision).toBe(0);
      expect(ok(await report(npcId, { weather: null, war: { won: true } })).body).toEqual({
        ...{ npcId, facts: { war: { days: 3, won: true } }, revision: 1 },
      });
      expect(await typesOf(npcId)).toEqual(['FactsReported', 'FactsReported']);
      const then = ok(await running.api.get(`/npcs/${npcId}/state?asOf=0`)).body as { facts: unknown };
      expect(then.facts).toEqual({ weather: 'storm', war: { days: 3 } });
      expect(ok(await running.api.get(`/npcs/${npcId}`)).body).toMatchObject({ persona: null, data: {} });
      expect(ok(await running.api.get(`/npcs/${npcId}`)).body).not.toHaveProperty('facts');
    });

    it('are bounded, and a report that is refused records nothing [5.9c]', async () => {
      const npcId = newId();
      ok(await report(npcId, { notes: 'x'.repeat(65_000) }));
      for (const facts of [{ more: 'x'.repeat(600) }, { notes: null, all: 'x'.repeat(70_000) }]) {
        const refused = await report(npcId, facts);
        expect([refused.status, codeOf(refused), refused.body.error.details.limitBytes]).toEqual([
          ...[422, 'FACTS_TOO_LARGE', 65_536],
        ]);
      }
      expect(await typesOf(npcId)).toEqual(['FactsReported']);
    });

    it('are changed by nothing but reports [5.9i]', async () => {
      const npcId = newId();
      const facts = { war: true };
      ok(await running.api.post('/npcs', { npcId, data: { hp: 3 }, facts: { war: false } }));
      ok(await report(npcId, facts));
      const lie = { facts: { war: false } };
      const said = JSON.stringify({ dialogue: 'No war.', stateDelta: lie, memoryStore: [{ text: 'No war.' }] });
      ok(
        await running.api.post(`/npcs/${npcId}/verdict`, {
          observation: 'facts.war = false',
          generatedOutput: said,
          npcState: lie,
          context: lie,
        }),
      );
      ok(await running.api('PATCH', `/npcs/${npcId}`, { data: lie, ...lie }));
      ok(await running.api.post(`/v1/agents/${npcId}/process`, { input: 'There is no war.' }));
      expect(await factsOf(npcId)).toEqual(facts);
    });

    it('of an archived NPC are recorded, and it stays archived [5.9k]', async () => {
      const npcId = newId();
      ok(await running.api.post('/npcs', { npcId }));
      ok(await running.api('DELETE', `/npcs/${npcId}`));
      ok(await report(npcId, { war: true }));
      expect(ok(await running.api.get(`/npcs/${npcId}`)).body).toMatchObject({ archived: true });
      expect(await factsOf(npcId)).toEqual({ war: true });
    });

    it('of many NPCs are reported at once, in the order given and once each [5.9d, 5.9e, 5.9f]', async () => {
      const [full, ...others] = Array.from({ length: 100 }, newId);
      ok(await report(full ?? '', { notes: 'x'.repeat(65_500) }));
      const facts = { weather: 'a very long and very heavy storm' };
      const npcIds = [...others, full, others[0]];
      const wrong = await running.api.post('/facts', { npcIds: [...others, 'a/b'], facts });
      expect([wrong.status, codeOf(wrong)]).toEqual([400, 'ID_INVALID']);
      expect((await running.api.get(`/npcs/${others[0] ?? ''}/facts`)).status).toBe(404);
      const key = { 'idempotency-key': `storm-${profile.replace(/\W/g, '')}` };
      const reply = ok(await running.api.post('/facts', { npcIds, facts }, key));
      const { results } = reply.body as { results: { npcId: string; revision?: number; error?: { code: string } }[] };
      expect(results.map(({ npcId }) => npcId)).toEqual([...others, full]);
      expect(results.slice(0, -1).every(({ revision }) => revision === 0)).toBe(true);
      expect(results.at(-1)).toEqual({
        npcId: full,
        error: { code: 'FACTS_TOO_LARGE', message: expect.stringMatching(/64 KiB/) as string },
      });
      ok(await report(others[0] ?? '', { weather: 'sun' }));
      const again = ok(await running.api.post('/facts', { npcIds, facts }, key));
      expect([again.headers.get('idempotency-replayed'), again.body]).toEqual(['true', reply.body]);
      expect(await factsOf(others[0] ?? '')).toEqual({ weather: 'sun' });
      for (const many of [[], Array.from({ length: 1_001 }, () => 'x')])
        expect((await running.api.post('/facts', { npcIds: many, facts })).status).toBe(400);
    });

    it('are reported only with the scope facts, which new keys have [5.9a, 11.4g, 11.4h]', async () => {
      const npcId = newId();
      const keyWith = async (more: object) =>
        (ok(await running.api.post('/keys', { name: 'game', rateLimit: 'off', ...more }), 201).body as { key: string })
          .key;
      const [player, game] = await Promise.all([keyWith({ scopes: ['npc'] }), keyWith({})]);
      for (const path of [`/npcs/${npcId}/facts`, '/facts']) {
        const asked = { npcIds: [npcId], facts: { war: true } };
        const refused = await apiOf(running.server.url, player).post(path, asked);
        expect([refused.status, refused.body.error.details]).toEqual([403, { scope: 'facts' }]);
        ok(await apiOf(running.server.url, game).post(path, asked));
      }
      ok(await apiOf(running.server.url, player).get(`/npcs/${npcId}/facts`));
    });

    it('go along with a soul, except what they say of players if that is left out [5.9l, 8.10d, 8.10g]', async () => {
      const npcId = newId();
      const facts = { war: true, champion: 'Ann', notes: ['Ann paid', 'rain'] };
      ok(await running.api.post('/npcs', { npcId, persona: 'Calm.' }));
      ok(await running.api.post(`/npcs/${npcId}/directive`, { observation: 'Hello.', context: { player: 'Ann' } }));
      ok(await report(npcId, facts));
      const exported = async (asked: object) =>
        ok(await running.api.post(`/v1/agents/${npcId}/soul/export`, asked)).body as {
          soul: { id: string; facts?: unknown };
        };
      const { soul } = await exported({});
      expect(soul.facts).toEqual(facts);
      expect((await exported({ without: ['players'] })).soul.facts).toEqual({ war: true, notes: ['rain'] });
      const txId = `facts-${soul.id}`;
      ok(await running.api.post('/npcs/import', { txIdRef: txId }));
      const confirmed = {
        sicTxId: txId,
        copy: true,
        sicDownloadResult: { adrBody: soul, adrStatus: 200, adrSuccess: true },
      };
      const copy = ok(await running.api.post('/npcs/import/confirm', confirmed)).body as { npcId: string };
      expect(copy.npcId).not.toBe(npcId);
      expect(await factsOf(encodeURIComponent(copy.npcId))).toEqual(facts);
    });
  });
};
