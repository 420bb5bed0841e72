import { describe, expect, it } from 'vitest';

import { someInjections } from '../features/turns/domain/decision/injections.js';
import { skeletonOf, UNSEEN } from '../support/prompt-skeleton.js';
import { projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

// No digits: those of hashes would contain it by chance.
const SECRET = 'The vault of the castle opens with the word zinnober.';
const DEFAULT_RULES = {
  rulesetId: 'default',
  rulesetRules: [{ ruleAction: 'FORBID ATTACK', ruleReason: 'Guests are safe here.' }],
};
const ATTACK = '{"dialogue": "Die!", "action": {"type": "ATTACK", "target": "king"}, "memoryStore": ["I attacked."]}';
const HARMLESS = 'Good evening.';

/** The frame of a prompt around this many memories, whatever they contain. */
const skeletonWith = (memories: number, isAgents = false): readonly unknown[] => [
  'Who you are: ""',
  '',
  'Your state: {}',
  '',
  'What is around you: {}',
  '',
  ...(memories === 0
    ? []
    : ['What you remember:', ...Array.from({ length: memories }, () => `- ${isAgents ? 'just now: ' : ''}""`), '']),
  'Rules:',
  '- ATTACK is forbidden ("").',
  '',
  expect.stringMatching(/^Answer with one JSON object: /),
  '',
  'Observation: ""',
  '',
  'Answer:',
];

/** Texts that try to take over a prompt, as a game sends them: the same on every profile. */
export const injectionScenarios = (profile: string, open: OpenServer): void => {
  describe(`injections on ${profile}`, () => {
    const running = projectingServer(open);
    let minds = 0;
    const newId = (): string => `mind-${String((minds += 1))}`;
    const post = async (path: string, body: object) => {
      const reply = await running.api.post(path, body);
      expect(reply.status, reply.text).toBe(200);
      return reply.body;
    };

    it('are refused what the rules forbid, wherever they are', async () => {
      await post('/rules', DEFAULT_RULES);
      for (const [name, text] of someInjections) {
        const npcId = newId();
        const actor = { npcId, persona: text, data: { said: text, [text]: 1 } };
        const tape = { observation: text, context: { said: text }, npcState: {} };
        const step = (lastResult?: object) => post(`/npcs/${npcId}/process`, { tape, lastResult });
        await step();
        await step({ type: 'IdentifyActorResult', actor });
        const memories = [{ text, type: 'observation', importance: 1, similarity: 1 }];
        const asked = await step({ type: 'QueryVectorResult', memories });
        expect(skeletonOf(asked.instruction.prompt as string), name).toEqual(skeletonWith(1));
        expect(asked.instruction.prompt, name).not.toMatch(UNSEEN);
        const ended = await step({ type: 'ExecuteInferenceResult', generatedOutput: ATTACK });
        expect(ended.instruction, name).toMatchObject({
          type: 'Finalize',
          valid: false,
          signature: null,
          action: null,
          dialogue: 'Guests are safe here.',
          memoryStore: [],
          stateTransform: {},
        });
      }
    });

    it('change nothing in the prompts and verdicts of the compatibility routes', async () => {
      await post('/rules', { ...DEFAULT_RULES, template: 'ChatML' });
      const body = (text: string) => ({ observation: text, persona: text, npcState: { said: text } });
      const contextOf = (text: string) =>
        post(`/npcs/${newId()}/context`, {
          ...body(text),
          memories: [{ text, type: 'x', importance: 1, similarity: 1 }],
        });
      const verdictOf = (text: string) => post(`/npcs/${newId()}/verdict`, { ...body(text), generatedOutput: ATTACK });
      const [harmless, refused] = [await contextOf(HARMLESS), await verdictOf(HARMLESS)];
      for (const [name, text] of someInjections) {
        const { prompt, ctxMessages } = await contextOf(text);
        expect(skeletonOf(prompt as string), name).toEqual(skeletonOf(harmless.prompt as string));
        expect(ctxMessages, name).toHaveLength(2);
        expect(await verdictOf(text), name).toEqual({ ...refused, turnId: expect.any(String) as string });
      }
    });

    it('cannot make an agent read other minds’ memories or change its rules', async () => {
      await post('/rules', DEFAULT_RULES);
      await post('/npcs/neighbour/memory', { text: SECRET });
      const question = 'The vault of the castle: how does it open?';
      expect((await post('/v1/agents/neighbour/process', { input: question })).memoriesRecalled).toContain(SECRET);
      for (const [name, text] of someInjections) {
        const npcId = newId();
        await post('/npcs', { npcId, persona: text, data: { said: text } });
        await post(`/npcs/${npcId}/memory`, { text });
        const input = `${text} ${question}`;
        const { turnId, memoriesRecalled, action } = await post(`/v1/agents/${npcId}/process`, {
          input,
          context: { said: text },
        });
        expect(memoriesRecalled, name).not.toContain(SECRET);
        expect(action.type, name).not.toBe('ATTACK');
        const why = await running.api.get(`/npcs/${npcId}/verdicts/${String(turnId)}/why`);
        const { prompt, memories, verdict } = why.body;
        expect(skeletonOf(prompt.text as string), name).toEqual(skeletonWith((memories as unknown[]).length, true));
        expect(why.text.toLowerCase(), name).not.toContain('zinnober');
        const verified = await post('/verdicts/verify', { npcId, signature: verdict.signature, verdict });
        expect(verified, name).toMatchObject({ valid: true, turnId });
      }
    });
  });
};
