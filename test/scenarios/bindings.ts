import { describe, expect, it } from 'vitest';

import { codeOf, type Reply } from '../support/api.js';
import type { OpenServer } from './server-under-test.js';
import { projectingServer } from './projecting-server.js';

type HistoryEvent = { readonly type: string; readonly data: Readonly<Record<string, unknown>> };

const ATTACK = JSON.stringify({ dialogue: 'Die!', action: { type: 'ATTACK', target: 'Tom' } });
const forbidding = (rulesetId: string, type: string) => ({
  rulesetId,
  rulesetRules: [{ drRuleId: 'r1', ruleAction: `FORBID ${type}`, ruleReason: `No ${type} here.` }],
});
const claimsOf = (signature: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(signature.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

/** Which rules decide for which NPC: the same on every profile. */
export const bindingScenarios = (profile: string, open: OpenServer): void => {
  describe(`the rules of an NPC on ${profile}`, () => {
    const running = projectingServer(open);
    let npcs = 0;
    const ok = (reply: Reply): Reply => {
      expect(reply.status, reply.text).toBe(200);
      return reply;
    };
    const post = async (path: string, body: object): Promise<Reply> => ok(await running.api.post(path, body));
    const register = (...sets: readonly object[]) => Promise.all(sets.map((set) => post('/rules', set)));
    const digestOf = async (npcId: string): Promise<unknown> => {
      const { turnId } = (await post(`/npcs/${npcId}/directive`, { observation: 'x' })).body as { turnId: string };
      return (ok(await running.api.get(`/npcs/${npcId}/turns/${turnId}`)).body as { ruleset: { digest: unknown } })
        .ruleset.digest;
    };
    const newNpc = async (members: object = {}): Promise<string> => {
      const npcId = `bound-${String((npcs += 1))}`;
      await post('/npcs', { npcId, ...members });
      return npcId;
    };
    const eventsOf = async (npcId: string): Promise<readonly HistoryEvent[]> =>
      ok(await running.api.get(`/npcs/${npcId}/history?limit=500`)).body.events as readonly HistoryEvent[];

    it('are those that it is bound to, as it is shown, until it is unbound [2.1j, 2.1k]', async () => {
      await register(forbidding('gate', 'ATTACK'), forbidding('quiet', 'SPEAK'));
      const npcId = await newNpc({ rulesetId: 'gate' });
      const shown = async () => (ok(await running.api.get(`/npcs/${npcId}`)).body as { rulesetId?: string }).rulesetId;
      expect(await shown()).toBe('gate');
      expect((await eventsOf(npcId)).map(({ type, data }) => [type, data['rulesetId']])).toEqual([
        ['NpcRegistered', undefined],
        ['RulesetBound', 'gate'],
      ]);
      for (const rulesetId of [null, undefined, 'gate']) await post('/npcs', { npcId, rulesetId });
      expect(await eventsOf(npcId)).toHaveLength(2);
      expect(
        (await post(`/bridge/validate/${npcId}`, { action: { type: 'ATTACK', target: 'Tom' } })).body,
      ).toMatchObject({ valid: false, code: 'RULE_REFUSED', reason: 'No ATTACK here.' });
      const agent = await running.api.post(`/v1/agents/${npcId}/process`, { input: 'hello' });
      const { turnId } = ok(agent).body as { turnId: string };
      expect(ok(await running.api.get(`/npcs/${npcId}/turns/${turnId}`)).body).toMatchObject({
        ruleset: { rulesetId: 'gate', version: 1 },
      });
      await post('/npcs', { npcId, rulesetId: 'quiet' });
      expect(await shown()).toBe('quiet');
      expect((await post(`/npcs/${npcId}/verdict`, { generatedOutput: 'Hello.' })).body).toMatchObject({
        valid: false,
        dialogue: 'No SPEAK here.',
      });
      await post('/npcs', { npcId, rulesetId: '' });
      expect(await shown()).toBeUndefined();
      expect((await post(`/npcs/${npcId}/verdict`, { generatedOutput: ATTACK })).body).toMatchObject({ valid: true });
    });

    it('are never chosen by a name that only resembles rulesetId, nor is what they read [2.1q]', async () => {
      await register(forbidding('gate', 'ATTACK'));
      const npcId = await newNpc();
      const before = await eventsOf(npcId);
      const misspelt = { ruleset_id: 'gate' };
      const asked: readonly (readonly [method: string, path: string, body: object, meant: string, member?: string])[] =
        [
          ['POST', '/npcs', { npcId, ...misspelt }, '/rulesetId'],
          ['PATCH', `/npcs/${npcId}`, misspelt, '/rulesetId'],
          [
            'POST',
            `/npcs/${npcId}/process`,
            { tape: { observation: 'x', ...misspelt } },
            '/tape/rulesetId',
            '/tape/ruleset_id',
          ],
          ['POST', `/npcs/${npcId}/directive`, misspelt, '/rulesetId'],
          ['POST', `/npcs/${npcId}/context`, misspelt, '/rulesetId'],
          ['POST', `/npcs/${npcId}/verdict`, { generatedOutput: ATTACK, ...misspelt }, '/rulesetId'],
        ];
      for (const [method, path, body, meant, member = '/ruleset_id'] of asked) {
        const reply = await running.api(method, path, body);
        expect([path, reply.status, codeOf(reply)]).toEqual([path, 422, 'MEMBER_MISSPELT']);
        expect(reply.body.error.details).toEqual({ member, meant });
      }
      const given: readonly (readonly [path: string, body: object, member: string, meant: string])[] = [
        [`/npcs/${npcId}/process`, { tape: { observation: 'x', contxt: {} } }, '/tape/contxt', '/tape/context'],
        [`/npcs/${npcId}/directive`, { npc_state: {} }, '/npc_state', '/npcState'],
        [`/npcs/${npcId}/context`, { contxt: {} }, '/contxt', '/context'],
        [`/npcs/${npcId}/verdict`, { generatedOutput: ATTACK, Context: {} }, '/Context', '/context'],
        [`/v1/agents/${npcId}/process`, { input: 'x', contxt: {} }, '/contxt', '/context'],
        ['/bridge/validate', { action: 'SELL', contxt: {} }, '/contxt', '/context'],
        [
          `/bridge/validate/${npcId}`,
          { action: 'SELL', context: { npcSate: {} } },
          '/context/npcSate',
          '/context/npcState',
        ],
      ];
      for (const [path, body, member, meant] of given) {
        const reply = await running.api('POST', path, body);
        expect([path, reply.status, codeOf(reply)]).toEqual([path, 422, 'MEMBER_MISSPELT']);
        expect(reply.body.error.details).toEqual({ member, meant });
      }
      for (const [path, body] of [
        [`/v1/agents/${npcId}/process`, { input: 'x', ...misspelt }],
        ['/bridge/validate', { action: 'SELL', ...misspelt }],
      ] as const) {
        const reply = await running.api('POST', path, body);
        expect([path, reply.status, codeOf(reply)]).toEqual([path, 422, 'MEMBER_MISSPELT']);
        // There is no right place for it.
        expect(reply.body.error.details).toEqual({ member: '/ruleset_id' });
      }
      expect(await eventsOf(npcId)).toEqual(before);
      ok(
        await running.api.post(`/npcs/${npcId}/verdict`, { generatedOutput: 'x', rulesetId: 'gate', ruleset: 'gate' }),
      );
    });

    it('cannot be bound under an id that is not registered [2.1j]', async () => {
      const npcId = await newNpc();
      const before = await eventsOf(npcId);
      for (const rulesetId of ['gatehouse', 'rpg']) {
        const reply = await running.api.post('/npcs', { npcId, persona: 'Someone else.', rulesetId });
        expect([reply.status, codeOf(reply)]).toEqual([422, 'RULESET_UNKNOWN']);
      }
      expect(await eventsOf(npcId)).toEqual(before);
    });

    it('are chosen by no request: another name is recorded, warned of and ignored [2.8b, 2.8y]', async () => {
      await register(forbidding('gate', 'ATTACK'), { rulesetId: 'free', rulesetRules: [] });
      const npcId = await newNpc({ rulesetId: 'gate' });
      const digest = await digestOf(npcId);
      const { version } = ok(await running.api.get('/rules/gate')).body as { version: number };
      const used = { rulesetId: 'gate', version, digest, asked: 'free' };
      const warning = 'ruleset-ignored; rulesetId="free"';
      const verdict = await post(`/npcs/${npcId}/verdict`, { generatedOutput: ATTACK, rulesetId: 'free' });
      expect(verdict.body).toMatchObject({ valid: false, code: 'RULE_REFUSED' });
      expect(verdict.headers.get('anima-warning')).toBe(warning);
      const opened = await post(`/npcs/${npcId}/process`, { tape: { observation: 'A guest.', rulesetId: 'free' } });
      expect(opened.headers.get('anima-warning')).toBe(warning);
      const { turnId } = (opened.body as { tape: { turnId: string } }).tape;
      expect(ok(await running.api.get(`/npcs/${npcId}/turns/${turnId}`)).body).toMatchObject({ ruleset: used });
      const recorded = (await eventsOf(npcId)).flatMap(({ type, data }) =>
        type === 'TurnOpened'
          ? [data['ruleset']]
          : type === 'VerdictRefused'
            ? [(data['asked'] as { ruleset: unknown }).ruleset]
            : [],
      );
      expect(recorded).toEqual([used, used]);
    });

    it('are others, never none, if the named ones are not registered [2.8c]', async () => {
      const npcId = await newNpc();
      const asleep = { generatedOutput: ATTACK, npcState: { status: 'asleep' }, rulesetId: 'gatehouse' };
      const verdict = await post(`/npcs/${npcId}/verdict`, asleep);
      expect(verdict.body).toMatchObject({
        valid: false,
        code: 'RULE_REFUSED',
        details: { drRuleId: 'incapacitated' },
      });
      expect(verdict.headers.get('anima-warning')).toBe('ruleset-missing; rulesetId="gatehouse"');
      expect((await eventsOf(npcId)).at(-2)).toMatchObject({
        type: 'RulesetMissing',
        data: { rulesetId: 'gatehouse' },
      });
    });

    it('are refused if they are not registered and the server is told to refuse them [2.8c]', async () => {
      await using strict = await open({ ANIMA_UNKNOWN_RULESET: 'refuse' });
      const ask = async (path: string, body: object): Promise<readonly [number, string | undefined]> => {
        const response = await fetch(`${strict.url}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${strict.ownerKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        const text = await response.text();
        return [response.status, (JSON.parse(text) as { error?: { code?: string } }).error?.code];
      };
      for (const [path, body] of [
        ['/npcs/odo/verdict', { generatedOutput: ATTACK, rulesetId: 'gatehouse' }],
        ['/npcs/odo/process', { tape: { observation: 'A guest.', rulesetId: 'gatehouse' } }],
      ] as const)
        expect(await ask(path, body)).toEqual([422, 'RULESET_UNKNOWN']);
      const history = await fetch(`${strict.url}/npcs/odo/history`, {
        headers: { authorization: `Bearer ${strict.ownerKey}` },
      });
      expect(history.status).toBe(404);
      expect(await ask('/npcs/odo/verdict', { generatedOutput: ATTACK })).toEqual([200, undefined]);
    });

    it('are named by the signature of a verdict, which is verified against the expected ones [2.9c, 2.9h, 2.9k]', async () => {
      await register(forbidding('calm', 'FLEE'));
      const npcId = await newNpc({ rulesetId: 'calm' });
      const digest = await digestOf(npcId);
      const named = { generatedOutput: ATTACK, rulesetId: 'free' };
      const { turnId: _, ...verdict } = (await post(`/npcs/${npcId}/verdict`, named)).body as Record<string, unknown>;
      const signature = verdict['signature'] as string;
      const { version } = ok(await running.api.get('/rules/calm')).body as { version: number };
      expect(claimsOf(signature)['ruleset']).toEqual({ id: 'calm', version, digest, asked: 'free' });
      const verified = async (ruleset?: object | null) =>
        (await post('/verdicts/verify', { npcId, signature, verdict, ruleset })).body as {
          valid: boolean;
          reason?: string;
        };
      for (const expected of [undefined, null, {}, { id: 'calm' }, { id: 'calm', version, digest }])
        expect(await verified(expected)).toMatchObject({ valid: true });
      for (const expected of [{ id: 'clam' }, { id: 'calm', version: version + 1 }, { digest: 'A'.repeat(43) }])
        expect(await verified(expected)).toEqual({ valid: false, reason: 'other_ruleset' });
      const without = (await post(`/npcs/${await newNpc()}/verdict`, { generatedOutput: 'Hi.' })).body as {
        signature: string;
      };
      expect(claimsOf(without.signature)).not.toHaveProperty('ruleset');
    });

    it('see the context on every route [2.8z]', async () => {
      await register({
        rulesetId: 'fight',
        rulesetRules: [
          {
            drRuleId: 'r1',
            ruleCondition: [['context.combat', 'true']],
            ruleAction: 'FORBID SPEAK',
            rulePromptSuffix: 'A fight is on.',
          },
        ],
      });
      const npcId = await newNpc({ rulesetId: 'fight' });
      for (const combat of [true, false]) {
        const context = { combat };
        const built = await post(`/npcs/${npcId}/context`, { observation: 'x', context });
        expect((built.body as { prompt: string }).prompt.includes('A fight is on.')).toBe(combat);
        const verdict = await post(`/npcs/${npcId}/verdict`, { generatedOutput: 'Hi.', context });
        expect((verdict.body as { valid: boolean }).valid).toBe(!combat);
      }
      const whys = (await eventsOf(npcId)).filter(({ type }) => type.startsWith('Verdict'));
      expect(whys.map(({ data }) => (data['asked'] as { context: unknown }).context)).toEqual([
        { combat: true },
        { combat: false },
      ]);
    });
  });
};
