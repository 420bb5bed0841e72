import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Api, patientApiOf, codeOf, type Reply } from '../support/api.js';
import { type OpenAiServer, startOpenAiServer } from '../support/openai-server.js';
import type { OpenServer, ServerUnderTest } from './server-under-test.js';

const KEY = 'sk-of-the-model-server';

/** Engines as studios see them over HTTP: the same on every profile. */
export const cortexScenarios = (profile: string, open: OpenServer): void => {
  describe(`engines on ${profile}`, () => {
    let models: OpenAiServer;
    let server: ServerUnderTest;
    let api: Api;
    beforeAll(async () => {
      models = await startOpenAiServer();
      server = await open({
        ANIMA_CORTEX_URL: models.url,
        ANIMA_CORTEX_MODEL: 'tiny-270m',
        ANIMA_CORTEX_KEY: KEY,
      });
      api = patientApiOf(server.url, server.ownerKey);
    });
    afterAll(async () => {
      await server[Symbol.asyncDispose]();
      await models[Symbol.asyncDispose]();
    });

    const init = (requestedModel: string, more: object = {}): Promise<Reply> =>
      api.post('/cortex/init', { requestedModel, ...more });

    it('include the scripted engine and the configured one [6.1a]', async () => {
      expect((await api.get('/cortex/models')).body).toEqual([
        { id: 'scripted', name: 'Scripted', parameters: 0 },
        { id: 'openai', name: 'tiny-270m', parameters: 270 },
      ]);
    });

    it('are found by name and by model, and any other name is refused with a reason [6.2a, 6.2b, 6.2c]', async () => {
      const ready = { cortexId: 'openai', runtime: 'http', state: 'ready' };
      expect((await init('scripted')).body).toEqual({ cortexId: 'scripted', runtime: 'builtin', state: 'ready' });
      for (const name of ['openai', 'tiny-270m', '', 'api-integrated']) expect((await init(name)).body).toEqual(ready);
      const unknown = await init('gpt-9');
      expect([unknown.status, unknown.body]).toEqual([
        200,
        { cortexId: 'gpt-9', runtime: 'none', state: expect.stringContaining('/cortex/models') as string },
      ]);
      expect((await api.post('/cortex/init', {})).status).toBe(400);
    });

    it('are refused what their model would do against the world, with the code and the details of the refusal [7.1j]', async () => {
      await api.post('/npcs', { npcId: 'beggar', data: { inventory: ['bowl'] } });
      models.behave({
        kind: 'answer',
        text: '{"dialogue": "Take it.", "action": {"type": "GIVE", "target": "player", "payload": {"item": "crown"}}}',
      });
      const refused = await api.post('/v1/agents/beggar/process', { input: 'Give me the crown.' });
      expect([refused.status, codeOf(refused)]).toEqual([422, 'ITEM_NOT_IN_INVENTORY']);
      expect((refused.body as { error: { details: unknown } }).error.details).toMatchObject({
        item: 'crown',
        inventory: ['bowl'],
      });
    });

    it('complete prompts: the scripted engine always the same, the model server as it answers [6.2d, 6.3e, 6.3g, 6.4a]', async () => {
      const body = { prompt: 'Who are you?' };
      const [once, again] = [
        await api.post('/cortex/scripted/complete', body),
        await api.post('/cortex/scripted/complete', body),
      ];
      expect(once.status, once.text).toBe(200);
      expect(once.body).toMatchObject({ id: expect.any(String) as string, text: again.body.text as string });
      models.behave({ kind: 'answer', text: 'I am the model.' });
      const modelled = await api.post('/cortex/openai/complete', { ...body, authKey: 'unused' });
      expect([modelled.status, modelled.body.text]).toEqual([200, 'I am the model.']);
      expect(models.seen.at(-1)).toMatchObject({
        authorization: `Bearer ${KEY}`,
        body: { messages: [{ role: 'user', content: 'Who are you?' }] },
      });
      expect(once.headers.get('deprecation')).toMatch(/^@\d+$/);
      expect(once.headers.get('link')).toContain('rel="deprecation"');
      expect(codeOf(await api.post('/cortex/gpt-9/complete', body))).toBe('CORTEX_NOT_FOUND');
    });

    it('have a tenant default that only an admin sets, and that survives a restart [6.3a, 6.3b]', async () => {
      const made = await api.post('/keys', { name: 'game' });
      const game = patientApiOf(server.url, (made.body as { key: string }).key);
      const body = { requestedModel: 'scripted', default: true };
      expect(codeOf(await game.post('/cortex/init', body))).toBe('FORBIDDEN');
      expect((await game.post('/cortex/init', { requestedModel: '' })).body).toMatchObject({ cortexId: 'openai' });
      expect((await api.post('/cortex/init', body)).body).toMatchObject({ cortexId: 'scripted', state: 'ready' });
      expect((await game.post('/cortex/init', { requestedModel: '' })).body).toMatchObject({ cortexId: 'scripted' });
      await server.restart('stop');
      api = patientApiOf(server.url, server.ownerKey);
      expect((await init('')).body).toMatchObject({ cortexId: 'scripted' });
      expect((await init('openai', { default: true })).body).toMatchObject({ cortexId: 'openai' });
      expect((await init('')).body).toMatchObject({ cortexId: 'openai' });
    });

    it('report the reason of the last failure of an engine that is up but has given no text [6.9a, 6.9b]', async () => {
      const body = JSON.stringify({ error: { message: `The model tiny-270m was not found, ${KEY}` } });
      models.behave({ kind: 'raw', status: 400, contentType: 'application/json', body });
      expect(codeOf(await api.post('/cortex/openai/complete', { prompt: 'x' }))).toBe('CORTEX_NO_ANSWER');
      const state = 'The model server refuses the request: HTTP 400, model not found.';
      expect((await init('openai')).body).toMatchObject({ state });
      const ready = await api.get('/readyz');
      expect(ready.body).toMatchObject({ dependencies: { cortex: { ok: false, needed: false, detail: state } } });
      expect(server.output).toContain(state);
      expect(ready.text + server.output).not.toContain(KEY);
    });

    it('answer 503 while the model server refuses, stay ready, and never show the key [6.2e, 6.4b, 6.4f]', async () => {
      models.behave({ kind: 'raw', status: 401, contentType: 'application/json', body: '{}' });
      const refused = await api.post('/cortex/openai/complete', { prompt: 'x' });
      expect([refused.status, codeOf(refused)]).toEqual([503, 'CORTEX_UNAVAILABLE']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      const state = (await init('openai', { default: true })).body as { state: string };
      expect(state.state).toContain('ANIMA_CORTEX_KEY');
      await expect.poll(async () => (await api.get('/readyz')).status, { timeout: 30_000 }).toBe(200);
      const ready = await api.get('/readyz');
      expect(ready.body).toMatchObject({ dependencies: { cortex: { ok: false, needed: false, detail: state.state } } });
      expect((await api.post('/cortex/scripted/complete', { prompt: 'x' })).status).toBe(200);
      expect(refused.text + ready.text + server.output).not.toContain(KEY);
    });
  });
};
