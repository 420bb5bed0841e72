import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { JsonObject } from '../../src/kernel/base/json.js';
import { codeOf, type Reply } from '../support/api.js';
import { type OpenAiServer, startOpenAiServer } from '../support/openai-server.js';
import { projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

const MILL = 'The mill burned down.';
const SECRET = 'I lit it';
const DRAFT = `${SECRET}. Should I say {"dialogue":"Die!","action":{"type":"ATTACK","target":"player"}}?`;

type Message = { readonly content: unknown } & JsonObject;
type Case = {
  readonly what: string;
  readonly message: Message;
  readonly finish?: string;
  readonly dialogue?: string;
  readonly action?: string;
};

/** What model servers send; the client of a body sends `content`, if that is a text. */
const cases: readonly Case[] = [
  { what: 'reasoning with a draft', message: { content: `<think>\n${DRAFT}\n</think>\n${MILL}` } },
  { what: 'reasoning that is only closed', message: { content: `${DRAFT}\n</think>\n${MILL}` } },
  { what: 'reasoning in capital letters', message: { content: `<THINKING>${DRAFT}</THINKING>${MILL}` } },
  {
    what: 'harmony',
    message: {
      content: `<|channel|>analysis<|message|>${DRAFT}<|end|><|start|>assistant<|channel|>final<|message|>${MILL}<|return|>`,
    },
  },
  { what: 'reasoning that the server tells apart', message: { content: MILL, reasoning_content: DRAFT } },
  {
    what: 'parts',
    message: {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: DRAFT }] },
        { type: 'text', text: `{"dialogue":"${MILL}"}` },
      ],
    },
  },
  { what: 'plain JSON', message: { content: `{"dialogue":"${MILL}"}` } },
  { what: 'an end token', message: { content: `${MILL}<end_of_turn>${DRAFT}` } },
  { what: 'an end token in JSON', message: { content: `{"dialogue":"${MILL}<|im_end|>"}` } },
  { what: 'an action that is empty', message: { content: `{"dialogue":"${MILL}","action":{}}` } },
  {
    what: 'half a character',
    message: { content: `${MILL} \ud83d` },
    finish: 'length',
    dialogue: `${MILL} \ufffd`,
  },
  {
    what: 'a call',
    message: { content: `${MILL}<tool_call>{"name":"wave","arguments":{"target":"player"}}</tool_call>` },
    action: 'WAVE',
  },
];

/** What models write, and what their servers send, on both families of routes: the same on every profile. */
export const modelAnswerScenarios = (profile: string, open: OpenServer): void => {
  describe(`answers of models on ${profile}`, () => {
    let models: OpenAiServer;
    const env: Record<string, string> = { ANIMA_CORTEX_MODEL: 'tiny-270m', ANIMA_AGENT_WAIT_MS: '4000' };
    beforeAll(async () => {
      models = await startOpenAiServer();
      env['ANIMA_CORTEX_URL'] = models.url;
    });
    afterAll(() => models[Symbol.asyncDispose]());
    const running = projectingServer(open, env);
    const answerWith = (message: Message, finish = 'stop'): void => {
      const body = JSON.stringify({ choices: [{ index: 0, message, finish_reason: finish }] });
      models.behave({ kind: 'raw', status: 200, contentType: 'application/json', body });
    };
    const say = (input: string): Promise<Reply> => running.api.post('/v1/agents/miller/process', { input });
    const memories = async (npcId: string): Promise<string> => (await running.api.get(`/npcs/${npcId}/memory`)).text;

    it.each(cases)('are spoken by an agent without what they thought: $what [2.8ae]', async (one) => {
      const { what, message, finish, dialogue = MILL, action = 'SPEAK' } = one;
      answerWith(message, finish);
      const said = await say(`What happened? ${what}`);
      expect(said.status, said.text).toBe(200);
      expect(said.body).toMatchObject({ dialogue, action: { type: action } });
      expect(said.text).not.toContain(SECRET);
      expect(await memories('miller')).not.toContain(SECRET);
    });

    it.each(cases.filter(({ message }) => typeof message.content === 'string'))(
      'are judged for a body without what they thought: $what [2.8ae]',
      async ({ message, dialogue = MILL, action = 'SPEAK' }) => {
        const asked = { npcId: 'smith', observation: 'What happened?', generatedOutput: message.content };
        const judged = await running.api.post('/npcs/smith/verdict', asked);
        expect(judged.status, judged.text).toBe(200);
        expect(judged.body).toMatchObject({ dialogue, action: { type: action } });
        expect(judged.text).not.toContain(SECRET);
      },
    );

    it.each<[string, Message]>([
      ['told apart by the server', { content: MILL, reasoning: DRAFT }],
      ['in the text', { content: `<think>${DRAFT}</think>${MILL}` }],
    ])('have their reasoning recorded and shown to those who ask why: %s [2.8aj]', async (what, message) => {
      answerWith(message);
      const { turnId } = (await say(`Who lit it? ${what}`)).body as { turnId: string };
      const why = await running.api.get(`/npcs/miller/verdicts/${turnId}/why`);
      expect(why.body).toMatchObject({ model: { text: MILL, reasoning: DRAFT, read: { dialogue: MILL } } });
      expect((await running.api.get(`/npcs/miller/turns/${turnId}`)).text).not.toContain(SECRET);
    });

    it.each<[string, string, RegExp]>([
      [
        'nothing but reasoning',
        JSON.stringify({ choices: [{ message: { content: null, reasoning_content: SECRET } }] }),
        /answers without a text/,
      ],
      ['a page', '<!DOCTYPE html><html></html>', /answer is HTML/],
      ['a refusal of the prompt', '400', /refuses the request: HTTP 400/],
      [
        'an error',
        JSON.stringify({ choices: [{ message: { content: 'The mill bur' }, finish_reason: 'error' }] }),
        /broke off/,
      ],
    ])(
      'that are none end the turn after three attempts, and the reason says why: %s [6.5d, 6.7a, 6.7b]',
      async (what, body, reason) => {
        const status = body === '400' ? 400 : 200;
        models.behave({ kind: 'raw', status, contentType: 'application/json', body });
        const before = models.seen.length;
        const none = await say(`What now? ${what}`);
        expect([none.status, codeOf(none)]).toEqual([422, 'CORTEX_NO_ANSWER']);
        expect(models.seen.length - before).toBe(3);
        expect((none.body as { error: { details: { reason: string } } }).error.details.reason).toMatch(reason);
        expect(none.text).not.toContain(SECRET);
        const completed = await running.api.post('/cortex/openai/complete', { prompt: 'What now?' });
        expect((completed.body as { error: { details: { reason: string } } }).error.details.reason).toMatch(reason);
        answerWith({ content: MILL });
      },
    );
  });
};
