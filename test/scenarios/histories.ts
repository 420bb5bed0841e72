import { describe, expect, it } from 'vitest';

import type { Reply } from '../support/api.js';
import { codeOf } from '../support/api.js';
import { projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

type Event = { readonly revision: number; readonly type: string; readonly actor: string; readonly at: string };

/** Histories as auditors read them over HTTP: the same on every profile. */
export const historyScenarios = (profile: string, open: OpenServer): void => {
  describe(`histories on ${profile}`, () => {
    const running = projectingServer(open);
    const ok = (reply: Reply): Reply => {
      expect(reply.status, reply.text).toBe(200);
      return reply;
    };
    const eventsOf = (reply: Reply): readonly Event[] => (ok(reply).body as { events: readonly Event[] }).events;

    it('are filtered by turn, type, actor and time, and exported completely [10.1b, 10.1d, 10.1e]', async () => {
      const path = '/npcs/an%20audited%20one';
      const said = { generatedOutput: '{"dialogue": "=1+1", "stateDelta": {"coins": 3}}' };
      ok(await running.api.post('/npcs', { npcId: 'an audited one', persona: 'Counts twice.' }));
      const { turnId } = ok(await running.api.post(`${path}/verdict`, said)).body as { turnId: string };
      ok(await running.api.post(`${path}/verdict`, said));
      const all = eventsOf(await running.api.get(`${path}/history`));
      expect(all.map(({ type }) => type).slice(0, 3)).toEqual(['NpcRegistered', 'VerdictReached', 'StateChanged']);

      const ofTurn = eventsOf(await running.api.get(`${path}/history?turnId=${turnId}`));
      expect(ofTurn).toEqual(all.filter((event) => 'turnId' in event && event.turnId === turnId));
      expect(ofTurn.length).toBeGreaterThan(0);
      const actor = encodeURIComponent(all[0]?.actor ?? '');
      expect(eventsOf(await running.api.get(`${path}/history?actor=${actor}&type=StateChanged`))).toHaveLength(2);
      expect(eventsOf(await running.api.get(`${path}/history?actor=system`))).toEqual([]);
      const [first, last] = [all[0]?.at ?? '', all.at(-1)?.at ?? ''];
      expect(eventsOf(await running.api.get(`${path}/history?since=${first}&until=${last}`))).toEqual(all);
      expect(eventsOf(await running.api.get(`${path}/history?until=2020-01-01T00:00:00Z`))).toEqual([]);
      const refused = await running.api.get(`${path}/history?since=yesterday`);
      expect([refused.status, codeOf(refused)]).toEqual([400, 'SCHEMA_INVALID']);

      const exported = ok(await running.api.get(`${path}/history/export`));
      expect(exported.headers.get('content-type')).toBe('application/x-ndjson');
      expect(exported.headers.get('content-disposition')).toBe('attachment; filename="an_audited_one.ndjson"');
      const lines = exported.text.split('\n').filter((line) => line !== '');
      expect(lines.map((line) => JSON.parse(line) as Event)).toEqual(all);
      const csv = ok(await running.api.get(`${path}/history/export?format=csv&type=VerdictReached`));
      expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(csv.text.split('\r\n').map((line) => line.split(',')[0])).toEqual(['revision', '1', '3', '']);
      const unknown = await running.api.get('/npcs/nobody/history/export');
      expect([unknown.status, codeOf(unknown)]).toEqual([404, 'NPC_NOT_FOUND']);
    });
  });
};
