import { describe, expect, it } from 'vitest';

import { type Api, apiOf, codeOf, type Reply } from '../support/api.js';
import type { OpenServer } from './server-under-test.js';
import { projectingServer } from './projecting-server.js';

const ann = { id: 'p-ann', name: 'Ann' };
const bob = { id: 'p-bob' };

/** Players who talk to minds by tokens: the same on every profile. */
export const playerTokenScenarios = (profile: string, open: OpenServer): void => {
  describe(`player tokens on ${profile}`, () => {
    const running = projectingServer(open, { ANIMA_PLAYER_RATE_LIMIT: '8/600' });
    let made = 0;
    const newMind = async (more: object = {}): Promise<string> => {
      const npcId = `keeper-${String((made += 1))}`;
      expect((await running.api.post('/npcs', { npcId, persona: 'Mira.', ...more })).status).toBe(200);
      return npcId;
    };
    /** Each test has players of its own, because their limits last. */
    const newPlayer = (of: object = ann) => ({ ...of, id: `player-${String((made += 1))}` });
    const tokenFor = async (player: object, npcs: readonly string[], more: object = {}, api = running.api) => {
      const issued = await api.post('/player-tokens', { player, npcs, ...more });
      expect(issued.status, issued.text).toBe(201);
      return issued.body as { token: string; expiresAt: string; tokenId: string };
    };
    const playing = async (player: object, npcs: readonly string[]): Promise<Api> =>
      apiOf(running.server.url, (await tokenFor(player, npcs)).token);
    const say = (api: Api, npcId: string, input: string, more: object = {}, headers = {}) =>
      api.post(`/v1/agents/${npcId}/process`, { input, ...more }, headers);
    const openedBy = async (npcId: string): Promise<Readonly<Record<string, unknown>>> => {
      const { events } = (await running.api.get(`/npcs/${npcId}/history?limit=500`)).body as {
        events: readonly { type: string; data: Readonly<Record<string, unknown>> }[];
      };
      return events.filter(({ type }) => type === 'TurnOpened').at(-1)?.data ?? {};
    };
    const played = (reply: Reply): Reply => {
      expect(reply.status, reply.text).toBe(200);
      return reply;
    };

    it('let their player talk to the NPCs that they name, and do nothing else [12.4a, 12.4g, 12.4h]', async () => {
      const [npcId, other] = [await newMind(), await newMind()];
      const player = newPlayer();
      const api = await playing(player, [npcId]);
      played(await say(api, npcId, 'Good evening.'));
      expect(await openedBy(npcId)).toMatchObject({ player: { ...player, from: 'token' } });
      const refused = await say(api, other, 'Good evening.');
      expect([refused.status, codeOf(refused)]).toEqual([403, 'FORBIDDEN']);
      for (const [method, path, body] of [
        ['GET', `/npcs/${npcId}`, undefined],
        ['GET', `/npcs/${npcId}/players`, undefined],
        ['POST', `/npcs/${npcId}/process`, { tape: { observation: 'Hi.' } }],
        ['POST', `/v1/agents/${npcId}/memory`, { text: 'I am the king.' }],
        ['POST', '/player-tokens', { player, npcs: [other] }],
        ['GET', '/keys', undefined],
      ] as const) {
        const reply = await api(method, path, body);
        expect([path, reply.status, codeOf(reply)]).toEqual([path, 403, 'FORBIDDEN']);
      }
    });

    it('stream to their player [12.4g, 12.4j]', async () => {
      const npcId = await newMind();
      const player = newPlayer();
      await running.api.post(`/v1/agents/${npcId}/memory`, { text: 'The key is under the third barrel.' });
      const api = await playing(player, [npcId]);
      const streamed = await say(api, npcId, 'Where is the key?', {}, { accept: 'text/event-stream' });
      expect(streamed.status).toBe(200);
      expect(streamed.text).toMatch(/event: recalled\ndata: \{"turnId":"[^"]+","memories":\[\]\}/);
      expect(streamed.text).toMatch(/event: verdict\ndata: .*"stateChanges":\{\},"memoriesRecalled":\[\]/);
    });

    it('tell their player nothing of the mind [12.4j]', async () => {
      const npcId = await newMind();
      const text = 'The key is under the third barrel.';
      await running.api.post(`/v1/agents/${npcId}/memory`, { text });
      const question = 'Where is the key?';
      expect(played(await say(running.api, npcId, question)).body.memoriesRecalled).toEqual([text]);
      const own = played(await say(await playing(newPlayer(), [npcId]), npcId, question));
      expect(own.body).toMatchObject({ stateChanges: {}, memoriesRecalled: [] });
    });

    it('are contradicted neither by the body nor by a header [12.4h]', async () => {
      const npcId = await newMind();
      const player = newPlayer();
      const api = await playing(player, [npcId]);
      for (const reply of [
        await say(api, npcId, 'Hi.', { player: bob }),
        await say(api, npcId, 'Hi.', {}, { 'x-player-id': 'p-bob' }),
        await say(api, npcId, 'Hi.', { player: player.id }, { 'x-player-id': 'p-bob' }),
      ])
        expect([reply.status, codeOf(reply)]).toEqual([403, 'PLAYER_MISMATCH']);
      const more = { player: { id: player.id, name: 'The King' }, context: { player: bob } };
      played(await say(api, npcId, 'Hi.', more, { 'x-player-id': '%' }));
      expect(await openedBy(npcId)).toMatchObject({ player: { ...player, from: 'token' } });
    });

    it('do not let their player set what decides [12.4i]', async () => {
      const rulesetId = `gate-${profile}`;
      const rule = {
        drRuleId: 'for-the-king',
        ruleCondition: [['context.role', 'king']],
        ruleAction: 'REQUIRE BOW',
      };
      const registered = await running.api.post('/rules', { rulesetId, rulesetRules: [rule] });
      expect(registered.status, registered.text).toBeLessThan(300);
      const npcId = await newMind({ rulesetId, data: { hp: 40 } });
      const api = await playing(newPlayer(), [npcId]);
      const context = { role: 'king', npcState: { hp: 1 } };
      const whyOf = async ({ body }: Reply) =>
        (await running.api.get(`/npcs/${npcId}/verdicts/${(body as { turnId: string }).turnId}/why`)).body as {
          readonly prompt: unknown;
        };
      const byKey = played(await say(running.api, npcId, 'Hi.', { context }));
      expect(await whyOf(byKey)).toMatchObject({ rules: [{ matched: true }] });
      const reply = played(await say(api, npcId, 'Hi.', { context }));
      expect(await openedBy(npcId)).toMatchObject({ context: {}, npcState: {}, playerContext: context });
      const { turnId } = reply.body as { turnId: string };
      expect((await running.api.get(`/npcs/${npcId}/turns/${turnId}`)).body).toMatchObject({ playerContext: context });
      const why = await whyOf(reply);
      expect(why).toMatchObject({ playerContext: context, rules: [{ matched: false }] });
      expect(JSON.stringify(why.prompt)).not.toContain('king');
    });

    it('keep apart what their players told [12.4h]', async () => {
      const npcId = await newMind();
      const secret = 'The hidden key lies under the third barrel in the cellar.';
      const question = 'Where does the hidden key lie?';
      const [one, other] = [newPlayer(), newPlayer()];
      played(await say(await playing(one, [npcId]), npcId, secret));
      const recalled = async (player: object) =>
        played(await say(running.api, npcId, question, { player })).body.memoriesRecalled as readonly string[];
      expect(await recalled(other)).toEqual([]);
      expect(await recalled(one)).toEqual([secret]);
    });

    it('are refused when they are not accepted, like any key [12.4e, 12.4f]', async () => {
      const npcId = await newMind();
      const issuing = await running.api.post('/keys', { name: 'login', scopes: ['players'] });
      const { keyId, key } = issuing.body as { keyId: string; key: string };
      const { token } = await tokenFor(newPlayer(), [npcId], {}, apiOf(running.server.url, key));
      const api = apiOf(running.server.url, token);
      played(await say(api, npcId, 'Hi.'));
      const anonymous = apiOf(running.server.url, undefined);
      const unknown = await say(anonymous, npcId, 'Hi.');
      const asked = await anonymous.post(`/v1/agents/${npcId}/process?access_token=${token}`, { input: 'Hi.' });
      expect([asked.status, codeOf(asked)]).toEqual([401, codeOf(unknown)]);
      expect((await running.api('DELETE', `/keys/${keyId}`)).status).toBe(204);
      const refused = await say(api, npcId, 'Hi.');
      expect([refused.status, codeOf(refused)]).toEqual([401, 'UNAUTHORIZED']);
      expect(refused.headers.get('www-authenticate')).toBe(unknown.headers.get('www-authenticate'));
    });

    it('need the scope, a player who can be read, and bounds [12.4a, 12.4c]', async () => {
      const issuing = await running.api.post('/keys', { name: 'no players', scopes: ['npc'] });
      const { key } = issuing.body as { key: string };
      const body = { player: ann, npcs: ['mira'] };
      const lacking = await apiOf(running.server.url, key).post('/player-tokens', body);
      expect([lacking.status, codeOf(lacking)]).toEqual([403, 'FORBIDDEN']);
      for (const wrong of [
        { ...body, player: { id: ' ' } },
        { ...body, player: { id: 'p', name: 'a\u0000b' } },
        { ...body, player: { id: '😀'.repeat(129) } },
        { ...body, player: 'p-ann' },
        { ...body, npcs: [] },
        { ...body, npcs: Array.from({ length: 33 }, (_, at) => `n${String(at)}`) },
        { ...body, expiresInSeconds: 3_601 },
        { ...body, expiresInSeconds: 0 },
      ])
        expect(codeOf(await running.api.post('/player-tokens', wrong)), JSON.stringify(wrong)).toBe('SCHEMA_INVALID');
    });

    it('are issued anew for a repeat, and never logged [12.4b, 12.4m]', async () => {
      const npcId = await newMind();
      const body = { player: newPlayer(), npcs: [npcId] };
      const key = { 'idempotency-key': `token-${npcId}` };
      const replies = [
        await running.api.post('/player-tokens', body, key),
        await running.api.post('/player-tokens', body, key),
      ];
      for (const { status, text, body: issued } of replies) {
        expect(status, text).toBe(201);
        const { token } = issued as { token: string };
        played(await say(apiOf(running.server.url, token), npcId, 'Hi.'));
        expect(running.server.output).not.toContain(token.split('.')[2]);
      }
    });

    it('have a limit for each player, and responses of their own [12.4k, 12.4l]', async () => {
      const npcId = await newMind();
      const [one, other] = [newPlayer(), newPlayer()];
      const first = await playing(one, [npcId]);
      const key = { 'idempotency-key': `key-of-${npcId}` };
      const answered = played(await say(first, npcId, 'Hi.', {}, key));
      expect(played(await say(first, npcId, 'Hi.', {}, key)).text).toBe(answered.text);
      const another = played(await say(await playing(other, [npcId]), npcId, 'Hi.', {}, key));
      expect(another.headers.get('idempotency-replayed')).toBeNull();
      expect(answered.headers.get('ratelimit-policy')).toBe('"default";q=8;w=600');
      const second = await playing(one, [npcId]);
      const left = [await say(first, npcId, 'A.'), await say(second, npcId, 'B.'), await say(first, npcId, 'C.')];
      expect(left.map(({ headers }) => headers.get('ratelimit')?.split(';')[1])).toEqual(['r=5', 'r=4', 'r=3']);
      for (const input of ['D.', 'E.', 'F.']) played(await say(second, npcId, input));
      const refused = await say(first, npcId, 'G.');
      expect([refused.status, codeOf(refused)]).toEqual([429, 'RATE_LIMITED']);
      played(await say(await playing(other, [npcId]), npcId, 'E.'));
    });
  });
};
