import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InferenceError, type InferenceFailure } from '../../src/body/inference.js';
import { createOpenAiInference, type OpenAiOptions } from '../../src/body/openai-inference.js';
import { startOpenAiServer, type Behaviour, type OpenAiServer } from '../support/openai-server.js';

let server: OpenAiServer;
beforeEach(async () => {
  server = await startOpenAiServer();
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
});

const inference = (more: Partial<OpenAiOptions> = {}) =>
  createOpenAiInference({ baseUrl: server.url, model: 'small', ...more });
const ask = { prompt: 'Say something.', constraints: { maxTokens: 40, temperature: 0.2 } };

const failureOf = async (call: Promise<string>): Promise<InferenceError> => {
  const outcome = await call.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(InferenceError);
  return outcome as InferenceError;
};

describe('a model behind an OpenAI-compatible URL', () => {
  it('calls the chat endpoint with the prompt, the constraints and the key, and returns the text', async () => {
    server.behave({ kind: 'answer', text: 'The gate is shut.' });
    expect(await inference({ apiKey: 'sk-test' }).complete(ask)).toBe('The gate is shut.');
    expect(server.seen).toEqual([
      {
        path: '/v1/chat/completions',
        authorization: 'Bearer sk-test',
        body: {
          model: 'small',
          messages: [{ role: 'user', content: 'Say something.' }],
          max_tokens: 40,
          temperature: 0.2,
          stream: false,
        },
      },
    ]);
  });

  it('sends the messages that the mind formatted, and no Authorization header without a key', async () => {
    const ctxMessages = [
      { role: 'system', content: 'You are a guard.' },
      { role: 'user', content: 'Open!' },
    ];
    await inference().complete({ ...ask, constraints: {}, ctxMessages });
    expect(server.seen).toMatchObject([{ authorization: undefined, body: { messages: ctxMessages } }]);
  });

  it('calls the completions endpoint if it is configured', async () => {
    server.behave({ kind: 'answer', text: 'No.' });
    expect(await inference({ endpoint: 'completions' }).complete(ask)).toBe('No.');
    expect(server.seen).toMatchObject([{ path: '/v1/completions', body: { prompt: 'Say something.' } }]);
  });

  it('returns an empty text unchanged, because a model may stay silent', async () => {
    server.behave({ kind: 'answer', text: '' });
    expect(await inference().complete(ask)).toBe('');
  });

  const raw = (status: number, contentType: string, body: string): Behaviour => ({
    kind: 'raw',
    status,
    contentType,
    body,
  });
  const broken: [title: string, behaviour: Behaviour, failure: InferenceFailure, message: RegExp][] = [
    ['a server error', raw(500, 'application/json', '{"error":"boom"}'), 'bad-status', /HTTP 500/],
    ['a redirect', raw(307, 'text/plain', ''), 'bad-status', /HTTP 307/],
    ['HTML with status 200', raw(200, 'text/html', '<html>hello</html>'), 'bad-answer', /is not JSON/],
    [
      'half a JSON that looks whole',
      raw(200, 'application/json', '{"choices":[{"message":{"content":"The ga'),
      'bad-answer',
      /is not JSON/,
    ],
    ['an empty body', raw(200, 'application/json', ''), 'bad-answer', /is not JSON/],
    ['a bare null', raw(200, 'application/json', 'null'), 'bad-answer', /contains no choice/],
    ['another shape', raw(200, 'application/json', '{"output":"hi"}'), 'bad-answer', /contains no choice/],
    ['no choices', raw(200, 'application/json', '{"choices":[]}'), 'bad-answer', /contains no choice/],
    [
      'a choice without text',
      raw(200, 'application/json', '{"choices":[{"message":{"content":null}}]}'),
      'bad-answer',
      /no text/,
    ],
    ['half a JSON and a cut connection', { kind: 'half' }, 'unreachable', /closed the connection/],
    ['a connection closed at once', { kind: 'slam' }, 'unreachable', /is unreachable/],
  ];
  it.each(broken)('fails with one clear error on %s', async (_, behaviour, failure, message) => {
    server.behave(behaviour);
    const error = await failureOf(inference({ apiKey: 'sk-secret' }).complete(ask));
    expect(error.failure).toBe(failure);
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('sk-secret');
    await server.quiet();
    expect(server.openConnections()).toBe(0);
  });

  it.each(['silent', 'slow', 'trickle'] as const)('gives up on a %s server at its timeout', async (kind) => {
    server.behave({ kind });
    const error = await failureOf(inference({ timeoutMs: 100 }).complete(ask));
    expect(error.failure).toBe('timeout');
    expect(error.message).toContain('100 ms');
    await server.quiet();
    expect(server.openConnections()).toBe(0);
  });

  it('stops when its caller cancels, and closes the connection', async () => {
    server.behave({ kind: 'silent' });
    const caller = new AbortController();
    const call = failureOf(inference().complete({ ...ask, signal: caller.signal }));
    setTimeout(() => {
      caller.abort();
    }, 50);
    expect((await call).failure).toBe('aborted');
    await server.quiet();
    expect(server.openConnections()).toBe(0);
  });

  it('is not called when its caller has already cancelled', async () => {
    const error = await failureOf(inference().complete({ ...ask, signal: AbortSignal.abort() }));
    expect(error.failure).toBe('aborted');
    expect(server.seen).toEqual([]);
  });

  it('refuses a response over its size limit without reading it to the end', async () => {
    server.behave(raw(200, 'application/json', `{"choices":[{"text":"${'x'.repeat(100_000)}"}]}`));
    const error = await failureOf(inference({ maxAnswerBytes: 10_000 }).complete(ask));
    expect(error.failure).toBe('too-large');
    await server.quiet();
  });

  it('fails with one clear error when nothing listens at the address', async () => {
    const { url } = server;
    await server[Symbol.asyncDispose]();
    const error = await failureOf(createOpenAiInference({ baseUrl: url, model: 'small' }).complete(ask));
    expect(error.failure).toBe('unreachable');
    server = await startOpenAiServer();
  });
});
