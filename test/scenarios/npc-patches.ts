import { describe, expect, it } from 'vitest';

import { codeOf, type Reply } from '../support/api.js';
import { projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

/** Changing parts of an NPC: the same on every profile. */
export const npcPatchScenarios = (profile: string, open: OpenServer): void => {
  describe(`a patch of an NPC on ${profile}`, () => {
    const running = projectingServer(open);
    let npcs = 0;
    const ok = (reply: Reply): Reply => {
      expect(reply.status, reply.text).toBe(200);
      return reply;
    };
    const newNpc = async (members: object = { persona: 'Calm.', data: { hp: 3, mood: { fear: 0 } } }) => {
      const npcId = `patched-${String((npcs += 1))}`;
      const etag = ok(await running.api.post('/npcs', { npcId, ...members })).headers.get('etag');
      return { npcId, etag };
    };
    const patch = (npcId: string, body: object, headers: Record<string, string> = {}): Promise<Reply> =>
      running.api('PATCH', `/npcs/${npcId}`, body, headers);
    const get = async (npcId: string): Promise<Reply> => ok(await running.api.get(`/npcs/${npcId}`));
    const typesOf = async (npcId: string): Promise<readonly string[]> =>
      (ok(await running.api.get(`/npcs/${npcId}/history`)).body.events as { type: string }[]).map(({ type }) => type);

    it('changes what it names, and nothing else [2.1l, 2.1m]', async () => {
      const { npcId } = await newNpc();
      const type = { 'content-type': 'application/merge-patch+json' };
      const { body } = ok(await patch(npcId, { data: { hp: 2, mood: { fear: null, joy: 1 } } }, type));
      expect(body).toMatchObject({ npcId, persona: 'Calm.', data: { hp: 2, mood: { joy: 1 } }, revision: 1 });
      ok(await running.api.post('/rules', { rulesetId: 'patched', rulesetRules: [] }));
      expect(ok(await patch(npcId, { persona: null, rulesetId: 'patched' })).body).toMatchObject({
        persona: '',
        rulesetId: 'patched',
        revision: 3,
      });
      for (const unbound of [{ rulesetId: null }, { rulesetId: 'patched' }, { rulesetId: '', data: null }])
        ok(await patch(npcId, unbound));
      const { body: left } = await get(npcId);
      expect([left.data, left.rulesetId]).toEqual([{}, undefined]);
      const types = await typesOf(npcId);
      for (const nothing of [{}, { persona: '' }, { data: { hp: null } }, { data: null }, { rulesetId: null }])
        expect(ok(await patch(npcId, nothing)).body).toEqual(left);
      expect(await typesOf(npcId)).toEqual(types);
      expect(types).toEqual([
        ...['NpcRegistered', 'NpcUpdated', 'NpcUpdated', 'RulesetBound', 'RulesetBound', 'RulesetBound'],
        ...['NpcUpdated', 'RulesetBound'],
      ]);
    });

    it('is refused for an unknown NPC, an unknown ruleset and too much data, and records nothing [2.1m]', async () => {
      const unknown = await patch('patched-by-nobody', { persona: 'Bold.' });
      expect([unknown.status, codeOf(unknown)]).toEqual([404, 'NPC_NOT_FOUND']);
      expect((await running.api.get('/npcs/patched-by-nobody')).status).toBe(404);
      const { npcId } = await newNpc({ data: { notes: 'x'.repeat(262_000) } });
      const unregistered = await patch(npcId, { persona: 'Bold.', rulesetId: 'gatehouse' });
      expect([unregistered.status, codeOf(unregistered)]).toEqual([422, 'RULESET_UNKNOWN']);
      const large = await patch(npcId, { data: { more: 'x'.repeat(300) } });
      expect([large.status, codeOf(large), large.body.error.details.limitBytes]).toEqual([
        ...[413, 'DATA_TOO_LARGE', 262_144],
      ]);
      expect(await typesOf(npcId)).toEqual(['NpcRegistered']);
    });

    it('with If-Match changes only the version that it names [2.1n, 2.1o]', async () => {
      const { npcId, etag } = await newNpc();
      expect(etag).toBe('"0"');
      // A memory changes nothing that a patch changes.
      ok(await running.api.post(`/npcs/${npcId}/memory`, { text: 'It rained.' }));
      expect((await get(npcId)).headers.get('etag')).toBe('"0"');
      const first = ok(await patch(npcId, { data: { hp: 2 } }, { 'if-match': '"0"' }));
      const { revision } = first.body as { revision: number };
      const current = `"${String(revision)}"`;
      for (const reply of [first, await get(npcId), ok(await running.api.post('/npcs', { npcId }))])
        expect(reply.headers.get('etag')).toBe(current);
      for (const stale of ['"0"', `W/${current}`, '"0", "1"']) {
        const refused = await patch(npcId, { data: { hp: 1 } }, { 'if-match': stale });
        expect([refused.status, codeOf(refused), refused.body.error.details]).toEqual([
          ...[412, 'PRECONDITION_FAILED', { etag: current }],
        ]);
      }
      const malformed = await patch(npcId, { data: { hp: 1 } }, { 'if-match': '2' });
      expect([malformed.status, codeOf(malformed), malformed.body.error.details]).toEqual([
        ...[400, 'HEADER_INVALID', { header: 'If-Match' }],
      ]);
      expect((await get(npcId)).body.data.hp).toBe(2);
      for (const [expected, hp] of [
        ['*', 1],
        [`"${String(revision + 1)}"`, 0],
        [`"999", "${String(revision + 2)}"`, -1],
      ] as const)
        expect(ok(await patch(npcId, { data: { hp } }, { 'if-match': expected })).body.data.hp).toBe(hp);
    });

    it('with If-Match and a key is answered like the first time if it is repeated [2.1r, 1.7a]', async () => {
      const { npcId, etag } = await newNpc();
      const headers = { 'if-match': etag ?? '', 'idempotency-key': `patch-${npcId}` };
      const first = ok(await patch(npcId, { data: { hp: 2 } }, headers));
      ok(await patch(npcId, { data: { hp: 1 } }));
      const again = ok(await patch(npcId, { data: { hp: 2 } }, headers));
      expect([again.body, again.headers.get('etag')]).toEqual([first.body, first.headers.get('etag')]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      const reused = await patch(npcId, { data: { hp: 0 } }, headers);
      expect([reused.status, codeOf(reused)]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
      const stale = await patch(npcId, { data: { hp: 2 } }, { 'if-match': etag ?? '' });
      expect([stale.status, codeOf(stale)]).toEqual([412, 'PRECONDITION_FAILED']);
      expect((await get(npcId)).body.data.hp).toBe(1);
      expect(await typesOf(npcId)).toEqual(['NpcRegistered', 'NpcUpdated', 'NpcUpdated']);
    });

    it('with a key is refused again if its version was not the current one [2.1r]', async () => {
      const { npcId } = await newNpc();
      const key = { 'idempotency-key': `late-${npcId}` };
      for (const [tag, replayed] of [
        ['"7"', null],
        ['"0"', 'true'],
      ] as const) {
        const refused = await patch(npcId, { data: { hp: 2 } }, { ...key, 'if-match': tag });
        expect([refused.status, refused.headers.get('idempotency-replayed')]).toEqual([412, replayed]);
      }
    });

    it('is carried out for one of many that name the same version [2.1p]', async () => {
      const { npcId, etag } = await newNpc();
      const replies = await Promise.all(
        Array.from({ length: 16 }, (_, n) =>
          patch(npcId, { data: { [`by${String(n)}`]: n } }, { 'if-match': etag ?? '' }),
        ),
      );
      expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 15 }, () => 412)]);
      expect(await typesOf(npcId)).toEqual(['NpcRegistered', 'NpcUpdated']);
    });
  });
};
