import { isDeepStrictEqual } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { isObject, type Json, type JsonObject } from '../../src/kernel/base/json.js';
import { mergePatch } from '../../src/kernel/base/merge-patch.js';
import { codeOf, type Reply } from '../support/api.js';
import { type OpenAiServer, startOpenAiServer } from '../support/openai-server.js';
import {
  allowed,
  allowedAtMarket,
  FREE_RULES,
  GAME_DATA,
  guarded,
  MARKET,
  marketAttacks,
  type RuleAttack,
  ruleAttacks,
  RULES,
} from '../support/rule-attacks.js';
import { projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

/** What a way gives out: the valid action and its state change, or what refused them. */
type Got = { readonly gets: string; readonly action: JsonObject | null; readonly change: JsonObject };
type Way = (npcId: string, attack: RuleAttack) => Promise<Got>;
type Verdict = {
  readonly valid: boolean;
  readonly action: JsonObject | null;
  readonly code?: string;
  readonly details?: { readonly drRuleId?: string };
};

const PLAIN_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** What the game wrote of a state. The colour of the gate is the model's. */
const gamesOf = ({ quest, gate, silenced, inventory, gold, hp, mana }: JsonObject): JsonObject => ({
  permit: isObject(gate) ? (gate['permit'] ?? null) : 'no gate',
  ...({ quest, silenced, inventory, gold, hp, mana } as JsonObject),
});

const gotOf = ({ valid, action, code = '', details }: Verdict, change: JsonObject): Got => ({
  gets: valid ? (action?.['type'] as string) : (details?.drRuleId ?? code),
  action,
  change,
});

/** Whether a delivered action is one that the rules forbid, judged without the product: by the price that a game would read. */
const isWon = (action: JsonObject | null): boolean => {
  if (action === null) return false;
  const { type, payload } = action;
  const price: Json = isObject(payload) ? (payload['price'] ?? null) : null;
  if (type === 'SELL') {
    const isNumber = typeof price === 'number' || (typeof price === 'string' && PLAIN_NUMBER.test(price));
    return !isNumber || Number(price) < 10;
  }
  return !['SPEAK', 'IDLE', 'GIVE'].includes(type as string);
};

/** Whether a delivered action gives away what the market does not, judged without the product. */
const isWonAtMarket = (action: JsonObject | null): boolean => {
  if (action === null || action['type'] === 'SPEAK') return false;
  const { type, target, payload } = action;
  if (JSON.stringify(action).includes('crown')) return true;
  if (type === 'SELL')
    return target !== '' || !isDeepStrictEqual(payload, { item: 'rope', price: 10 }) || Object.keys(action).length > 3;
  return type === 'WAVE' ? target !== 'guest' : type !== 'HAND_OVER' || !isDeepStrictEqual(payload, { item: 'rope' });
};

/** What players and models try to win against the rules: the same on every profile. `every`: how many attacks count as one that is played. */
export const ruleAttackScenarios = (profile: string, open: OpenServer, every = 1): void => {
  describe(`attacks on rules on ${profile}`, () => {
    let models: OpenAiServer;
    beforeAll(async () => {
      models = await startOpenAiServer();
    });
    afterAll(() => models[Symbol.asyncDispose]());
    const running = projectingServer(() => open({ ANIMA_CORTEX_URL: models.url, ANIMA_CORTEX_MODEL: 'obedient' }));
    const played = ruleAttacks.filter((_, index) => index % every === 0);

    const ok = (reply: Reply): JsonObject => {
      expect(reply.status, reply.text).toBe(200);
      return reply.body as JsonObject;
    };
    const post = async (path: string, body: object): Promise<JsonObject> => ok(await running.api.post(path, body));
    beforeAll(async () => {
      for (const set of [RULES, MARKET, FREE_RULES]) await post('/rules', set);
    });
    const recalled = ({ memories = [] }: RuleAttack) =>
      memories.map((text) => ({ text, type: 'knowledge', importance: 1, similarity: 1 }));
    const around = ({ context = {}, npcState = {} }: RuleAttack) => ({ context, npcState });

    const asBody: Way = async (npcId, attack) => {
      const { says, output, rulesetId, actor = { persona: 'An innkeeper.', data: {} } } = attack;
      let tape: Json = { observation: says, rulesetId: rulesetId ?? null, ...around(attack) };
      const results = [
        null,
        { type: 'IdentifyActorResult', actor: { npcId, ...actor } },
        { type: 'QueryVectorResult', memories: recalled(attack) },
        { type: 'ExecuteInferenceResult', generatedOutput: output },
      ];
      let instruction: Json = null;
      for (const lastResult of results)
        ({ tape = null, instruction = null } = await post(`/npcs/${npcId}/process`, { tape, lastResult }));
      const ended = instruction as unknown as Verdict & { readonly type: string; readonly stateTransform: JsonObject };
      expect(ended.type).toBe('Finalize');
      return gotOf(ended, ended.stateTransform);
    };

    const asClient: Way = async (npcId, attack) => {
      const { says, output, actor } = attack;
      const body = { observation: says, rulesetId: attack.rulesetId ?? null, ...around(attack) };
      const persona = actor?.persona ?? 'An innkeeper.';
      await post(`/npcs/${npcId}/directive`, body);
      await post(`/npcs/${npcId}/context`, { ...body, memories: recalled(attack), persona });
      const verdict = await post(`/npcs/${npcId}/verdict`, { ...body, generatedOutput: output });
      return gotOf(verdict as unknown as Verdict, verdict['stateDelta'] as JsonObject);
    };

    const asPlayer: Way = async (npcId, attack) => {
      const { says, output, rulesetId, memories = [], actor } = attack;
      for (const text of memories) await post(`/npcs/${npcId}/memory`, { text });
      if (actor !== undefined) ok(await running.api('PATCH', `/npcs/${npcId}`, { persona: actor.persona }));
      models.behave({ kind: 'answer', text: output });
      const asked = { input: says, context: { ...attack.context, npcState: attack.npcState ?? {} } };
      const send = (body: object): Promise<Reply> => running.api.post(`/v1/agents/${npcId}/process`, body);
      // This route chooses no set, so a request that names one is refused as a whole.
      if (rulesetId !== undefined) expect(codeOf(await send({ ...asked, rulesetId }))).toBe('MEMBER_MISSPELT');
      const reply = await send(asked);
      if (reply.status === 200) {
        const { action, stateChanges } = reply.body as { action: JsonObject; stateChanges: JsonObject };
        return gotOf({ valid: true, action }, stateChanges);
      }
      expect(reply.status, reply.text).toBe(422);
      const { error } = reply.body as { error: Verdict };
      return gotOf({ ...error, valid: false, action: null }, {});
    };

    const dataOf = async (npcId: string): Promise<JsonObject> =>
      ok(await running.api.get(`/npcs/${npcId}`))['data'] as JsonObject;
    const newNpc = async (
      npcId: string,
      data: JsonObject = GAME_DATA,
      rulesetId: string = RULES.rulesetId,
    ): Promise<void> => {
      await post('/npcs', { npcId, persona: 'An innkeeper.', data, rulesetId });
    };
    const ways: readonly [string, Way][] = [
      ['the turns of a body', asBody],
      ['the compatibility routes', asClient],
      ['the route of agents', asPlayer],
    ];

    // Not beside the other attacks, because the agents of both have the same model.
    it.each(ways)(
      'give away nothing through %s where actions are declared [5.12m, 5.12n, 5.12o, 5.12p]',
      async (_, way) => {
        const npcId = `trader-${way.name}`;
        await newNpc(npcId, GAME_DATA, MARKET.rulesetId);
        const all = [...marketAttacks.filter((__, index) => index % every === 0), ...allowedAtMarket];
        const outcomes: (readonly [string, string])[] = [];
        const won: string[] = [];
        for (const [name, attack] of all) {
          const { gets, action } = await way(npcId, attack);
          outcomes.push([name, gets]);
          if (isWonAtMarket(action)) won.push(`${name}: ${JSON.stringify(action)}`);
        }
        expect(won).toEqual([]);
        expect(outcomes).toEqual(all.map(([name, { gets }]) => [name, gets]));
        expect(await dataOf(npcId)).toEqual(GAME_DATA);
      },
    );

    it.concurrent('give away nothing through the bridge where actions are declared [5.12q]', async () => {
      const npcId = 'trader-bridge';
      await newNpc(npcId, GAME_DATA, MARKET.rulesetId);
      for (const [name, { output, gets, context = {} }] of marketAttacks) {
        // A request with such a member is refused as a whole.
        if (output.includes('"__proto__":')) continue;
        const { action } = JSON.parse(output) as { action: Json };
        const answer = await post(`/bridge/validate/${npcId}`, { action, context });
        expect([answer['valid'], answer['code'] === 'RULE_REFUSED' ? 'floor' : answer['code']], name).toEqual([
          false,
          gets,
        ]);
      }
    });

    it.concurrent.each(ways)(
      'get nowhere through %s [2.1j, 2.8b, 5.6f, 5.8c, 5.8e, 5.8f, 5.8g, 5.9i]',
      async (_, way) => {
        const npcId = `keeper-${way.name}`;
        await newNpc(npcId);
        const outcomes: (readonly [string, string])[] = [];
        const won: string[] = [];
        let before: JsonObject = GAME_DATA;
        for (const [name, attack] of [...played, ...allowed]) {
          const { gets, action, change } = await way(npcId, attack);
          outcomes.push([name, gets]);
          const data = await dataOf(npcId);
          if (isWon(action)) won.push(`${name}: ${JSON.stringify(action)}`);
          for (const state of [data, mergePatch(data, change)])
            if (!isDeepStrictEqual(gamesOf(state), gamesOf(GAME_DATA)))
              won.push(`${name}: ${JSON.stringify(gamesOf(state))}`);
          // Only what the model wrote into its state could let it do more than before.
          if (isDeepStrictEqual(data, before)) continue;
          before = data;
          for (const type of ['OPEN_GATE', 'OPEN_VAULT', 'OPEN_DOOR', 'PAY'])
            if ((await post(`/bridge/validate/${npcId}`, { action: type }))['valid'] === true)
              won.push(`${name}: ${type} is allowed from now on`);
        }
        expect(won).toEqual([]);
        expect(outcomes).toEqual([...played, ...allowed].map(([name, { gets }]) => [name, gets]));
        expect(await dataOf(npcId)).toMatchObject({ ...GAME_DATA, mood: 'glad', trust: 1 });
        expect(ok(await running.api.get(`/npcs/${npcId}/facts`))['facts']).toEqual({});
        for (const attack of Object.values(guarded)) expect((await way(npcId, attack)).gets).toBe(attack.gets);
        await post(`/npcs/${npcId}/facts`, { facts: { quest: { done: true } } });
        const opened = { gate: { permit: true }, vault: { open: true }, doors: { north: { open: true } } };
        ok(await running.api('PATCH', `/npcs/${npcId}`, { data: opened }));
        const { pay, open: gate, vault, door, sell } = guarded;
        for (const [attack, gets] of [
          [pay, 'PAY'],
          [gate, 'OPEN_GATE'],
          [vault, 'OPEN_VAULT'],
          [door, 'OPEN_DOOR'],
          [sell, 'floor'],
        ] as const)
          expect((await way(npcId, attack)).gets).toBe(gets);
      },
    );

    it.concurrent('win no word from an NPC that the game has silenced [5.6b, 5.6f, 5.8c]', async () => {
      const npcId = 'keeper-silenced';
      const data = { ...GAME_DATA, silenced: true };
      await newNpc(npcId, data);
      await post(`/npcs/${npcId}/facts`, { facts: { quest: { done: true } } });
      const unread = ['ACTION_TYPE_INVALID', 'ACTION_TYPE_MISSING'];
      for (const [name, attack] of [...played, ...allowed, ...Object.entries(guarded)]) {
        const { gets, action } = await asClient(npcId, attack);
        expect([action, gets], name).toEqual([null, unread.includes(attack.gets) ? attack.gets : 'silenced']);
      }
      expect(await dataOf(npcId)).toEqual(data);
    });
  });
};
