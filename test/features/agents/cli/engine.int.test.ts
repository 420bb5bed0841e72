import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ServerUnderTest } from '../../../scenarios/server-under-test.js';
import { apiOf } from '../../../support/api.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { type OpenAiServer, startOpenAiServer } from '../../../support/openai-server.js';
import { typed } from '../../../cli/typed.js';

describe('anima engine test', () => {
  let models: OpenAiServer;
  let server: ServerUnderTest;
  beforeAll(async () => {
    models = await startOpenAiServer();
    server = await openEmbeddedServer({ ANIMA_CORTEX_URL: models.url, ANIMA_CORTEX_MODEL: 'tiny' });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await models[Symbol.asyncDispose]();
  });
  const test = (...words: string[]) =>
    typed(['engine', 'test', ...words], { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey } });
  it('shows whether the default engine can speak for NPCs, and records nothing [6.10e, 6.10f]', async () => {
    models.behave({
      kind: 'reply',
      to: (body) =>
        Object.hasOwn(body as object, 'response_format')
          ? '{"dialogue": "Welcome.", "form": "schema"}'
          : '<think>What do I say?</think>{"dialogue": "Three coins.", "action": {"type": "SPEAK"}}',
    });
    models.lists({ id: 'tiny', max_model_len: 8_192 });
    const { code, stdout, stderr } = await test();
    expect([code, stderr]).toEqual([0, '']);
    const [title, ...lines] = stdout.trimEnd().split('\n');
    expect(title).toBe('openai (tiny)');
    expect(lines).toEqual([
      expect.stringMatching(/^ {2}reachable +passed +The engine answers\.$/),
      expect.stringMatching(/^ {2}schema +passed +The engine obeys/),
      expect.stringMatching(/^ {2}reasoning +passed +.*NPCs do not say it\.$/),
      expect.stringMatching(/^ {2}context +passed +.*8192 tokens/),
      expect.stringMatching(/^ {2}speed +passed +/),
      expect.stringMatching(/^ {2}turn +passed +The NPC says: "Three coins\."$/),
    ]);
    const api = apiOf(server.url, server.ownerKey);
    expect((await api.get('/npcs')).body).toEqual([]);
    expect((await api.get('/search?q=coins')).body).toMatchObject({ hits: [] });
  });

  it('exits with 1 for an engine that fails, and says why [6.10f]', async () => {
    models.behave({ kind: 'answer', text: 'I am an AI language model.' });
    const { code, stdout, stderr } = await test('tiny', '--json');
    expect([code, stderr]).toEqual([1, expect.stringContaining('did not pass')]);
    const checks = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { check: string; result: string });
    expect(checks.flatMap(({ check, result }) => (result === 'failed' ? [check] : []))).toEqual(['schema', 'turn']);
    expect(await test('gpt-9')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('has this name'),
    });
  });
});
