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
  readonly refused?: true;
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
      for (const member of ['npcId', 'by', 'to']) {
        expect(codeOf(await running.api.get(query({ [member]: names })))).toBe('SCHEMA_INVALID');
        ok(await running.api.get(query({ [member]: names.slice(names.indexOf(',') + 1) })));
      }
      const others = [{ limit: '101' }, { limit: '0' }, { cursor: 'x' }, { kind: 'sung' }, { since: 'yesterday' }];
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
