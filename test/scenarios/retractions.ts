import { describe, expect, it } from 'vitest';

import { apiOf, codeOf, type Reply } from '../support/api.js';
import type { OpenServer } from './server-under-test.js';
import { projectingServer } from './projecting-server.js';

type Listed = { readonly id: string; readonly text: string };
type Gone = { readonly memoryId: string; readonly text: string; readonly derivedFrom: readonly string[] };

const LIE = 'The baker poisoned the well.';

/** How memories are traced and retracted, as clients see it over HTTP: the same on every profile. */
export const retractionScenarios = (profile: string, open: OpenServer): void => {
  describe(`retractions on ${profile}`, () => {
    const running = projectingServer(open);
    let minds = 0;
    const freshMind = (): string => `well ${String(minds++)} é`;
    const pathOf = (npcId: string): string => `/npcs/${encodeURIComponent(npcId)}`;
    const ok = ({ status, text, body }: Reply) => {
      expect(status, text).toBe(200);
      return body;
    };
    const list = async (npcId: string, query = ''): Promise<readonly Listed[]> =>
      ok(await running.api.get(`${pathOf(npcId)}/memory${query}`)) as readonly Listed[];
    const texts = async (npcId: string, query = ''): Promise<readonly string[]> =>
      (await list(npcId, query)).map(({ text }) => text);
    const keep = async (npcId: string, text: string): Promise<string> =>
      (ok(await running.api.post(`${pathOf(npcId)}/memory`, { text })) as Listed).id;
    const recall = async (npcId: string, body: object): Promise<readonly string[]> =>
      (ok(await running.api.post(`${pathOf(npcId)}/memory/recall`, body)) as readonly Listed[]).map(({ text }) => text);
    const retract = (npcId: string, body: object): Promise<Reply> =>
      running.api.post(`${pathOf(npcId)}/memory/retract`, { reason: 'A player lied.', ...body });
    const lineage = (npcId: string, memoryId: string, query = ''): Promise<Reply> =>
      running.api.get(`${pathOf(npcId)}/memory/${encodeURIComponent(memoryId)}/lineage${query}`);
    /** A turn of a body that recalls memories, with the text of its model. */
    const turn = async (npcId: string, recalled: readonly (string | Listed)[], said: object): Promise<string> => {
      let tape: object = { observation: 'Who did it?', context: {}, npcState: {} };
      const step = async (lastResult?: object) => {
        const reply = ok(await running.api.post(`${pathOf(npcId)}/process`, { tape, lastResult })) as {
          readonly tape: { readonly turnId: string };
        };
        ({ tape } = reply);
        return reply.tape.turnId;
      };
      await step();
      await step({ type: 'IdentifyActorResult', actor: { npcId, persona: 'Mira.', data: {} } });
      const found = { type: 'observation', importance: 1, similarity: 0.75 };
      const memories = recalled.map((one) => (typeof one === 'string' ? { text: one, ...found } : one));
      await step({ type: 'QueryVectorResult', memories });
      return step({ type: 'ExecuteInferenceResult', generatedOutput: JSON.stringify(said) });
    };

    it('remove memories from lists, recall, confirmations and souls, and leave the past unchanged [10.12f, 10.12g, 10.12h, 10.12i, 10.12j]', async () => {
      const npcId = freshMind();
      const lie = await keep(npcId, LIE);
      await keep(npcId, 'The well is deep.');
      const before = await list(npcId);
      const known = ok(await running.api.get(`${pathOf(npcId)}/history`)) as {
        readonly revision: number;
        readonly events: readonly { readonly actor: string }[];
      };
      const { revision } = known;
      const retractor = known.events[0]?.actor;

      const dry = await retract(npcId, { memoryIds: [lie], dryRun: true });
      const gone = [{ memoryId: lie, text: LIE, derivedFrom: [] }];
      expect(ok(dry)).toEqual({ npcId, retracted: gone, dryRun: true });
      expect(await list(npcId)).toEqual(before);
      expect(ok(await retract(npcId, { memoryIds: [lie, lie] }))).toEqual({ npcId, retracted: gone, dryRun: false });
      expect(ok(await retract(npcId, { memoryIds: [lie] }))).toEqual({ npcId, retracted: [], dryRun: false });

      expect(await texts(npcId)).toEqual(['The well is deep.']);
      expect(await recall(npcId, { query: LIE })).toEqual(['The well is deep.']);
      expect(await recall(npcId, { query: LIE, limit: 1 })).toEqual(['The well is deep.']);
      expect(await list(npcId, `?asOf=${String(revision)}`)).toEqual(before);
      expect((await recall(npcId, { query: LIE, asOf: revision }))[0]).toBe(LIE);
      const confirmed = ok(await running.api.post(`${pathOf(npcId)}/memory`, { text: LIE })) as object;
      expect(confirmed).toMatchObject({ id: lie, confirmed: false, retracted: true });
      expect(await texts(npcId)).toEqual(['The well is deep.']);
      const events = (ok(await running.api.get(`${pathOf(npcId)}/history`)) as { events: object[] }).events;
      expect(events.slice(revision + 1)).toMatchObject([
        { type: 'MemoriesRetracted', actor: retractor, data: { memoryIds: [lie], reason: 'A player lied.' } },
      ]);
      const agent = `/v1/agents/${encodeURIComponent(npcId)}`;
      const exported = ok(await running.api.post(`${agent}/soul/export`, {})) as { soul: { memories: Listed[] } };
      expect(exported.soul.memories.map(({ text }) => text)).toEqual(['The well is deep.']);
      expect(ok(await running.api('DELETE', `${pathOf(npcId)}/memory/clear`))).toMatchObject({ clearCount: 1 });
    });

    it('remove knowledge from cards [10.12f]', async () => {
      const npcId = freshMind();
      ok(await running.api.post('/npcs', { npcId, persona: 'A baker.' }));
      const known = ok(await running.api.post(`${pathOf(npcId)}/memory`, { text: LIE, type: 'knowledge' })) as Listed;
      const card = async (): Promise<string> => {
        const { status, text } = await running.api.get(`${pathOf(npcId)}/card`);
        expect(status, text).toBe(200);
        return text;
      };
      expect(await card()).toContain(LIE);
      ok(await retract(npcId, { memoryIds: [known.id] }));
      expect(await card()).not.toContain(LIE);
    });

    it('remove lore from imported cards, in each form, and end the return of its file [8.9ad, 10.12q]', async () => {
      const npcId = freshMind();
      const entries = [LIE, 'The well is deep.'].map((content) => ({ keys: ['well'], content, enabled: true }));
      const data = { name: 'Mira', description: 'A baker.', character_book: { entries } };
      const given = { spec: 'chara_card_v2', spec_version: '2.0', data, description: 'A baker.' };
      ok(await running.api.post(`${pathOf(npcId)}/card`, given));
      const lie = (await list(npcId)).find(({ text }) => text === LIE);
      const file = () => running.api.get(`${pathOf(npcId)}/card?format=file`);
      expect((await file()).text).toBe(JSON.stringify(given));
      ok(await retract(npcId, { memoryIds: [lie?.id ?? ''] }));
      expect(await file()).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
      expect((await file()).text).toContain('was retracted');
      ok(await running.api.post(`${pathOf(npcId)}/card`, { ...given, more: 1 }));
      ok(await running.api.post(`${pathOf(npcId)}/card`, given));
      expect((await file()).text).not.toContain(LIE);
      const left = { ...given, data: { ...data, character_book: { entries: entries.slice(1) } } };
      for (const query of ['', '?format=original']) {
        expect(JSON.parse((await running.api.get(`${pathOf(npcId)}/card${query}`)).text)).toEqual(left);
      }
      expect((await running.api.get(`${pathOf(npcId)}/card?version=3`)).text).not.toContain(LIE);
    });

    it('remove lore from imported cards that the mind already knew as another type [8.9ad, 10.12q]', async () => {
      const npcId = freshMind();
      const lie = await keep(npcId, LIE);
      await keep(npcId, 'The well is deep.');
      const entries = [LIE, 'The well is deep.'].map((content) => ({ keys: ['well'], content, enabled: true }));
      const data = { name: 'Mira', description: 'A baker.', character_book: { entries } };
      const given = { spec: 'chara_card_v2', spec_version: '2.0', data };
      const imported = ok(await running.api.post(`${pathOf(npcId)}/card`, given));
      expect(imported).toMatchObject({ lore: { stored: 0, known: 2 } });
      const card = (format: string) => running.api.get(`${pathOf(npcId)}/card?format=${format}`);
      ok(await retract(npcId, { memoryIds: [await keep(npcId, 'It is late.')] }));
      expect((await card('file')).text).toBe(JSON.stringify(given));
      ok(await retract(npcId, { memoryIds: [lie] }));
      for (const format of ['json', 'original']) {
        const { status, text } = await card(format);
        expect([status, text.includes(LIE), text.includes('The well is deep.')]).toEqual([200, false, true]);
      }
      expect(await card('file')).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    });

    it('include derived memories, as the lineage shows [10.12a, 10.12b, 10.12c, 10.12g]', async () => {
      const npcId = freshMind();
      const lie = await keep(npcId, LIE);
      const heard = await turn(npcId, [LIE], { dialogue: 'The baker!', memoryStore: [{ text: 'The baker is bad.' }] });
      await turn(npcId, ['The well is deep.'], { dialogue: 'Hm.', memoryStore: [{ text: 'It is late.' }] });
      await turn(npcId, ['The baker is bad.'], { dialogue: 'No bread.', memoryStore: [{ text: 'I buy no bread.' }] });
      const stored = await list(npcId);
      const [, bad, , bread] = stored;

      const traced = ok(await lineage(npcId, lie)) as object;
      expect(traced).toMatchObject({
        memory: { id: lie, text: LIE },
        retracted: null,
        cause: { turnId: null, revision: 0, type: 'MemoryStored', by: expect.any(String) as string },
        recalledBy: [
          {
            turnId: heard,
            similarity: 0.75,
            match: 'text',
            verdict: { valid: true, dialogue: 'The baker!', action: { type: 'SPEAK' } },
          },
        ],
        derived: [
          { memoryId: bad?.id, text: 'The baker is bad.', turnId: heard, depth: 1, by: [lie], retracted: false },
          { memoryId: bread?.id, text: 'I buy no bread.', depth: 2, by: [bad?.id], retracted: false },
        ],
        cut: false,
      });
      expect(traced).not.toHaveProperty('next');
      const child = ok(await lineage(npcId, bread?.id ?? '')) as object;
      expect(child).toMatchObject({ cause: { observation: 'Who did it?' }, recalledBy: [], derived: [] });

      const { retracted } = ok(await retract(npcId, { memoryIds: [lie], derived: true })) as { retracted: Gone[] };
      expect(retracted.map(({ memoryId, derivedFrom }) => [memoryId, derivedFrom])).toEqual([
        [lie, []],
        [bad?.id, [lie]],
        [bread?.id, [bad?.id]],
      ]);
      expect(await texts(npcId)).toEqual(['It is late.']);
      expect(ok(await lineage(npcId, lie))).toMatchObject({
        retracted: { reason: 'A player lied.', by: expect.any(String) as string },
        derived: [{ retracted: true }, { retracted: true }],
      });
    });

    it('take along what was inferred, not what a player said next [10.12n, 10.12o, 10.12p]', async () => {
      const npcId = freshMind();
      const lie = await keep(npcId, LIE);
      const twin = await keep(npcId, 'The well is deep.');
      const [item] = await list(npcId);
      await turn(npcId, [LIE], { dialogue: 'The baker!' });
      await turn(npcId, [item ?? '', 'Else.'], { dialogue: 'He!', memoryStore: [{ text: 'The baker is bad.' }] });
      const act = async (name: string, body: object) =>
        ok(await running.api.post(`${pathOf(npcId)}/${name}`, { observation: 'Any bread?', npcState: {}, ...body }));
      await act('context', { memories: [{ id: lie, text: 'In other words.' }] });
      const generatedOutput = JSON.stringify({ dialogue: 'No.', memoryStore: [{ text: 'I buy no bread.' }] });
      await act('verdict', { generatedOutput });
      await act('verdict', { generatedOutput: 'I have some left.' });
      const traced = ok(await lineage(npcId, lie)) as { derived: Listed[]; recalledBy: { match: string }[] };
      expect(traced.derived.map(({ text }) => text)).toEqual(['The baker is bad.', 'I buy no bread.']);
      expect(traced.recalledBy.map(({ match }) => match)).toEqual(['text', 'id', 'id', 'id', 'id']);
      expect(ok(await lineage(npcId, twin))).toMatchObject({ recalledBy: [], derived: [] });
      ok(await retract(npcId, { memoryIds: [lie], derived: true }));
      expect(await texts(npcId)).toEqual(['The well is deep.', 'Who did it?', 'Any bread?']);
    });

    it('do not affect later memories, even of a turn that was open at the time [10.12k]', async () => {
      const npcId = freshMind();
      const lie = await keep(npcId, LIE);
      const path = `${pathOf(npcId)}/process`;
      const said = {
        type: 'ExecuteInferenceResult',
        generatedOutput: JSON.stringify({ memoryStore: [{ text: LIE }] }),
      };
      let tape: object = { observation: 'Who did it?', context: {}, npcState: {} };
      for (const lastResult of [
        undefined,
        { type: 'IdentifyActorResult', actor: { npcId, persona: 'Mira.', data: {} } },
        { type: 'QueryVectorResult', memories: [] },
      ])
        ({ tape } = ok(await running.api.post(path, { tape, lastResult })) as { tape: object });
      ok(await retract(npcId, { memoryIds: [lie] }));
      expect(await texts(npcId)).toEqual([]);
      ok(await running.api.post(path, { tape, lastResult: said }));
      const [later, ...others] = await list(npcId);
      expect([later?.text, later?.id === lie, others]).toEqual([LIE, false, []]);
    });

    it('leave agents with the remaining memories, and without what was said with them [10.12r, 13.4a]', async () => {
      const npcId = `baker-${String(minds++)}`;
      const tell = async (input: string) =>
        ok(await running.api.post(`/v1/agents/${npcId}/process`, { input })) as { memoriesRecalled: string[] };
      ok(await running.api.post('/npcs', { npcId, persona: 'Mira.' }));
      await tell(LIE);
      expect((await tell('Who poisoned the well?')).memoriesRecalled).toContain(LIE);
      await tell('What did you just say?');
      const lie = (await list(npcId)).find(({ text }) => text === LIE)?.id ?? '';
      expect(ok(await lineage(npcId, lie))).toMatchObject({ recalledBy: [{ match: 'id' }] });
      ok(await retract(npcId, { memoryIds: [lie] }));
      expect((await tell('Who poisoned the well?')).memoriesRecalled).not.toContain(LIE);
      const conversation = async () => {
        const { events } = ok(await running.api.get(`${pathOf(npcId)}/history?limit=500`)) as {
          events: readonly { type: string; data: { conversation?: readonly unknown[] } }[];
        };
        return events.findLast(({ type }) => type === 'TurnOpened')?.data.conversation;
      };
      // Neither the turn that heard the lie, nor the one that recalled it, nor the one that repeated its answer.
      expect(await conversation()).toEqual([]);
      await tell('Good evening.');
      expect(await conversation()).toHaveLength(1);
      ok(await running.api('DELETE', `/npcs/${npcId}/memory/clear`));
      await tell('Good evening again.');
      expect(await conversation()).toEqual([]);
    });

    it('are refused for unknown memories, for other studios and for keys without the scope [10.12e, 10.12f, 10.12l]', async () => {
      const npcId = freshMind();
      const lie = await keep(npcId, LIE);
      const nowhere = await retract('nobody here', { memoryIds: [lie] });
      expect([nowhere.status, codeOf(nowhere)]).toEqual([404, 'NPC_NOT_FOUND']);
      const unknown = await retract(npcId, { memoryIds: [lie, 'm0'] });
      expect([unknown.status, codeOf(unknown)]).toEqual([404, 'MEMORY_NOT_FOUND']);
      expect((unknown.body as { error: object }).error).toMatchObject({ details: { memoryIds: ['m0'] } });
      expect(await texts(npcId)).toEqual([LIE]);
      const traced = await lineage(npcId, 'm0');
      expect([traced.status, codeOf(traced)]).toEqual([404, 'MEMORY_NOT_FOUND']);
      expect(codeOf(await lineage(npcId, lie, '?cursor=nonsense'))).toBe('SCHEMA_INVALID');
      expect(codeOf(await lineage(npcId, lie, '?cursor=0~9.1-~'))).toBe('SCHEMA_INVALID');
      const many = Array.from({ length: 257 }, (_, n) => `m${String(n)}`);
      expect((await retract(npcId, { memoryIds: many })).status).toBe(400);
      expect((await retract(npcId, { memoryIds: [] })).status).toBe(400);
      expect((await retract(npcId, { memoryIds: [lie], reason: '' })).status).toBe(400);
      expect((await retract(npcId, { memoryIds: [lie], reason: 'x'.repeat(1_025) })).status).toBe(400);
      const dry = await retract(npcId, { memoryIds: [lie], reason: 'x'.repeat(1_024), dryRun: true });
      expect(dry.status, dry.text).toBe(200);
      const studio = await running.api.post('/tenants', { tenantId: 'other-well' });
      const stranger = apiOf(running.server.url, (studio.body as { key: string }).key);
      const taken = await stranger.post(`${pathOf(npcId)}/memory/retract`, { memoryIds: [lie], reason: 'x' });
      expect([taken.status, codeOf(taken)]).toEqual([404, 'NPC_NOT_FOUND']);
      expect(codeOf(await stranger.get(`${pathOf(npcId)}/memory/${lie}/lineage`))).toBe('NPC_NOT_FOUND');
      expect(await texts(npcId)).toEqual([LIE]);
      const { body } = await running.api.post('/keys', { name: 'memory only', scopes: ['memory', 'audit'] });
      const other = apiOf(running.server.url, (body as { key: string }).key);
      expect((await other.post(`${pathOf(npcId)}/memory/retract`, { memoryIds: [lie], reason: 'x' })).status).toBe(403);
    });

    it('are replayed with the same key, and survive a restart', async () => {
      const npcId = freshMind();
      const lie = await keep(npcId, LIE);
      const path = `${pathOf(npcId)}/memory/retract`;
      const once = () =>
        running.api.post(path, { memoryIds: [lie], reason: 'A lie.' }, { 'idempotency-key': `gone-${npcId.length}` });
      const first = await once();
      expect((await once()).text).toBe(first.text);
      await running.server.restart('kill');
      running.again();
      expect(await texts(npcId)).toEqual([]);
      expect(await texts(npcId, '?asOf=0')).toEqual([LIE]);
    });
  });

  describe(`the coverage of rules on ${profile}`, () => {
    const running = projectingServer(open);
    const rule = (drRuleId: string, ruleAction: string, rulePriority: number, ruleObsPattern: string) => ({
      ...{ drRuleId, ruleName: drRuleId, ruleCondition: [], ruleAction, ruleReason: `Because of ${drRuleId}.` },
      ...{ ruleTarget: null, rulePriority, ruleObsPattern, rulePromptSuffix: null },
    });
    const covered = async (query = '') => {
      const reply = await running.api.get(`/rules/watch/coverage${query}`);
      expect(reply.status, reply.text).toBe(200);
      return reply.body as {
        decisions: number;
        version: number;
        next?: string;
        rules: { drRuleId: string; fired: number; decided: number; shadowed: number; use: string; samples: object[] }[];
      };
    };

    it("counts agents' decisions by the built-in rules [10.11a, 10.11b]", async () => {
      await running.api.post('/v1/agents/cob/process', { input: 'Hello there!' });
      const { status, body } = await running.api.get('/rules/default/coverage?npcId=cob');
      expect([status, body]).toMatchObject([200, { rulesetId: 'default', version: 0, decisions: 1 }]);
      const { rules } = body as { rules: { drRuleId: string; fired: number }[] };
      expect(rules).toContainEqual(expect.objectContaining({ drRuleId: 'greeting', fired: 1 }));
    });

    it('counts what fired, decided, was shadowed, and never matched [10.11a, 10.11b, 10.11c, 10.11d]', async () => {
      const rulesetRules = [
        rule('flee', 'MOVE', 9, 'fire'),
        rule('stay', 'IDLE', 5, 'fire|rain'),
        rule('peace', 'FORBID ATTACK', 3, ''),
        rule('warn', 'Speak of the weather.', 1, 'rain'),
        rule('snow', 'IDLE', 1, 'snow'),
      ];
      rulesetRules[2] = { ...rule('peace', 'FORBID ATTACK', 3, ''), ruleCondition: [['hp', '5']] as never };
      const made = await running.api.post('/rules', { rulesetId: 'watch', rulesetRules });
      expect(made.status, made.text).toBe(200);
      const decide = async (npcId: string, observation: string, action: object): Promise<void> => {
        const generatedOutput = JSON.stringify({ dialogue: '', action });
        const body = { rulesetId: 'watch', observation, npcState: { hp: 5 }, generatedOutput };
        const reply = await running.api.post(`/npcs/${npcId}/verdict`, body);
        expect(reply.status, reply.text).toBe(200);
      };
      await decide('ada', 'A fire!', { type: 'MOVE', target: 'door' });
      await decide('ada', 'It begins to rain.', { type: 'IDLE' });
      await decide('bea', 'A wolf.', { type: 'ATTACK', target: 'wolf' });
      const whole = await covered();
      expect([whole.version, whole.decisions]).toEqual([1, 3]);
      expect(
        whole.rules.map(({ drRuleId, fired, decided, shadowed, use }) => [drRuleId, fired, decided, shadowed, use]),
      ).toEqual([
        ['flee', 1, 1, 0, 'decided'],
        ['stay', 2, 1, 1, 'decided'],
        ['peace', 3, 1, 0, 'decided'],
        ['warn', 1, 0, 0, 'fired'],
        ['snow', 0, 0, 0, 'never'],
      ]);
      expect(whole.rules[0]?.samples).toEqual([{ npcId: 'ada', turnId: expect.any(String) as string, revision: 0 }]);
      expect((await covered('?npcId=bea')).decisions).toBe(1);
      expect((await covered('?since=2999-01-01T00:00:00Z')).decisions).toBe(0);
      expect((await covered('?until=2000-01-01T00:00:00Z')).decisions).toBe(0);
      const fire = { rulesetId: 'watch', observation: 'A fire!' };
      expect((await running.api.post('/npcs/cid/directive', fire)).status).toBe(200);
      expect((await covered()).decisions).toBe(4);
      expect((await running.api.post('/npcs/cid/context', fire)).status).toBe(200);
      expect((await covered()).decisions).toBe(5);
      expect((await covered('?since=2000-01-01T00:00:00Z&until=2999-01-01T00:00:00Z')).decisions).toBe(5);
      await running.api.post('/rules', { rulesetId: 'watch', rulesetRules });
      expect(await covered()).toMatchObject({ version: 2, decisions: 0 });
      expect(await covered('?version=1')).toMatchObject({ version: 1, decisions: 5 });
      for (const path of ['/rules/nowhere/coverage', '/rules/watch/coverage?version=9']) {
        expect(codeOf(await running.api.get(path))).toBe('RULESET_NOT_FOUND');
      }
      expect(codeOf(await running.api.get('/rules/watch/coverage?npcId=nobody'))).toBe('NPC_NOT_FOUND');
      expect(codeOf(await running.api.get('/rules/watch/coverage?cursor=zz'))).toBe('SCHEMA_INVALID');
      const studio = await running.api.post('/tenants', { tenantId: 'other-watch' });
      const stranger = apiOf(running.server.url, (studio.body as { key: string }).key);
      expect(codeOf(await stranger.get('/rules/watch/coverage'))).toBe('RULESET_NOT_FOUND');
      const { body } = await running.api.post('/keys', { name: 'rules only', scopes: ['rules'] });
      const other = apiOf(running.server.url, (body as { key: string }).key);
      expect((await other.get('/rules/watch/coverage')).status).toBe(403);
    });
  });
};
