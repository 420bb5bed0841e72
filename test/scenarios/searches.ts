import { describe, expect, it } from 'vitest';

import { codeOf, patientApiOf, type Reply } from '../support/api.js';
import { projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

type Hit = {
  readonly npcId: string;
  readonly turnId: string | null;
  readonly revision: number;
  readonly at: string;
  readonly kind: string;
  readonly by: string | null;
  readonly to: string | null;
  readonly text: string;
  readonly snippet: string;
  readonly actor?: string;
  readonly action?: string;
  readonly drRuleId?: string;
  readonly refused?: true;
  readonly code?: string;
  readonly memoryId?: string;
  readonly retracted?: true;
};
type Found = { readonly hits: readonly Hit[]; readonly next?: string };

const query = (members: Readonly<Record<string, string>>): string =>
  `/search?${new URLSearchParams(members).toString()}`;
const shown = ({ kind, by, to, text }: Hit): readonly unknown[] => [kind, by, to, text];

/** Search across all minds of a tenant, over HTTP: the same on every profile. */
export const searchScenarios = (profile: string, open: OpenServer): void => {
  describe(`searches on ${profile}`, () => {
    const running = projectingServer(open);
    const ok = (reply: Reply): Reply => {
      expect(reply.status, reply.text).toBe(200);
      return reply;
    };
    const search = async (members: Readonly<Record<string, string>>, api = running.api): Promise<Found> =>
      ok(await api.get(query(members))).body as Found;
    /** Plays one turn. @returns its id */
    const turn = async (
      npcId: string,
      observation: string,
      generatedOutput: string,
      player?: object,
    ): Promise<string> => {
      const path = `/npcs/${encodeURIComponent(npcId)}/process`;
      const results = [
        undefined,
        { type: 'IdentifyActorResult', actor: { npcId, persona: null, data: {} } },
        { type: 'QueryVectorResult', memories: [] },
        { type: 'ExecuteInferenceResult', generatedOutput },
      ];
      let tape: object = { observation, context: player === undefined ? {} : { player } };
      for (const lastResult of results)
        ({ tape } = ok(await running.api.post(path, { tape, ...(lastResult === undefined ? {} : { lastResult }) }))
          .body as { tape: object });
      return (tape as { turnId: string }).turnId;
    };

    it('find what was heard, said, done and remembered, each with its turn, newest first [10.10a, 10.10b, 10.10d, 10.10g]', async () => {
      const says = JSON.stringify({
        dialogue: 'The lantern costs seven crowns.',
        action: { type: 'SPEAK', target: 'Ranulf', reason: 'he asked for a lantern' },
      });
      const turnId = await turn('vendor', 'Ranulf asks for a lantern.', says, { id: 'p-7', name: 'Anna' });
      ok(await running.api.post('/npcs/vendor/memory', { text: 'Lanterns come from the coast.' }));
      const { hits, next } = await search({ q: 'lantern', npcId: 'vendor' });
      expect(next).toBeUndefined();
      expect(hits.map(shown)).toEqual([
        ['did', 'vendor', 'Ranulf', 'SPEAK -> Ranulf: he asked for a lantern'],
        ['said', 'vendor', 'Ranulf', 'The lantern costs seven crowns.'],
        ['heard', 'Anna', 'vendor', 'Ranulf asks for a lantern.'],
      ]);
      expect(new Set(hits.map((hit) => hit.turnId))).toEqual(new Set([turnId]));
      expect(hits[0]?.snippet).toBe(hits[0]?.text);
      const why = ok(await running.api.get(`/npcs/vendor/verdicts/${turnId}/why`)).body as { dialogue: string };
      expect(why).toMatchObject({ turnId });
      expect((await search({ q: 'LANTERN*', npcId: 'vendor' })).hits.map(({ kind }) => kind)).toEqual([
        'memory',
        'did',
        'said',
        'heard',
      ]);
      expect((await search({ q: 'lantern*', kind: 'memory,heard', npcId: 'vendor' })).hits).toHaveLength(2);
      expect((await search({ q: '"seven crowns" -coast' })).hits.map(shown)).toEqual(
        [hits[1]].map((hit) => hit && shown(hit)),
      );
      expect((await search({ q: '"crowns seven"' })).hits).toEqual([]);
      for (const to of ['Ranulf', 'Anna', 'p-7']) expect((await search({ q: 'crowns', to })).hits).toHaveLength(1);
      for (const by of ['Anna', 'p-7']) expect((await search({ by })).hits.map(({ kind }) => kind)).toEqual(['heard']);
      expect((await search({ to: 'nobody' })).hits).toEqual([]);
      const at = hits[0]?.at ?? '';
      expect((await search({ npcId: 'vendor', q: 'crowns', since: at, until: at })).hits).toHaveLength(1);
      expect((await search({ npcId: 'vendor', until: '2020-01-01T00:00:00Z' })).hits).toEqual([]);
    });

    it('find texts in turns of one request, and refused ones [10.10a, 10.10b]', async () => {
      const rulesetRules = [{ drRuleId: 'peace', ruleObsPattern: '.', ruleAction: 'FORBID ATTACK' }];
      expect((await running.api.post('/rules', { rulesetId: 'peace', rulesetRules })).status).toBeLessThan(300);
      ok(await running.api.post('/npcs/guard/directive', { observation: 'A stranger hums a zither tune.' }));
      ok(
        await running.api.post('/npcs/guard/context', {
          observation: 'The zither stops.',
          npcState: { playerName: 'Bo' },
        }),
      );
      ok(
        await running.api.post('/npcs/guard/verdict', {
          observation: 'Zither again.',
          rulesetId: 'peace',
          generatedOutput: '{"dialogue": "Enough!", "action": {"type": "ATTACK", "target": "the bard"}}',
        }),
      );
      const { hits } = await search({ npcId: 'guard', kind: 'heard,said,did' });
      expect(hits.map(({ kind, by, refused }) => [kind, by, refused ?? false])).toEqual([
        ['did', 'guard', true],
        ['said', 'guard', true],
        ['heard', null, false],
        ['heard', 'Bo', false],
        ['heard', null, false],
      ]);
      expect(hits[0]?.text).toBe('ATTACK -> the bard');
    });

    it('find refusals by rule, action, player and key, and mark what was retracted [10.10l, 10.10m]', async () => {
      const rulesetRules = [{ drRuleId: 'no-siege', ruleObsPattern: '.', ruleAction: 'FORBID BESIEGE' }];
      expect((await running.api.post('/rules', { rulesetId: 'sieges', rulesetRules })).status).toBeLessThan(300);
      const made = (await running.api.post('/keys', { name: 'siege' })).body as { key: string; keyId: string };
      const game = patientApiOf(running.server.url, made.key);
      const verdict = async (player: object, output: object): Promise<void> =>
        void ok(
          await game.post('/npcs/captain/verdict', {
            observation: 'Now?',
            rulesetId: 'sieges',
            player,
            generatedOutput: JSON.stringify(output),
          }),
        );
      const anna = { id: 'p-anna', name: 'Anna' };
      await verdict(anna, { dialogue: 'At once!', action: { type: 'BESIEGE' }, memoryStore: ['She wants a siege.'] });
      await verdict(anna, { dialogue: 'We wait.', action: { type: 'SPEAK' }, memoryStore: ['Anna waits.'] });
      await verdict({ id: 'p-bo' }, { dialogue: '', action: { type: 'BESIEGE' } });
      const refused = {
        refused: true,
        code: 'RULE_REFUSED',
        drRuleId: 'no-siege',
        action: 'BESIEGE',
        actor: made.keyId,
      };
      const all = (await search({ npcId: 'captain', refused: 'true' })).hits;
      expect(all.map(({ kind }) => kind)).toEqual(['did', 'said', 'did', 'said']);
      for (const hit of all) expect(hit).toMatchObject(refused);
      const counts = async (members: Readonly<Record<string, string>>): Promise<number> =>
        (await search({ npcId: 'captain', ...members })).hits.length;
      expect(await counts({ drRuleId: 'other,no-siege' })).toBe(4);
      expect(await counts({ drRuleId: 'no' })).toBe(0);
      expect(await counts({ action: 'SPEAK' })).toBe(2);
      expect(await counts({ player: 'p-bo', refused: 'true' })).toBe(2);
      expect(await counts({ player: 'Anna', kind: 'heard' })).toBe(2);
      expect(await counts({ actor: made.keyId, kind: 'heard' })).toBe(3);
      expect(await counts({ actor: 'somebody' })).toBe(0);
      expect((await search({ npcId: 'captain', refused: 'false', kind: 'said' })).hits.map(({ text }) => text)).toEqual(
        ['We wait.'],
      );
      const remembered = async (): Promise<readonly Hit[]> =>
        (await search({ npcId: 'captain', player: 'p-anna', kind: 'memory,heard', refused: 'false' })).hits;
      const [memory] = await remembered();
      expect([memory?.text, typeof memory?.turnId, memory?.retracted]).toEqual(['Anna waits.', 'string', undefined]);
      const retraction = { memoryIds: [memory?.memoryId], reason: 'She left.' };
      ok(await running.api.post('/npcs/captain/memory/retract', retraction));
      expect((await remembered()).map((hit) => [hit.text, hit.retracted])).toContainEqual(['Anna waits.', true]);
    });

    it('count turns and refusals of one mind and of all [10.14a, 10.14b, 10.14c, 10.14e, 10.14f]', async () => {
      type Counted = { turns: number; refusals: number; step: string; buckets: object[]; rules: object[] };
      const made = (await running.api.post('/tenants', { tenantId: 'counting-studio' })).body as { key: string };
      const api = patientApiOf(running.server.url, made.key);
      const counted = async (path: string): Promise<Counted> => ok(await api.get(path)).body as Counted;
      const rulesetRules = [{ drRuleId: 'calm', ruleObsPattern: '.', ruleAction: 'FORBID ATTACK' }];
      expect((await api.post('/rules', { rulesetId: 'calm', rulesetRules })).status).toBeLessThan(300);
      const verdict = (npcId: string, type: string) =>
        api.post(`/npcs/${npcId}/verdict`, {
          observation: 'Now.',
          rulesetId: 'calm',
          generatedOutput: JSON.stringify({ dialogue: 'So be it.', action: { type } }),
        });
      ok(await verdict('one', 'ATTACK'));
      ok(await verdict('one', 'SPEAK'));
      ok(await verdict('two', 'ATTACK'));
      const all = await counted('/activity');
      expect([all.turns, all.refusals, all.step]).toEqual([3, 2, '1h']);
      expect(all.rules).toMatchObject([{ drRuleId: 'calm', refusals: 2 }]);
      expect([24, 25]).toContain(all.buckets.length);
      const days = await counted(
        '/activity?step=1d&from=2026-01-01T00:00:00Z'.replace('2026-01-01', new Date().toISOString().slice(0, 10)),
      );
      expect([days.turns, days.buckets.length <= 2]).toEqual([3, true]);
      const one = await counted('/npcs/one/activity?buckets=1');
      expect([one.turns, one.refusals, one.buckets.length]).toEqual([2, 1, 1]);
      for (const asked of [
        'step=1w',
        'from=then',
        'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
        'from=2020-01-01T00:00:00Z',
      ])
        expect(codeOf(await api.get(`/activity?${asked}`)), asked).toBe('SCHEMA_INVALID');
      expect(codeOf(await api.get('/npcs/nobody/activity'))).toBe('NPC_NOT_FOUND');
    });

    it('list the open turns and the retractions of all minds, page by page [10.1w, 10.12s]', async () => {
      const made = (await running.api.post('/tenants', { tenantId: 'listing-studio' })).body as { key: string };
      const api = patientApiOf(running.server.url, made.key);
      type Opened = { npcId: string; turnId: string; state: string };
      for (const npcId of ['ana', 'ben', 'cem'])
        ok(await api.post(`/npcs/${npcId}/process`, { tape: { observation: 'Hm?', context: {} } }));
      const whole = ok(await api.get('/turns?state=open')).body as readonly Opened[];
      expect(whole.map(({ npcId, state }) => [npcId, state])).toEqual(
        ['ana', 'ben', 'cem'].map((npcId) => [npcId, 'awaitingActor']),
      );
      expect(Object.keys(whole[0] ?? {})).not.toContain('position');
      const first = ok(await api.get('/turns?limit=2'));
      const next = /<(.*)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
      expect((ok(await api.get(next)).body as readonly Opened[]).map(({ npcId }) => npcId)).toEqual(['cem']);
      expect(codeOf(await api.get('/turns?state=ended'))).toBe('SCHEMA_INVALID');
      for (const npcId of ['ana', 'ben']) {
        const { id } = ok(await api.post(`/npcs/${npcId}/memory`, { text: 'It rained.' })).body as { id: string };
        ok(await api.post(`/npcs/${npcId}/memory/retract`, { memoryIds: [id], reason: `Not ${npcId}.` }));
      }
      const retracted = ok(await api.get('/retractions')).body as readonly {
        npcId: string;
        memoryIds: readonly string[];
      }[];
      expect(retracted).toMatchObject([
        { npcId: 'ben', reason: 'Not ben.' },
        { npcId: 'ana', reason: 'Not ana.' },
      ]);
      expect(retracted.map(({ memoryIds }) => memoryIds.length)).toEqual([1, 1]);
      expect(ok(await running.api.get('/turns')).body).not.toContainEqual(expect.objectContaining({ npcId: 'cem' }));
    });

    it('continue page by page without a gap, and still find cleared and archived memories [10.10c, 10.10h]', async () => {
      for (let at = 0; at < 7; at += 1)
        ok(await running.api.post('/npcs/hermit/memory', { text: `Winter number ${at} was cold.` }));
      ok(await running.api('DELETE', '/npcs/hermit/memory/clear'));
      expect((await running.api('DELETE', '/npcs/hermit')).status).toBeLessThan(300);
      // 20 by default.
      for (let at = 0; at < 21; at += 1) ok(await running.api.post('/npcs/oracle/memory', { text: `Omen ${at}.` }));
      const first = await search({ npcId: 'oracle' });
      expect([first.hits.length, typeof first.next]).toEqual([20, 'string']);
      expect((await search({ npcId: 'oracle', limit: '100' })).hits).toHaveLength(21);
      const texts: string[] = [];
      let cursor: string | undefined;
      do {
        const page: Found = await search({ q: 'winter cold', limit: '3', ...(cursor === undefined ? {} : { cursor }) });
        expect(page.hits.length).toBeLessThanOrEqual(3);
        texts.push(...page.hits.map(({ text }) => text));
        cursor = page.next;
      } while (cursor !== undefined);
      expect(texts).toEqual([6, 5, 4, 3, 2, 1, 0].map((at) => `Winter number ${at} was cold.`));
    });

    it('find words in every script, and return hostile texts as plain text [10.10e]', async () => {
      const evil = "\"; DROP TABLE rows; -- \u202e\u0007 NEAR(漢字, 2) ' | ' café";
      ok(await running.api.post('/npcs/scribe/memory', { text: evil }));
      for (const q of ['漢字', 'CAFE', '"drop table"', 'near 字', evil.replaceAll('"', ' ')])
        expect(
          (await search({ q, npcId: 'scribe' })).hits.map(({ text }) => text),
          q,
        ).toEqual([evil]);
      const hostile = ['a" OR "b', "') OR 1=1 --", 'col:drop', '^rows', '{drop table}', 'rows:*', "rows' | 'x"];
      for (const q of hostile) {
        const reply = await running.api.get(query({ q, npcId: 'scribe' }));
        expect([200, 400], q).toContain(reply.status);
      }
    });

    it('belong to a studio, and need the scope to audit [10.10k]', async () => {
      ok(await running.api.post('/npcs/ours/memory', { text: 'A hidden cinnabar mine.' }));
      const made = (await running.api.post('/tenants', { tenantId: 'searching-studio' })).body as { key: string };
      const theirs = patientApiOf(running.server.url, made.key);
      ok(await theirs.post('/npcs/ours/memory', { text: 'Their cinnabar.' }));
      expect((await search({ q: 'cinnabar' }, theirs)).hits.map(({ text }) => text)).toEqual(['Their cinnabar.']);
      expect((await search({ npcId: 'ours' }, theirs)).hits).toHaveLength(1);
      expect((await search({ q: 'cinnabar' })).hits.map(({ text }) => text)).toEqual(['A hidden cinnabar mine.']);
      const keyed = (await running.api.post('/keys', { name: 'body', scopes: ['npc'] })).body as { key: string };
      expect((await patientApiOf(running.server.url, keyed.key).get(query({ q: 'a' }))).status).toBe(403);
    });

    it('are refused if they are invalid [10.10d, 10.10g, 10.10h, 10.10j, 10.10k]', async () => {
      const refusals = [{ q: '' }, { q: '"open' }, { q: '!!!' }, { q: 'x'.repeat(513) }, { q: 'a '.repeat(33) }];
      const names = Array.from({ length: 101 }, (_, at) => `n${String(at)}`).join(',');
      for (const member of ['npcId', 'by', 'to', 'drRuleId', 'action', 'player', 'actor']) {
        expect(codeOf(await running.api.get(query({ [member]: names })))).toBe('SCHEMA_INVALID');
        ok(await running.api.get(query({ [member]: names.slice(names.indexOf(',') + 1) })));
      }
      const others = [
        { limit: '101' },
        { limit: '0' },
        { cursor: 'x' },
        { kind: 'sung' },
        { refused: 'perhaps' },
        { since: 'yesterday' },
      ];
      for (const members of [...refusals, ...others] as Record<string, string>[]) {
        const reply = await running.api.get(query(members));
        expect([reply.status, codeOf(reply)], JSON.stringify(members)).toEqual([400, 'SCHEMA_INVALID']);
      }
      const behind = await running.api.get(query({ npcId: 'vendor' }), { 'anima-min-revision': '999999' });
      expect([behind.status, codeOf(behind)]).toEqual([503, 'READ_MODEL_BEHIND']);
      for (const members of [{ npcId: 'vendor,guard' }, { q: 'lantern' }])
        ok(await running.api.get(query(members), { 'anima-min-revision': '999999' }));
    });
  });
};
