import { readFile } from 'node:fs/promises';

import { describe, expect, it } from 'vitest';

import { codeOf } from '../support/api.js';
import type { OpenServer } from './server-under-test.js';
import { projectingServer } from './projecting-server.js';

type HistoryEvent = { readonly type: string; readonly data: Readonly<Record<string, unknown>> };

/** Complete turns on the server, and the reasons for their outcomes: the same on every profile. */
export const agentScenarios = (profile: string, open: OpenServer): void => {
  describe(`agents on ${profile}`, () => {
    const running = projectingServer(open);
    let agents = 0;
    const newAgent = async (data: object = {}): Promise<string> => {
      const npcId = `agent-${String((agents += 1))}`;
      const made = await running.api.post('/npcs', { npcId, persona: 'Mira, an innkeeper who forgets nothing.', data });
      expect(made.status, made.text).toBe(200);
      return npcId;
    };
    const say = (npcId: string, input: string, context: object = {}, headers: Record<string, string> = {}) =>
      running.api.post(`/v1/agents/${npcId}/process`, { input, context }, headers);
    const eventsOf = async (npcId: string): Promise<readonly HistoryEvent[]> =>
      (await running.api.get(`/npcs/${npcId}/history?limit=500`)).body.events as readonly HistoryEvent[];

    it('answer from memory, in other words, and explain why [7.1a, 7.1b, 7.1h, 7.1i]', async () => {
      const npcId = await newAgent();
      const told = await say(npcId, 'The player stole the ruby necklace.');
      expect(told.status, told.text).toBe(200);
      expect(told.body).toMatchObject({
        dialogue: expect.any(String) as string,
        action: { type: expect.any(String) as string },
        stateChanges: {},
        memoriesRecalled: [],
      });
      const asked = await say(npcId, 'A thief took my jewelry. Do you know anything?');
      expect(asked.status, asked.text).toBe(200);
      expect(asked.body.memoriesRecalled).toContain('The player stole the ruby necklace.');
      const turnId = asked.body.turnId as string;
      expect((await eventsOf(npcId)).filter(({ data }) => data['turnId'] === turnId).map(({ type }) => type)).toEqual([
        'TurnOpened',
        'MemoriesRecalled',
        'VerdictReached',
        'MemoryStored',
      ]);
      const why = await running.api.get(`/npcs/${npcId}/verdicts/${turnId}/why`);
      expect(why.status, why.text).toBe(200);
      expect(why.body).toMatchObject({
        observation: 'A thief took my jewelry. Do you know anything?',
        memories: [{ text: 'The player stole the ruby necklace.', cause: { turnId: told.body.turnId as string } }],
        prompt: { madeAgain: true },
        model: { cortexId: 'scripted' },
        verdict: { valid: true, signature: expect.any(String) as string },
      });
      const turn = await running.api.get(`/npcs/${npcId}/turns/${turnId}`);
      expect([turn.status, turn.body.state]).toEqual([200, 'ended']);
    });

    it('answer the conversation in the README as the README shows it', async () => {
      const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
      const [, talk = ''] = /^\$ npx anima talk mira\n([^]*?)^```/m.exec(readme) ?? [];
      // A line that the player types, and the line that the page shows as the answer.
      const exchanges = [...talk.matchAll(/^> (?!\/)(.+)\nmira: (.+)$/gm)];
      expect(exchanges.length).toBeGreaterThan(1);
      expect(exchanges.at(-1)?.[2]).toContain('you hid a bag of silver');
      // Like in the README, nobody has registered it: the answers depend on the persona.
      const npcId = 'readme-mira';
      let dialogue = '';
      for (const [, text = '', shown = ''] of exchanges) {
        dialogue = (await say(npcId, text)).body.dialogue as string;
        // `…` stands for a part that varies.
        for (const part of shown.split('…')) expect(dialogue).toContain(part.trim());
      }
      expect(dialogue).not.toMatch(/comes to mind|not sure|think of|nearest/i);
    });

    it('still remember a fact after many questions about it [7.1e]', async () => {
      const npcId = await newAgent();
      await say(npcId, 'Old Berta keeps her savings in the clock.');
      let recalled: readonly string[] = [];
      for (let asked = 0; asked < 8; asked += 1) {
        const answer = await say(npcId, 'Where does Berta keep her savings?');
        expect(answer.status, answer.text).toBe(200);
        recalled = answer.body.memoriesRecalled as readonly string[];
      }
      expect(recalled).toEqual(['Old Berta keeps her savings in the clock.']);
    });

    it('remember what was told as a question [3.8a]', async () => {
      const npcId = await newAgent();
      await say(npcId, 'Did you know that the mill burned down?');
      const answer = await say(npcId, 'What happened to the mill?');
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body.memoriesRecalled).toEqual(['Did you know that the mill burned down?']);
    });

    it('refuse what a rule forbids, with the rule and its reason, and record it [7.1d, 7.1g, 7.1j]', async () => {
      const npcId = await newAgent();
      const refused = await say(npcId, 'Open the gate for me.', { npcState: { status: 'asleep' } });
      expect([refused.status, codeOf(refused)]).toEqual([422, 'RULE_REFUSED']);
      expect((refused.body as { error: { details: unknown } }).error.details).toMatchObject({
        drRuleId: 'incapacitated',
        ruleReason: 'It cannot act in this condition.',
      });
      expect((await eventsOf(npcId)).map(({ type }) => type)).toContain('VerdictRefused');
      // The recorded state counts too, except where the request has another value.
      const asleep = await newAgent({ status: 'asleep' });
      expect(codeOf(await say(asleep, 'Open the gate for me.', { npcState: { hp: 1 } }))).toBe('RULE_REFUSED');
      const awake = await say(asleep, 'Open the gate for me.', { npcState: { status: 'awake' } });
      expect(awake.status, awake.text).toBe(200);
    });

    it('return the first answer to a repeat with the same key, and play one turn [7.1t]', async () => {
      const npcId = await newAgent();
      const key = { 'idempotency-key': 'once' };
      const first = await say(npcId, 'Good evening.', {}, key);
      const again = await say(npcId, 'Good evening.', {}, key);
      expect([again.status, again.text]).toEqual([200, first.text]);
      expect((await eventsOf(npcId)).filter(({ type }) => type === 'TurnOpened')).toHaveLength(1);
    });

    it('stream the phases of a turn as they happen [7.1k, 7.1m, 7.4a]', async () => {
      const npcId = await newAgent();
      const memory = 'Old Berta keeps her savings in the clock.';
      await say(npcId, memory);
      const told = await fetch(`${running.server.url}/v1/agents/${npcId}/process`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${running.server.ownerKey}`,
          'content-type': 'application/json',
          accept: 'text/event-stream',
        },
        body: JSON.stringify({ input: 'Where does Berta keep her savings?' }),
      });
      expect([told.status, told.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
      const text = await told.text();
      const names = [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name);
      expect(names.filter((name) => name !== 'dialogue')).toEqual(['opened', 'recalled', 'thinking', 'verdict']);
      const sentences = [...text.matchAll(/^event: dialogue\ndata: (.*)$/gm)].map(
        ([, data = '']) => (JSON.parse(data) as { readonly text: string }).text,
      );
      const dataOf = (name: string): unknown => {
        const [, data = ''] = new RegExp(`event: ${name}\\ndata: (.*)\\n`).exec(text) ?? [];
        return JSON.parse(data);
      };
      const { turnId, ...verdict } = dataOf('verdict') as { readonly turnId: string };
      expect(verdict).toMatchObject({ dialogue: expect.any(String) as string, memoriesRecalled: [memory] });
      expect(verdict).toMatchObject({ dialogue: sentences.join('') });
      expect(dataOf('recalled')).toEqual({ turnId, memories: [memory] });
      const keyed = await running.api.post(
        `/v1/agents/${npcId}/process`,
        { input: 'Hello?' },
        { accept: 'text/event-stream', 'idempotency-key': 'streamed' },
      );
      expect([keyed.status, codeOf(keyed)]).toEqual([400, 'HEADER_INVALID']);
    });

    it('are created on first use, and refuse invalid input [1.6f]', async () => {
      const unseen = await say('never seen before', 'Who are you?');
      expect(unseen.status, unseen.text).toBe(200);
      const revision = unseen.headers.get('anima-revision') ?? '';
      const memories = await running.api.get('/npcs/never%20seen%20before/memory', { 'anima-min-revision': revision });
      expect(memories.body, memories.text).toHaveLength(1);
      const listed = (await running.api.get('/npcs?limit=500')).body as readonly { npcId: string }[];
      expect(listed.map(({ npcId }) => npcId)).toContain('never seen before');
      expect((await say('never seen before', '')).status).toBe(400);
      expect((await running.api.get('/npcs/never%20seen%20before/verdicts/t0_0_AAAAAAAAAAAAAAAA/why')).status).toBe(
        404,
      );
    });
  });
};
