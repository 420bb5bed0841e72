import { compactVerify, createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Api, patientApiOf, codeOf } from '../support/api.js';
import type { OpenServer, ServerUnderTest } from './server-under-test.js';

type Answer = { instruction: Record<string, unknown> & { type: string }; tape: Record<string, unknown> };

const actor = { npcId: 'mira', persona: 'An innkeeper who counts twice.', data: { hp: 40, mood: 'calm' } };
/** The same with the id of the mind of the turn. */
const named = <Value>(value: Value, npcId: string): Value =>
  JSON.parse(JSON.stringify(value).replaceAll('"npcId":"mira"', `"npcId":${JSON.stringify(npcId)}`)) as Value;
const memories = [
  { text: 'The last stranger left without paying.', type: 'experience', importance: 0.8, similarity: 0.91 },
];
const results = [
  { type: 'IdentifyActorResult', actor },
  { type: 'QueryVectorResult', memories },
  {
    type: 'ExecuteInferenceResult',
    generatedOutput: '{"dialogue": "Three coins.", "action": "SPEAK", "stateDelta": {"mood": "wary"}}',
  },
];
const firstTape = (observation: string, more: object = {}) => ({
  observation,
  context: { room: 'inn' },
  npcState: { hp: 39.5 },
  memories: [],
  vectorQueried: false,
  gameSpecific: { kept: true },
  ...more,
});

/** The main job, as bodies, studios and live-ops see it over HTTP: the same on every profile. */
export const mainJobScenarios = (profile: string, open: OpenServer): void => {
  describe(`main job on ${profile}`, () => {
    let server: ServerUnderTest;
    let api: Api;
    let minds = 0;
    const freshMind = (): string => `mira ${String(minds++)} é`;
    const pathOf = (npcId: string): string => `/npcs/${encodeURIComponent(npcId)}`;
    const step = async (
      npcId: string,
      tape: object,
      lastResult?: object | null,
    ): Promise<Answer & { text: string }> => {
      const reply = await api.post(`${pathOf(npcId)}/process`, {
        tape: named(tape, npcId),
        ...(lastResult === undefined ? {} : { lastResult: named(lastResult, npcId) }),
      });
      expect(reply.status, reply.text).toBe(200);
      return { ...(reply.body as Answer), text: reply.text };
    };
    /** A step right after a kill may be refused with `Retry-After`, because the server waits for what the dead process held. */
    const stepAfterKill = async (npcId: string, tape: object, lastResult: object): ReturnType<typeof step> => {
      await expect
        .poll(async () => (await api.post(`${pathOf(npcId)}/process`, { tape, lastResult })).status, {
          timeout: 30_000,
        })
        .not.toBe(503);
      return step(npcId, tape, lastResult);
    };
    const types = async (npcId: string): Promise<string[]> =>
      ((await api.get(`${pathOf(npcId)}/history?limit=500`)).body as { events: { type: string }[] }).events.map(
        ({ type }) => type,
      );

    beforeAll(async () => {
      server = await open();
      api = patientApiOf(server.url, server.ownerKey);
    });
    afterAll(async () => {
      await server[Symbol.asyncDispose]();
    });

    it.each([
      ['returned', (answer: Answer) => answer.tape],
      ['first', () => firstTape('A stranger asks for a room.')],
    ])(
      'brings a thin client that sends its %s tape to Finalize in four requests [2.1h, 2.1i, 2.2a, 2.2b, 2.2d, 2.2e, 2.4c, 2.5a, 2.6c]',
      async (_, next) => {
        const npcId = freshMind();
        let answer = await step(npcId, firstTape('A stranger asks for a room.'), null);
        const seen = [answer.instruction];
        for (const result of results) {
          answer = await step(npcId, next(answer), result);
          seen.push(answer.instruction);
        }
        expect(seen.slice(0, 3)).toEqual([
          { type: 'IdentifyActor' },
          { type: 'QueryVector', query: 'A stranger asks for a room.', limit: 5, threshold: 0.5 },
          {
            type: 'ExecuteInference',
            prompt: expect.stringContaining('A stranger asks for a room.') as string,
            constraints: expect.objectContaining({ maxTokens: expect.any(Number) as number }) as object,
          },
        ]);
        expect(answer.instruction).toEqual({
          type: 'Finalize',
          valid: true,
          signature: expect.any(String) as string,
          dialogue: 'Three coins.',
          action: { type: 'SPEAK', target: '' },
          stateTransform: { mood: 'wary' },
          memoryStore: [{ text: 'A stranger asks for a room.', type: 'observation', importance: 0.5 }],
        });
        expect(answer.tape).toMatchObject({
          turnId: expect.any(String) as string,
          ...{ actor: { ...actor, npcId }, memories, vectorQueried: true },
        });
        // The state of the tape, with 39.5 hp, only counted in the turn.
        expect((await api.get(pathOf(npcId))).body).toMatchObject({ data: { hp: 40, mood: 'wary' } });
        expect(await types(npcId)).toEqual([
          'TurnOpened',
          'ActorIdentified',
          'MemoriesRecalled',
          'VerdictReached',
          'StateChanged',
          'MemoryStored',
        ]);
      },
    );

    it('reports once an actor who is not the mind of the turn, and continues [2.6n, 2.6o]', async () => {
      const npcId = freshMind();
      const reply = (lastResult: object | null) =>
        api.post(`${pathOf(npcId)}/process`, { tape: firstTape('Who are you?'), lastResult });
      await reply(null);
      const tom = { type: 'IdentifyActorResult', actor: { ...actor, npcId: 'tom' } };
      for (let times = 0; times < 2; times += 1)
        expect((await reply(tom)).body).toMatchObject({ instruction: { type: 'QueryVector' } });
      expect(await types(npcId)).toEqual(['TurnOpened', 'TapeMismatchNoticed', 'ActorIdentified']);
      const { events } = (await api.get(`${pathOf(npcId)}/history`)).body as { events: { data: object }[] };
      expect(events[1]?.data).toMatchObject({
        members: [{ member: 'actor.npcId', recorded: npcId, received: 'tom' }],
      });
    });

    it('brings a fat client to Finalize in four requests, and keeps unknown members of the tape [1.2j, 2.2a, 2.2b, 2.2c, 2.5a]', async () => {
      const npcId = freshMind();
      let answer = await step(npcId, firstTape('A dog barks.'));
      expect(answer.tape).not.toHaveProperty('actor');
      expect(answer.tape).not.toHaveProperty('constraints');
      answer = await step(npcId, { ...answer.tape, actor });
      answer = await step(npcId, { ...answer.tape, memories, vectorQueried: true });
      answer = await step(npcId, { ...answer.tape, generatedOutput: 'Quiet, boy.' });
      expect(answer.instruction).toMatchObject({ type: 'Finalize', valid: true, dialogue: 'Quiet, boy.' });
      expect(answer.tape).toMatchObject({ gameSpecific: { kept: true }, generatedOutput: 'Quiet, boy.' });
    });

    it('answers a repeated step byte for byte, and records nothing more [2.6j]', async () => {
      const npcId = freshMind();
      const { tape } = await step(npcId, firstTape('Twice.'));
      const texts: string[] = [];
      for (const result of results) texts.push((await step(npcId, tape, result)).text);
      const before = await types(npcId);
      for (const [n, result] of results.entries()) expect((await step(npcId, tape, result)).text).toBe(texts[n]);
      expect(await types(npcId)).toEqual(before);
    });

    it('keeps two turns of one mind separate [2.6e]', async () => {
      const npcId = freshMind();
      const players = await Promise.all([
        step(npcId, firstTape('Two at once.')),
        step(npcId, firstTape('Two at once.')),
      ]);
      const ends = await Promise.all(
        players.map(async ({ tape }, player) => {
          let answer: Answer = { instruction: { type: '' }, tape };
          for (const result of results.slice(0, 2)) answer = await step(npcId, answer.tape, result);
          return step(npcId, answer.tape, {
            type: 'ExecuteInferenceResult',
            generatedOutput: `To player ${String(player)}.`,
          });
        }),
      );
      expect(ends.map(({ instruction }) => instruction['dialogue'])).toEqual(['To player 0.', 'To player 1.']);
      const history = (await api.get(`${pathOf(npcId)}/history`)).body as { events: { revision: number }[] };
      expect(history.events.map(({ revision }) => revision)).toEqual(history.events.map((_, n) => n));
    });

    it('answers the next round after kill -9 between any two rounds [2.6a]', async () => {
      const npcId = freshMind();
      let answer: Answer & { text: string } = await step(npcId, firstTape('The power fails.'));
      for (const result of results) {
        await server.restart('kill');
        api = patientApiOf(server.url, server.ownerKey);
        answer = await stepAfterKill(npcId, answer.tape, result);
      }
      expect(answer.instruction).toMatchObject({ type: 'Finalize', valid: true });
      const { text } = answer;
      await server.restart('stop');
      api = patientApiOf(server.url, server.ownerKey);
      expect((await step(npcId, answer.tape, results[2])).text).toBe(text);
      expect((await types(npcId)).filter((type) => type === 'VerdictReached')).toHaveLength(1);
    });

    it('signs a valid verdict so that any JOSE library verifies it, and verifies it itself [2.9a, 2.9b, 2.9c, 2.9g, 2.9h]', async () => {
      const npcId = freshMind();
      let answer = await step(npcId, firstTape('Sign here.'));
      for (const result of results) answer = await step(npcId, answer.tape, result);
      const { type: _, ...verdict } = answer.instruction;
      const signature = String(verdict['signature']);
      const jwks = (await api.get('/.well-known/jwks.json')).body as JSONWebKeySet;
      const { payload } = await compactVerify(signature, createLocalJWKSet(jwks), { algorithms: ['EdDSA'] });
      expect(decodeProtectedHeader(signature)).toMatchObject({ alg: 'EdDSA', typ: 'verdict+jwt' });
      const claims = JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>;
      expect(claims).toMatchObject({ sub: npcId, jti: answer.tape['turnId'], tenant: 'local', revision: 3 });
      const verify = async (body: object, headers = {}) =>
        (await api.post('/verdicts/verify', body, headers)).body as unknown;
      const signedAt = new Date(Number(claims['iat']) * 1_000).toISOString();
      const accepted = { valid: true, turnId: answer.tape['turnId'], revision: 3, signedAt };
      expect(await verify({ npcId, signature, verdict })).toEqual(accepted);
      expect(await verify({ npcId, verdict }, { 'X-Service-Signature': signature })).toEqual(accepted);
      expect(await verify({ npcId, signature, verdict: { ...verdict, stateDelta: { coins: 99 } } })).toEqual({
        valid: false,
        reason: 'other_verdict',
      });
      expect(await verify({ npcId: 'other', signature, verdict })).toEqual({ valid: false, reason: 'other_npc' });
      expect(await verify({ npcId, signature, verdict: { ...verdict, dialogue: 'Free of charge.' } })).toEqual({
        valid: false,
        reason: 'other_verdict',
      });
      expect(await verify({ npcId, signature: `${signature.slice(0, -8)}AAAAAAAA`, verdict })).toEqual({
        valid: false,
        reason: 'bad_signature',
      });
      expect(await verify({ npcId, signature: 'x.y.z', verdict })).toEqual({ valid: false, reason: 'malformed' });
      expect(await verify({ npcId: 'a/b', signature, verdict })).toMatchObject({ error: { code: 'ID_INVALID' } });
    });

    it('finds no break in the hash chain of a turn', async () => {
      const npcId = freshMind();
      let answer = await step(npcId, firstTape('Look back.'));
      for (const result of results) answer = await step(npcId, answer.tape, result);
      const found = { npcId, events: 6, breaks: [] };
      expect((await api.get(`${pathOf(npcId)}/chain-breaks`)).body).toEqual(found);
      expect((await api.post(`${pathOf(npcId)}/chain-breaks`)).body).toEqual(found);
    });

    it('shows a mind as it was after any revision, and refuses a time before the first [10.1g]', async () => {
      const npcId = freshMind();
      let answer = await step(npcId, firstTape('Remember.'));
      const opened = answer.tape['turnId'];
      for (const result of results) answer = await step(npcId, answer.tape, result);
      const state = async (asOf: string) =>
        (await api.get(`${pathOf(npcId)}/state?asOf=${encodeURIComponent(asOf)}`)).body as Record<string, unknown>;
      expect(await state('0')).toMatchObject({
        revision: 0,
        persona: null,
        data: {},
        openTurns: [opened],
        frozen: false,
      });
      expect(await state('1')).toMatchObject({ revision: 1, persona: actor.persona, data: actor.data });
      expect(await state('999')).toMatchObject({ revision: 5, data: { hp: 40, mood: 'wary' }, openTurns: [] });
      const { at } = (await state('1')) as { at: string };
      expect((await state(at))['revision']).toBeGreaterThanOrEqual(1);
      expect((await api.get(`${pathOf(npcId)}/state?asOf=2000-01-01T00:00:00Z`)).status).toBe(404);
      expect(await state('99999999999999999999')).toMatchObject({ revision: 5 });
      expect(await state('2999-01-01T00:00:00Z')).toMatchObject({ revision: 5 });
      for (const none of ['yesterday', '2027-02-30T00:00:00Z'])
        expect((await api.get(`${pathOf(npcId)}/state?asOf=${none}`)).status).toBe(400);
    });

    it('pages a history in both directions and by type [10.1a, 10.1b]', async () => {
      const npcId = freshMind();
      let answer = await step(npcId, firstTape('Pages.'));
      for (const result of results) answer = await step(npcId, answer.tape, result);
      const page = async (query: string) =>
        (await api.get(`${pathOf(npcId)}/history?${query}`)).body as {
          events: { revision: number; type: string }[];
          next?: number;
        };
      const revisions = ({ events }: { events: { revision: number }[] }) => events.map(({ revision }) => revision);
      const first = await page('limit=4');
      expect(Object.keys(first)).toEqual(['npcId', 'revision', 'next', 'events']);
      expect(revisions(first)).toEqual([0, 1, 2, 3]);
      expect(revisions(await page(`limit=4&from=${String(first.next)}`))).toEqual([4, 5]);
      expect(await page('limit=4&from=4')).not.toHaveProperty('next');
      expect(revisions(await page('direction=backwards&limit=2'))).toEqual([5, 4]);
      expect(revisions(await page('type=MemoryStored,TurnOpened'))).toEqual([0, 5]);
      expect(revisions(await page('from=600'))).toEqual([]);
      expect(revisions(await page('from=99999999999999999999'))).toEqual([]);
      expect((await api.get(`${pathOf('nobody at all')}/history`)).status).toBe(404);
    });

    it('shows a turn round by round, and lists turns newest first [10.1i, 10.1j]', async () => {
      const npcId = freshMind();
      let answer = await step(npcId, firstTape('First.'));
      for (const result of results) answer = await step(npcId, answer.tape, result);
      const turnId = String(answer.tape['turnId']);
      const open = await step(npcId, firstTape('Second.'));
      const turn = (await api.get(`${pathOf(npcId)}/turns/${turnId}`)).body as Record<string, unknown>;
      expect(turn).toMatchObject({ turnId, npcId, kind: 'process', state: 'ended', ruleset: null });
      const rounds = turn['rounds'] as { instruction: { type: string }; result: { type: string } | null }[];
      expect(rounds.map(({ instruction }) => instruction.type)).toEqual([
        'IdentifyActor',
        'QueryVector',
        'ExecuteInference',
        'Finalize',
      ]);
      expect(rounds.map(({ result }) => result?.type ?? null)).toEqual([null, ...results.map(({ type }) => type)]);
      expect(rounds[3]?.instruction).toEqual(answer.instruction);
      const list = async (query = '') =>
        (await api.get(`${pathOf(npcId)}/turns${query}`)).body as { turnId: string; state: string }[];
      expect((await list()).map((one) => one.turnId)).toEqual([open.tape['turnId'], turnId]);
      expect((await list('?state=ended')).map((one) => one.turnId)).toEqual([turnId]);
      const paged = await api.get(`${pathOf(npcId)}/turns?limit=1`);
      expect(paged.headers.get('link')).toMatch(/rel="next"/);
      expect((await api.get(`${pathOf(npcId)}/turns?cursor=`)).status).toBe(400);
      const next = /<([^>]+)>/.exec(paged.headers.get('link') ?? '')?.[1] ?? '';
      expect(((await api.get(next)).body as { turnId: string }[]).map((one) => one.turnId)).toEqual([turnId]);
      expect((await api.get(`${pathOf(npcId)}/turns/t0_0_aaaaaaaaaaaaaaaa`)).body).toMatchObject({
        error: { code: 'TURN_NOT_FOUND' },
      });
    });

    it('streams a history from its stored past into its live present, without gaps or duplicates [10.1k]', async () => {
      const npcId = freshMind();
      let answer = await step(npcId, firstTape('Live.'));
      answer = await step(npcId, answer.tape, results[0]);
      const abort = new AbortController();
      const response = await fetch(`${server.url}${pathOf(npcId)}/events`, {
        headers: { authorization: `Bearer ${server.ownerKey}`, 'last-event-id': '0' },
        signal: abort.signal,
      });
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
      const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
      for (const result of results.slice(1)) answer = await step(npcId, answer.tape, result);
      let text = '';
      while (!text.includes('id: 5\n')) text += (await reader.read()).value ?? '';
      abort.abort();
      expect([...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]))).toEqual([1, 2, 3, 4, 5]);
      expect(text).not.toMatch(/^event:/m);
      const stored = (await api.get(`${pathOf(npcId)}/history`)).body as { events: unknown[] };
      const data = [...text.matchAll(/^data: (.+)$/gm)].map((match) => JSON.parse(match[1] ?? '') as unknown);
      expect(data).toEqual(stored.events.slice(1));
    });

    it('registers, replaces, lists and archives minds, and reads its own writes [1.8b, 1.8e, 2.1a, 2.1b, 2.1c, 2.1d, 2.1e, 2.1f]', async () => {
      const npcId = freshMind();
      const created = await api.post('/npcs', {
        npcId,
        persona: 'A guard.',
        initialState: { jsonData: '{"hp": 10}' },
        apiKey: 'never kept',
        apiUrl: 'http://never.kept',
      });
      expect(created.status).toBe(200);
      expect(created.body).toMatchObject({ npcId, persona: 'A guard.', data: { hp: 10 }, created: true, revision: 0 });
      expect(created.headers.get('anima-revision')).toBe('0');
      const same = await api.post('/npcs', { id: npcId, data: { hp: 10 } });
      expect(same.body).toMatchObject({ created: false, revision: 0 });
      expect((await api.post('/npcs', { npcId, data: { mana: 1 } })).body).toMatchObject({
        data: { mana: 1 },
        persona: 'A guard.',
      });
      const all = async () => (await api.get('/npcs?limit=500')).body as { npcId: string }[];
      const listed = async () => (await all()).map((npc) => npc.npcId);
      const updatedAt = expect.stringMatching(/Z$/) as string;
      const shown = { npcId, persona: 'A guard.', data: { mana: 1 }, revision: 1, updatedAt };
      expect((await all()).filter((npc) => npc.npcId === npcId)).toEqual([shown]);
      expect((await api.get(pathOf(npcId))).body).toEqual(shown);
      expect((await api('DELETE', pathOf(npcId))).status).toBe(200);
      expect(await listed()).not.toContain(npcId);
      expect(await types(npcId)).toEqual(['NpcRegistered', 'NpcUpdated', 'NpcArchived']);
      await step(npcId, firstTape('Wake up.'));
      expect(await listed()).toContain(npcId);
      expect((await api.get(pathOf('nobody'))).body).toMatchObject({ error: { code: 'NPC_NOT_FOUND' } });
      expect(JSON.stringify((await api.get(`${pathOf(npcId)}/history`)).body)).not.toMatch(/never.kept/);
    });

    it('refuses a ruleset that costs too much, and warns of rules without effect [5.1e, 5.1f, 5.1g]', async () => {
      const rulesetId = `large ${freshMind()}`;
      const ruleCondition = [['hp', Array.from({ length: 40 }, (_, hp) => String(hp)).join('|')]];
      const rulesetRules = Array.from({ length: 15 }, () => ({ ruleCondition }));
      expect(await api.post('/rules', { rulesetId, rulesetRules })).toMatchObject({
        status: 422,
        body: {
          error: { code: 'RULESET_TOO_LARGE', details: { figures: { conditions: 600 }, bounds: { conditions: 512 } } },
        },
      });
      const twice = await api.post('/rules', { rulesetId, rulesetRules: [{ drRuleId: 'a' }, { drRuleId: 'a' }] });
      expect(twice).toMatchObject({ status: 422, body: { error: { code: 'RULE_ID_REPEATED' } } });
      expect((await api.get(`/rules/${encodeURIComponent(rulesetId)}`)).status).toBe(404);
      const warned = await api.post('/rules', { rulesetId, rulesetRules: [{ ruleAction: 'forbid all violence' }] });
      expect(warned.body).toMatchObject({ version: 1, warnings: [{ drRuleId: 'rule-1' }] });
    });

    it('decides by rules: a refusal is a verdict, and the turn shows its reasons [2.4a, 2.4b, 2.7a, 2.7b, 2.7c, 2.7d, 2.7e, 2.8j]', async () => {
      const npcId = freshMind();
      const rulesetId = `peace ${npcId}`;
      const rule = {
        ...{ ruleObsPattern: 'room', ruleAction: 'FORBID ATTACK', ruleReason: 'Not in this house.', rulePriority: 5 },
      };
      expect((await api.post('/rules', { rulesetId, rulesetRules: [rule], template: 'ChatML' })).status).toBe(200);
      const observed = { observation: 'a room', rulesetId };
      const made = { turnId: expect.any(String) as string };
      const context = await api.post(`${pathOf(npcId)}/context`, { ...observed, memories });
      expect(context.body).toEqual({
        ...made,
        prompt: expect.stringContaining('a room') as string,
        constraints: expect.objectContaining({
          maxTokens: expect.any(Number),
          temperature: expect.any(Number),
        }) as object,
        ctxMessages: [
          { role: 'system', content: expect.any(String) as string },
          { role: 'user', content: expect.any(String) as string },
        ],
      });
      const memoryRecall = {
        ...{ query: expect.stringContaining('a room') as string, limit: expect.any(Number) as number, threshold: 0.5 },
      };
      const directive = await api.post(`${pathOf(npcId)}/directive`, observed);
      expect(directive.body).toEqual({ ...made, memoryRecall });
      const decided = async (action: object) => {
        const said = { dialogue: 'Out!', action, stateDelta: { x: 1 } };
        const body = { ...observed, generatedOutput: JSON.stringify(said) };
        const reply = await api.post(`${pathOf(npcId)}/verdict`, body);
        expect(reply.status).toBe(200);
        return reply.body;
      };
      expect(await decided({ type: 'SPEAK' })).toEqual({
        ...made,
        valid: true,
        dialogue: 'Out!',
        action: expect.objectContaining({ type: 'SPEAK' }) as object,
        signature: expect.any(String) as string,
        memoryStore: [expect.objectContaining({ text: 'a room' })],
        stateDelta: { x: 1 },
      });
      const refused = await decided({ gaType: 'ATTACK', actionTarget: 'stranger' });
      expect(refused).toMatchObject({
        valid: false,
        dialogue: 'Not in this house.',
        action: null,
        signature: null,
        memoryStore: [],
        stateDelta: {},
        refusedAction: { type: 'ATTACK', target: 'stranger' },
      });
      const { turnId } = refused as { turnId: string };
      const turn = (await api.get(`${pathOf(npcId)}/turns/${turnId}`)).body as {
        verdict: { rules: { matched: boolean }[] };
      };
      expect(turn).toMatchObject({
        kind: 'verdict',
        state: 'ended',
        ruleset: { rulesetId, version: 1 },
        rounds: [{ round: 0 }],
      });
      expect(turn.verdict.rules.map(({ matched }) => matched)).toEqual([true]);
      const history = (await api.get(`${pathOf(npcId)}/history?type=VerdictRefused`)).body;
      expect(history).toMatchObject({ events: [{ data: { asked: { patternsHeld: ['rule-1'] } } }] });
      expect(await types(npcId)).toEqual(
        expect.arrayContaining(['ContextBuilt', 'DirectiveGiven', 'VerdictReached', 'VerdictRefused']),
      );
      const turns = (await api.get(`${pathOf(npcId)}/turns`)).body as { kind: string }[];
      expect(turns.map(({ kind }) => kind).toSorted()).toEqual(['context', 'directive', 'verdict', 'verdict']);
    });

    it('stores rulesets in versions, lists the latest of each, and deletes them [2.8c, 4.3a, 5.1a, 5.1h, 5.2a, 5.2b, 5.2c]', async () => {
      const npcId = freshMind();
      const rulesetId = `peace ${npcId}`;
      const path = `/rules/${encodeURIComponent(rulesetId)}`;
      const rule = {
        ruleName: 'Peace',
        ruleObsPattern: 'room',
        ruleAction: 'FORBID ATTACK',
        ruleReason: 'Not in this house.',
        rulePriority: 5,
      };
      const registered = await api.post('/rules', { rulesetId, rulesetRules: [rule], template: 'ChatML' });
      const stored = { drRuleId: 'rule-1', ...rule, ruleCondition: [], ruleTarget: null, rulePromptSuffix: null };
      const set = { rulesetId, version: 1, rulesetRules: [stored], template: 'ChatML', grammar: 2 };
      const first = { ...set, observationChars: 16_000 };
      expect(registered.body).toEqual({ ...first, warnings: [] });
      const bridgeRules = (await api.get('/bridge/rules')).body as { brRuleId: string }[];
      expect(bridgeRules).toContainEqual({
        brRuleId: `${rulesetId}/rule-1`,
        ruleDescription: expect.any(String) as string,
        affectedActions: ['ATTACK'],
      });
      expect(bridgeRules[0]?.brRuleId).toMatch(/^core\./);
      expect((await api.post('/rules', { rulesetId, rulesetRules: [] })).body).toMatchObject({ version: 2 });
      const listed = async () =>
        ((await api.get('/rules')).body as { rulesetId: string; version: number }[])
          .filter((set) => set.rulesetId === rulesetId)
          .map(({ version }) => version);
      expect(await listed()).toEqual([2]);
      expect((await api.get(path)).body).toMatchObject({ version: 2, rulesetRules: [], template: null });
      expect((await api.get(`${path}?version=1`)).body).toMatchObject(first);
      expect((await api('DELETE', path)).body).toEqual({ rulesetId, deleted: true });
      expect(await listed()).toEqual([]);
      const unknown = await api('DELETE', path);
      expect([unknown.status, codeOf(unknown)]).toEqual([404, 'RULESET_NOT_FOUND']);
      const missing = await api.post(`${pathOf(npcId)}/directive`, { observation: 'a room', rulesetId });
      expect([missing.status, missing.headers.get('anima-warning')]).toEqual([
        200,
        expect.stringMatching(/ruleset-missing/),
      ]);
    });

    it('refuses bad patterns and templates, and stores nothing [2.8e, 5.1e]', async () => {
      for (const [set, code] of [
        [{ rulesetId: 'bad', rulesetRules: [{ ruleObsPattern: '(?=look)ahead' }] }, 'PATTERN_INVALID'],
        [{ rulesetId: 'bad', template: 'Mistral' }, 'TEMPLATE_INVALID'],
      ] as const) {
        const reply = await api.post('/rules', set);
        expect([reply.status, (reply.body as { error: { code: string } }).error.code]).toEqual([422, code]);
      }
      expect((await api.get('/rules/bad')).status).toBe(404);
    });

    it('refuses rules of grammar 2 that cannot be read, and warns of them in grammar 1 [5.5a, 5.5b, 5.5c]', async () => {
      const rulesetId = `strict ${freshMind()}`;
      const path = `/rules/${encodeURIComponent(rulesetId)}`;
      const rule = { drRuleId: 'adults', ruleCondition: [['age', '≥18']], ruleAction: 'SELL' };
      const refused = await api.post('/rules', { rulesetId, rulesetRules: [rule] });
      const pointer = '/rulesetRules/0/ruleCondition/0/1';
      const problem = { drRuleId: 'adults', pointer, message: expect.any(String) as string, meant: '>=18' };
      expect(refused).toMatchObject({
        status: 422,
        body: { error: { code: 'RULES_INVALID', details: { problems: [problem] } } },
      });
      expect((await api.get(path)).status).toBe(404);
      const lenient = await api.post('/rules', { rulesetId, grammar: 1, rulesetRules: [rule] });
      expect(lenient.body).toMatchObject({ version: 1, grammar: 1, warnings: [{ drRuleId: 'adults' }] });
      expect((await api.get(path)).body).toMatchObject({ grammar: 1 });
      const listed = (await api.get('/rules')).body as { rulesetId: string; grammar: number }[];
      expect(listed.find((set) => set.rulesetId === rulesetId)?.grammar).toBe(1);
      const strict = { ...rule, ruleCondition: [['age', '>=18']], ruleComment: 'why' };
      for (const grammar of [undefined, null, 2]) {
        const { body } = await api.post('/rules', { rulesetId, grammar, rulesetRules: [strict] });
        const about = { drRuleId: 'adults' };
        expect(body).toMatchObject({ grammar: 2, warnings: [about, about, about] });
      }
      expect((await api.post('/rules', { rulesetId, grammar: 3 })).body).toMatchObject({
        error: { code: 'SCHEMA_INVALID' },
      });
      const npcId = freshMind();
      await api.post('/npcs', { npcId });
      expect(
        await api.post(`/npcs/${encodeURIComponent(npcId)}/replays`, { rules: { rulesetRules: [rule] } }),
      ).toMatchObject({
        body: { error: { code: 'RULES_INVALID', details: { problems: [{ pointer: `/rules${pointer}` }] } } },
      });
    });

    it('shows presets as they are built in, and as they were [5.3f, 5.3h]', async () => {
      const stealth = async (query: string) => (await api.get(`/rules/stealth${query}`)).body;
      expect(await stealth('?version=0')).toMatchObject({ rulesetId: 'stealth', version: 0, grammar: 2 });
      const first = 'a1HMd6E9mpxMXvGd5nQcAJLv3DJ2YKU8Ac_QEhzJNl0';
      expect(await stealth(`?version=0&digest=${first}`)).toMatchObject({ version: 0, grammar: 1 });
      const unknown = { error: { code: 'RULESET_NOT_FOUND', details: { rulesetId: 'stealth', digest: 'another' } } };
      expect(await stealth('?version=0&digest=another')).toMatchObject(unknown);
      expect(await stealth('/coverage?version=0&digest=another')).toMatchObject(unknown);
      expect(await stealth(`/coverage?version=0&digest=${first}`)).toMatchObject({
        rules: expect.arrayContaining([expect.objectContaining({ drRuleId: 'raise-alarm' })]) as object[],
      });
      for (const path of ['', '/coverage'])
        expect(await stealth(`${path}?digest=${first}`)).toMatchObject({
          error: { code: 'SCHEMA_INVALID', details: { issues: [{ pointer: '/digest' }] } },
        });
    });

    it('registers the presets that it lists, without warnings [5.3a, 5.3b, 5.3c, 5.3d]', async () => {
      const names = (await api.get('/rules/presets')).body as string[];
      expect(names).toEqual(expect.arrayContaining(['default', 'social', 'rpg', 'stealth']));
      expect((await api.post('/rules/presets/preset_rpg')).body).toMatchObject({ rulesetId: 'rpg', warnings: [] });
      expect((await api.post('/rules/presets/opera')).body).toMatchObject({ error: { code: 'PRESET_NOT_FOUND' } });
    });

    it('checks actions against the world, and records the check of an existing mind [1.6g, 4.1a, 4.1b, 4.1c, 4.1d, 4.1e, 4.2a, 5.3b]', async () => {
      const npcId = freshMind();
      await api.post('/npcs', { npcId, data: { inventory: ['bread'] } });
      await api.post('/rules/presets/default');
      const use = { action: { type: 'USE', payload: { item: 'sword' } }, context: null };
      const checked = await api.post(`/bridge/validate/${encodeURIComponent(npcId)}`, use);
      expect(checked.status).toBe(200);
      expect(checked.body).toMatchObject({
        valid: false,
        reason: expect.any(String) as string,
        correctedAction: null,
        code: 'ITEM_NOT_IN_INVENTORY',
        details: { item: 'sword', inventory: ['bread'] },
      });
      expect((await types(npcId)).at(-1)).toBe('BridgeChecked');
      expect((await api.post('/bridge/validate', { action: {} })).body).toMatchObject({
        valid: false,
        code: 'ACTION_TYPE_MISSING',
      });
      // Its state is empty, so that it has no known inventory.
      expect(await api.post('/bridge/validate/nobody-here', use)).toMatchObject({ status: 200, body: { valid: true } });
      expect((await api.get('/npcs/nobody-here')).status).toBe(404);
      const step = { action: { type: 'MOVE' } };
      expect((await api.post('/bridge/validate', step)).body).toMatchObject({ code: 'MOVE_TARGET_MISSING' });
      expect((await api('DELETE', '/rules/default')).status).toBe(200);
      expect((await api.post('/bridge/validate', step)).body).toMatchObject({ valid: true, code: null });
    });

    it('isolates tenants: ids of another studio are 404, and each has its own lists [1.3j, 1.6h]', async () => {
      const npcId = freshMind();
      await step(npcId, firstTape('Ours.'));
      const tenantId = `studio-${String(Date.now())}`;
      const made = await api.post('/tenants', { tenantId });
      expect(made.status).toBe(201);
      const theirs = patientApiOf(server.url, (made.body as { key: string }).key);
      for (const path of ['', '/history', '/state', '/turns', '/events']) {
        expect((await theirs.get(`${pathOf(npcId)}${path}`)).status, path).toBe(404);
      }
      expect((await api.post('/rules', { rulesetId: npcId })).status).toBe(200);
      for (const method of ['GET', 'DELETE'])
        expect(codeOf(await theirs(method, `/rules/${encodeURIComponent(npcId)}`))).toBe('RULESET_NOT_FOUND');
      expect((await api('DELETE', `/rules/${encodeURIComponent(npcId)}`)).status).toBe(200);
      const { turnId } = (await step(npcId, firstTape('Whose turn?'))).tape;
      // Their mind may have the same name; our turn does not belong to it.
      await theirs.post('/npcs', { npcId });
      expect(codeOf(await theirs.get(`${pathOf(npcId)}/turns/${String(turnId)}`))).toBe('TURN_NOT_FOUND');
      const stolen = await theirs.post(`${pathOf(npcId)}/process`, {
        tape: { observation: 'Mine?', turnId },
        lastResult: results[0],
      });
      expect((stolen.body as Answer).tape).toMatchObject({ observation: 'Mine?' });
      expect(((await theirs.get('/npcs')).body as { npcId: string }[]).map((npc) => npc.npcId)).toEqual([npcId]);
      expect((await api.post('/tenants', { tenantId })).status).toBe(409);
      expect((await theirs.post('/tenants', { tenantId: 'another' })).status).toBe(403);
    });
  });
};
