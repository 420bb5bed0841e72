import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { OPEN_MS } from '../../../src/adapters/cortex/breaker.js';
import { createOpenAiEngine } from '../../../src/adapters/cortex/openai.js';
import { buildPrompt } from '../../../src/features/turns/domain/decision/prompt.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import type { CortexEngine } from '../../../src/ports/cortex.js';
import { PromptTooLong } from '../../../src/ports/prompt-too-long.js';
import { cortexEngineContract, SECRET } from '../../contracts/cortex-engine.js';
import { rememberingLog } from '../../support/http.js';
import { type Behaviour, type OpenAiServer, startOpenAiServer } from '../../support/openai-server.js';
import { QuickClock } from '../../support/quick-clock.js';
import { anInput, aRuleset } from '../../support/rules.js';
import { seededRandom } from '../../support/seeded-random.js';

const status = (code: number, headers: Readonly<Record<string, string>> = {}): Behaviour => ({
  kind: 'raw',
  status: code,
  contentType: 'application/json',
  body: JSON.stringify({ error: { message: `you sent ${SECRET}` } }),
  headers,
});
const raw = (body: string): Behaviour => ({ kind: 'raw', status: 200, contentType: 'application/json', body });
const cut: Behaviour = { kind: 'half' };
const well: Behaviour = { kind: 'answer', text: 'Well met, stranger.' };

const openEngine = (url: string) => {
  const clock = new QuickClock();
  const log = rememberingLog();
  const server = { url, model: 'tiny-270m-instruct', key: SECRET };
  return { clock, log, engine: createOpenAiEngine(server, { clock, log, random: seededRandom('jitter') }) };
};

cortexEngineContract('a model server', async () => {
  const server = await startOpenAiServer();
  server.behave(well);
  return {
    engine: openEngine(server.url).engine,
    fail: () => server.behave(status(401)),
    hang: () => server.behave({ kind: 'trickle' }),
    dispose: async () => server[Symbol.asyncDispose](),
  };
});

describe('the engine of a model server', () => {
  let server: OpenAiServer;
  let engine: CortexEngine;
  let clock: QuickClock;
  let log: ReturnType<typeof rememberingLog>;
  const never = new AbortController().signal;
  const ask = (prompt = 'Hello.', more: object = {}) => engine.complete({ prompt, ...more }, never);
  const refusal = async (call: Promise<unknown>): Promise<Rejection> => {
    const error: unknown = await call.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Rejection);
    return error as Rejection;
  };
  const bodies = () => server.seen.map(({ body }) => body as Record<string, unknown>);

  beforeEach(async () => {
    server = await startOpenAiServer();
    server.behave(well);
    ({ engine, clock, log } = openEngine(server.url));
  });
  afterEach(() => server[Symbol.asyncDispose]());

  it('sends the key, the model and the options, and returns the tokens used [6.3i, 6.4a]', async () => {
    server.behave(
      raw(
        JSON.stringify({
          choices: [{ message: { content: 'Well met.' } }],
          usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
        }),
      ),
    );
    const { stats } = await ask('Hello.', { maxTokens: 9, temperature: 0.25, stop: ['a', 'b', 'c', 'd', 'e'] });
    expect(stats).toEqual({ promptTokens: 12, completionTokens: 3, ms: 0 });
    expect(server.seen).toEqual([
      {
        path: '/v1/chat/completions',
        authorization: `Bearer ${SECRET}`,
        body: {
          model: 'tiny-270m-instruct',
          messages: [{ role: 'user', content: 'Hello.' }],
          max_tokens: 9,
          temperature: 0.25,
          stop: ['a', 'b', 'c', 'd'],
          stream: false,
        },
      },
    ]);
    expect(engine.parameters).toBe(270);
  });

  describe('asked to report its text while it writes', () => {
    const pieces = ['Well', ' met.', ''].map(
      (content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`,
    );
    const stream = (body: string): Behaviour => ({ kind: 'raw', status: 200, contentType: 'text/event-stream', body });
    const askAloud = async () => {
      const texts: string[] = [];
      const { text } = await ask('Hello.', { onText: (written: string) => texts.push(written) });
      return { text, texts };
    };

    it('asks the server to stream, and reports all so far [7.4f]', async () => {
      server.behave(stream(`${pieces.join('')}data: [DONE]\n\n`));
      const { text, texts } = await askAloud();
      expect(text).toBe('Well met.');
      expect(texts.at(-1)).toBe('Well met.');
      expect(bodies()[0]).toMatchObject({ stream: true });
    });

    it('takes an answer in one piece as well [7.4f]', async () => {
      expect(await askAloud()).toMatchObject({ texts: [] });
    });

    it('fails as without a stream if a line is broken, and reports nothing after it', async () => {
      server.behave(stream(`${pieces[0]}data: {\n\n${pieces[1]}`));
      const { code } = await refusal(engine.complete({ prompt: 'Hello.', once: true, onText: () => undefined }, never));
      expect(code).toBe('CORTEX_NO_ANSWER');
    });
  });

  it('sends a prompt in a chat template as the messages it was rendered from', async () => {
    const { prompt, ctxMessages } = buildPrompt(anInput({ ruleset: aRuleset([], 'ChatML') }));
    await ask(prompt);
    expect(bodies()[0]).toMatchObject({ messages: ctxMessages });
  });

  it('sends a conversation as its messages [13.4f]', async () => {
    const conversation = [{ turnId: 't1', heard: 'Hello.', answered: { dialogue: 'Good day.' } }];
    const { prompt, chat } = buildPrompt(anInput({ conversation }));
    await ask(prompt, { messages: chat });
    expect(bodies()[0]).toMatchObject({ messages: chat });
    expect(chat.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  });

  it('constrains the model to a schema, and remembers a server that does not support schemas', async () => {
    const jsonSchema = { type: 'object' };
    await ask('Hello.', { jsonSchema });
    server.behave(status(400), well);
    await ask('Hello.', { jsonSchema });
    await ask('Hello.', { jsonSchema });
    const format = { type: 'json_schema', json_schema: { name: 'answer', schema: jsonSchema } };
    expect(bodies().map((body) => body['response_format'])).toEqual([format, format, undefined, undefined]);
  });

  it('reads a character that the model was cut off in as U+FFFD', async () => {
    const body =
      '{"choices":[{"message":{"role":"assistant","content":"The mill burned down \\ud83d"},"finish_reason":"length"}]}';
    server.behave({ kind: 'raw', status: 200, contentType: 'application/json', body });
    expect((await engine.complete({ prompt: 'What happened?' }, new AbortController().signal)).text).toBe(
      'The mill burned down \ufffd',
    );
  });

  it('returns the text of a refusal by the model', async () => {
    server.behave(raw('{"choices": [{"message": {"content": null, "refusal": "I cannot help with that."}}]}'));
    expect((await ask()).text).toBe('I cannot help with that.');
    expect(server.seen).toHaveLength(1);
  });

  const refusing = (error: unknown, code = 400): Behaviour => ({
    ...status(code),
    ...{ body: JSON.stringify(error) },
  });
  const unsupported = (member: string): Behaviour =>
    refusing({
      error: { message: `Unsupported parameter: '${member}' ${SECRET}`, param: member, code: 'unsupported_parameter' },
    });
  const full = { maxTokens: 9, temperature: 0.25, stop: ['\n'], jsonSchema: { type: 'object' } };
  const names = () => bodies().map((body) => Object.keys(body).join(' '));
  const learnt = () => log.lines.filter(({ message }) => message.startsWith('The model server refuses a member'));

  it.each([
    ['max_tokens', 'model messages max_completion_tokens temperature stop response_format stream'],
    ['temperature', 'model messages max_tokens stop response_format stream'],
    ['stop', 'model messages max_tokens temperature response_format stream'],
    ['response_format', 'model messages max_tokens temperature stop stream'],
  ])(
    'sends requests without a member that the server refuses, and remembers it: %s [6.6a, 6.6b]',
    async (member, mended) => {
      server.behave(unsupported(member), well);
      expect((await ask('Hello.', full)).text).toBe('Well met, stranger.');
      await ask('Hello again.', full);
      expect(names().slice(1)).toEqual([mended, mended]);
      expect(learnt()).toHaveLength(1);
      expect(JSON.stringify(log.lines)).not.toContain(SECRET);
      expect(clock.pauses).toEqual([]);
    },
  );

  it('sends requests without all the members that the server refuses one after another [6.6a]', async () => {
    server.behave(unsupported('max_tokens'), unsupported('temperature'), unsupported('stop'), well);
    await ask('Hello.', full);
    await ask('Hello.', full);
    expect(names().slice(3)).toEqual(Array(2).fill('model messages max_completion_tokens response_format stream'));
  });

  it.each([
    ['a detail', { detail: [{ loc: ['body', 'temperature'], msg: 'Extra inputs are not permitted', input: SECRET }] }],
    ['a text', { error: 'temperature is not supported; use stop instead' }],
    ['a message', { object: 'error', message: 'Unrecognized request argument: temperature' }],
  ])('finds the member that an error names in %s [6.6a]', async (_, error) => {
    server.behave(refusing(error, 422), well);
    await ask('Hello.', full);
    await ask('Hello.', { ...full, temperature: 1 });
    expect(names().slice(1)).toEqual(Array(2).fill('model messages max_tokens stop response_format stream'));
  });

  it('changes only requests with the value that was refused [6.6b]', async () => {
    const error = { message: "'temperature' does not support 2 with this model.", param: 'temperature' };
    server.behave(refusing({ error: { ...error, code: 'unsupported_value' } }), well);
    await ask('Hello.', { temperature: 2 });
    await ask('Hello.', { temperature: 1 });
    await ask('Hello.', { temperature: 2 });
    expect(bodies().map((body) => body['temperature'])).toEqual([2, undefined, 1, undefined]);
  });

  it('sends the system message as the beginning of the user message where the model has none [6.6a, 6.6b]', async () => {
    const { prompt, ctxMessages } = buildPrompt(anInput({ ruleset: aRuleset([], 'ChatML') }));
    server.behave(refusing({ error: { message: 'System role not supported' } }), well);
    await ask(prompt);
    await ask(prompt);
    const content = ctxMessages?.map((message) => message.content).join('\n\n');
    expect(bodies().map(({ messages }) => messages)).toEqual([
      ctxMessages,
      [{ role: 'user', content }],
      [{ role: 'user', content }],
    ]);
  });

  it('learns nothing from requests that fail without the member as well [6.6c]', async () => {
    server.behave(unsupported('temperature'), status(400), well);
    expect((await refusal(ask('Hello.', { temperature: 1 }))).details['reason']).toMatch(
      /refuses the request: HTTP 400/,
    );
    await ask('Hello.', { temperature: 1 });
    expect(bodies().map((body) => body['temperature'])).toEqual([1, undefined, 1]);
    expect(learnt()).toEqual([]);
  });

  it('gives a request up that is refused for its messages, or again and again [6.6c]', async () => {
    server.behave(refusing({ error: { message: 'too long', param: 'messages' } }));
    await refusal(ask());
    expect(server.seen).toHaveLength(1);
    server.behave(unsupported('max_tokens'));
    await refusal(ask('Hello.', { maxTokens: 9 }));
    expect(server.seen).toHaveLength(3);
  });

  it('adds the members of its operator to every request, and tells turns what to ask for [6.6d, 6.6e]', async () => {
    const inTurns = { maxTokens: 4_000, temperature: 0.1 };
    const settings = { url: server.url, model: 'tiny', key: null, extra: { reasoning_effort: 'low' }, inTurns };
    const own = createOpenAiEngine(settings, { clock, log, random: seededRandom('jitter') });
    await own.complete({ prompt: 'Hello.', maxTokens: 9 }, never);
    expect(bodies()).toMatchObject([{ reasoning_effort: 'low', max_tokens: 9 }]);
    expect(own.inTurns).toEqual(inTurns);
    server.behave(unsupported('reasoning_effort'), well);
    await own.complete({ prompt: 'Hello.' }, never);
    expect(names().at(-1)).toBe('model messages stream');
  });

  it('still sends other schemas after the server rejected one', async () => {
    server.behave(status(400), well);
    await ask('Hello.', { jsonSchema: { type: 'no such type' } });
    await ask('Hello.', { jsonSchema: { type: 'object' } });
    await ask('Hello.', { jsonSchema: { type: 'no such type' } });
    expect(bodies().map((body) => 'response_format' in body)).toEqual([true, false, true, false]);
  });

  it('does not conclude that a server lacks schemas from a request that fails with and without one', async () => {
    server.behave(status(400), status(400), well);
    expect((await refusal(ask('Hello.', { jsonSchema: {} }))).code).toBe('CORTEX_NO_ANSWER');
    await ask('Hello.', { jsonSchema: {} });
    expect(bodies().map((body) => 'response_format' in body)).toEqual([true, false, true]);
    expect(engine.state()).toBe('ready');
  });

  it.each([
    ['busy', status(429)],
    ['too slow for itself', status(408)],
    ['at odds with itself', status(409)],
    ['too early', status(425)],
    ['broken', status(503)],
    ['cut', cut],
    ['not answering in JSON', raw('<html>')],
    ['answering without a text', raw('{"choices": [{"message": {"content": null}}]}')],
    ['answering without choices', raw('[]')],
    ['answering too much', raw(' '.repeat(1_100_000))],
  ])('retries after a pause when the server is %s', async (_, behaviour) => {
    server.behave(behaviour, behaviour, well);
    expect((await ask()).text).toBe('Well met, stranger.');
    const [first = 0, second = 0] = clock.pauses;
    expect(clock.pauses).toHaveLength(2);
    expect(first).toBeGreaterThanOrEqual(250);
    expect(first).toBeLessThanOrEqual(500);
    expect(second).toBeGreaterThanOrEqual(500);
    expect(second).toBeLessThanOrEqual(1_000);
    expect(engine.state()).toBe('ready');
  });

  it('waits as long as the server asks, up to a few seconds', async () => {
    server.behave(status(429, { 'retry-after': '3' }), well);
    await ask();
    expect(clock.pauses).toEqual([3_000]);
    server.behave(status(429, { 'retry-after': '60' }));
    expect(await refusal(ask())).toMatchObject({ code: 'CORTEX_UNAVAILABLE', retryAfter: 60 });
    expect(clock.pauses).toEqual([3_000]);
  });

  it.each([
    [401, /ANIMA_CORTEX_KEY/],
    [402, /HTTP 402/],
    [404, /ANIMA_CORTEX_MODEL/],
    [302, /HTTP 302/],
  ])('does not retry after HTTP %i, and names what to check [6.4d]', async (code, reason) => {
    server.behave(status(code, { location: 'http://127.0.0.1:9/v1' }));
    expect((await refusal(ask())).details['reason']).toMatch(reason);
    expect(server.seen).toHaveLength(1);
    expect(engine.state()).toMatch(reason);
  });

  it.each([403, 405, 451])('does not retry after HTTP %i, and still sends other requests', async (code) => {
    server.behave(status(code), well);
    expect((await refusal(ask())).details['reason']).toContain(`HTTP ${String(code)}`);
    expect(server.seen).toHaveLength(1);
    expect((await ask('Of another tenant.')).text).toBe('Well met, stranger.');
    expect(engine.state()).toBe('ready');
  });

  it.each([400, 413, 422])(
    'does not count HTTP %i, which concerns a single prompt, against a server [6.4d]',
    async (code) => {
      server.behave(status(code));
      for (let calls = 1; calls <= 4; calls += 1) expect((await refusal(ask())).code).toBe('CORTEX_NO_ANSWER');
      expect([server.seen.length, engine.down()]).toEqual([4, null]);
    },
  );

  it('tells a prompt without an answer from a server that is down, and leaves repeats to a caller that records them [6.5d, 6.7a]', async () => {
    server.behave(raw('{"choices": [{"message": {"content": null}}]}'));
    const none = await refusal(ask('Hello.', { once: true }));
    expect([none.code, none.details['reason']]).toEqual([
      'CORTEX_NO_ANSWER',
      'The model server answers without a text.',
    ]);
    expect(server.seen).toHaveLength(1);
    expect((await refusal(ask())).code).toBe('CORTEX_NO_ANSWER');
    expect(server.seen).toHaveLength(4);
    server.behave(status(503), well);
    await ask('Hello.', { once: true });
    server.behave(status(403));
    expect((await refusal(ask())).code).toBe('CORTEX_NO_ANSWER');
    clock.pass(61_000);
    expect((await refusal(ask())).code).toBe('CORTEX_UNAVAILABLE');
  });

  it.each([405, 408, 429, 451])('counts HTTP %i as a failed attempt [6.4d]', async (code) => {
    server.behave(status(code));
    while (server.seen.length < 3) await refusal(ask());
    expect([server.seen.length, engine.down()]).toEqual([3, expect.stringContaining(`HTTP ${String(code)}`)]);
  });

  it('counts a forbidden prompt against a server only if it has answered no other prompt for a minute [6.4e]', async () => {
    await ask();
    server.behave(status(403));
    for (let calls = 1; calls <= 4; calls += 1) await refusal(ask('Moderated.'));
    expect(engine.state()).toBe('ready');
    clock.pass(60_000);
    const reason = /the key \(ANIMA_CORTEX_KEY\) .* or the prompt/;
    for (let calls = 1; calls <= 3; calls += 1) expect((await refusal(ask())).details['reason']).toMatch(reason);
    expect(engine.state()).toMatch(reason);
  });

  it('stops calling a server after three failures, tries once after a pause, and recovers [6.4b, 6.4c, 6.4d]', async () => {
    server.behave(status(500));
    expect((await refusal(ask())).details['reason']).toMatch(/HTTP 500/);
    expect(server.seen).toHaveLength(3);
    expect(engine.state()).toMatch(/HTTP 500/);
    const kept = await refusal(ask());
    expect([kept.code, kept.retryAfter]).toEqual(['CORTEX_UNAVAILABLE', OPEN_MS / 1000]);
    expect(kept.details).toEqual({ cortexId: 'openai', reason: expect.stringMatching(/HTTP 500/) as string });
    expect(server.seen).toHaveLength(3);
    clock.pass(OPEN_MS);
    await refusal(ask());
    expect(server.seen).toHaveLength(4);
    clock.pass(OPEN_MS);
    server.behave(well);
    await ask();
    expect(engine.state()).toBe('ready');
    expect(log.lines.map(({ message }) => message)).toEqual([
      'Engine is unavailable; retrying every few seconds',
      'Engine is available again',
    ]);
  });

  it('gives up at its time limit, and closes the connection', async () => {
    server.behave({ kind: 'trickle' });
    const call = refusal(ask());
    while (server.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    clock.runOut();
    expect((await call).details['reason']).toMatch(/in time/);
    await server.quiet();
  });

  it('counts a server as too slow when it does not answer within the time limit of the engine [6.4d]', async () => {
    server.behave({ kind: 'silent' });
    for (let calls = 1; calls <= 3; calls += 1) {
      const call = refusal(ask());
      while (server.seen.length < calls) await new Promise((resolve) => setTimeout(resolve, 5));
      clock.runOut();
      await call;
      await server.quiet();
    }
    expect(engine.state()).toMatch(/in time/);
  });

  it('counts a server as too slow when the time limit of its callers passes, also on a trial call', async () => {
    server.behave({ kind: 'silent' });
    const late = () => new Rejection('CORTEX_UNAVAILABLE', { retryAfter: 1 });
    const tooLate = async (calls: number): Promise<void> => {
      const caller = new AbortController();
      const call = refusal(engine.complete({ prompt: 'Hello.' }, caller.signal));
      while (server.seen.length < calls) await new Promise((resolve) => setTimeout(resolve, 5));
      caller.abort(late());
      await call;
      await server.quiet();
    };
    for (let calls = 1; calls <= 3; calls += 1) await tooLate(calls);
    expect(engine.down()).toMatch(/in time/);
    clock.pass(OPEN_MS);
    expect(engine.down()).toBeNull();
    await tooLate(4);
    expect(engine.down()).toMatch(/in time/);
  });

  it.each(['of its caller', 'of its own'])(
    'does not count a call against a server that answered others in the meantime when the time limit %s is over',
    async (whose) => {
      const silent: Behaviour = { kind: 'silent' };
      server.behave(silent, silent, silent, well);
      const callers = Array.from({ length: 3 }, () => new AbortController());
      const calls = callers.map(({ signal }) => refusal(engine.complete({ prompt: 'Hello.' }, signal)));
      while (server.seen.length < calls.length) await new Promise((resolve) => setTimeout(resolve, 5));
      clock.pass(1);
      await ask();
      if (whose === 'of its own') clock.runOut();
      else for (const caller of callers) caller.abort(new Rejection('CORTEX_UNAVAILABLE', { retryAfter: 1 }));
      await Promise.all(calls);
      expect(engine.down()).toBeNull();
    },
  );

  it('does not count calls that their callers cancelled against a server, however late [6.4e]', async () => {
    server.behave({ kind: 'silent' });
    for (let calls = 1; calls <= 4; calls += 1) {
      const caller = new AbortController();
      const call = engine.complete({ prompt: 'Hello.' }, caller.signal).catch(() => null);
      while (server.seen.length < calls) await new Promise((resolve) => setTimeout(resolve, 5));
      clock.pass(25_000);
      caller.abort(new Error('gone'));
      await call;
      await server.quiet();
    }
    expect(engine.state()).toBe('ready');
  });

  it('does not count bad answers to the same prompt against a server [6.4e]', async () => {
    server.behave(raw('{"choices": [{"message": {"content": null}}]}'));
    expect((await refusal(ask())).details['reason']).toMatch(/answers without a text/);
    expect((await refusal(ask())).details['reason']).toMatch(/answers without a text/);
    expect(engine.down()).toBeNull();
    server.behave(well);
    expect((await ask()).text).toBe('Well met, stranger.');
  });

  const errorWith = (code: number, error: object): Behaviour => ({
    ...(status(code) as Extract<Behaviour, { kind: 'raw' }>),
    body: JSON.stringify(error),
  });

  it('shows why it gives no text until it gives one, unless only one or two prompts got none [6.9a, 6.9b, 6.9d]', async () => {
    const unknown = errorWith(400, {
      error: { message: `The model ${SECRET} does not exist`, type: 'invalid_request' },
    });
    const reason = 'The model server refuses the request: HTTP 400, model not found.';
    server.behave(unknown);
    for (const prompt of ['a', 'b', 'c']) await refusal(ask(prompt));
    expect([engine.state(), engine.down()]).toEqual([reason, null]);
    expect(log.lines).toEqual([
      { level: 'warn', fields: { cortexId: 'openai', reason }, message: 'The engine is up, and gave no text' },
    ]);
    server.behave(well, unknown);
    await ask();
    expect(engine.state()).toBe('ready');
    await refusal(ask('d'));
    await refusal(ask('d'));
    await refusal(ask('e'));
    expect(engine.state()).toBe('ready');
    await refusal(ask('f'));
    expect(engine.state()).toBe(reason);
    server.behave(well, unknown);
    await ask();
    await refusal(ask());
    expect(engine.state()).toBe('ready');
    clock.pass(60_000);
    expect(engine.state()).toBe(reason);
    await refusal(ask());
    expect(log.lines).toHaveLength(2);
  });

  it('shows the last reason while it is down [6.9a]', async () => {
    server.behave(errorWith(503, { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } }));
    await refusal(ask());
    expect(engine.state()).toBe('The model server responded with HTTP 503, model still loading.');
    clock.pass(OPEN_MS);
    server.behave(status(401));
    await refusal(ask());
    expect(engine.state()).toMatch(/rejected the key/);
    expect(log.lines.map(({ fields }) => (fields as { reason: string }).reason)).toEqual([
      'The model server responded with HTTP 503, model still loading.',
      'The model server rejected the key (ANIMA_CORTEX_KEY).',
    ]);
  });

  it.each([
    [404, { error: `model "${SECRET}" not found, try pulling it first` }, 'HTTP 404, model not found'],
    [404, { object: 'error', message: 'The model `x` does not exist.', code: 404 }, 'HTTP 404, model not found'],
    [400, { error: { message: "This model's maximum context length is 4096 tokens." } }, 'prompt too long'],
    [400, { error: { message: 'request (5 tokens) exceeds', type: 'exceed_context_size_error' } }, 'prompt too long'],
    [429, { error: { code: 'insufficient_quota', message: SECRET } }, 'HTTP 429, no quota left'],
    [400, { error: { code: 'content_filter', message: SECRET } }, 'content filter'],
    [500, { error: 'model requires more system memory (5 GiB)' }, 'HTTP 500, out of memory'],
    [400, { error: { message: SECRET } }, 'refuses the request: HTTP 400.'],
    [418, SECRET, 'refuses the request: HTTP 418.'],
  ])('says what an error of HTTP %i is about, without its text: %j [6.6c, 6.9c]', async (code, error, reason) => {
    server.behave(errorWith(code, error as object));
    const refused = await refusal(ask('Hello.', { temperature: 1 }));
    expect(refused.details['reason']).toContain(reason);
    expect(JSON.stringify([refused.details, engine.state(), log.lines])).not.toContain(SECRET);
  });

  it.each([
    [400, { error: { message: "This model's maximum context length is 4096 tokens. You requested 5000." } }, 4_096],
    [400, { error: { type: 'exceed_context_size_error', message: 'exceeds', n_prompt_tokens: 900, n_ctx: 512 } }, 512],
    [413, { error: 'Too much.' }, null],
    [400, { error: { code: 'context_length_exceeded', message: 'Please reduce it.' } }, null],
    [400, { error: { message: 'Unknown word.' } }, undefined],
    [500, { error: { message: 'maximum context length is 4096 tokens' } }, undefined],
  ])(
    'knows a refusal of HTTP %i for the length of a prompt, and the context that it names [13.1e]',
    async (code, error, context) => {
      server.behave(errorWith(code, error), errorWith(code, error), errorWith(code, error));
      const refused = await refusal(ask());
      expect(refused instanceof PromptTooLong ? refused.contextTokens : undefined).toBe(context);
    },
  );

  it('knows how many tokens its model takes if the server lists that [6.10b]', async () => {
    expect(await engine.contextTokens?.(never)).toBeNull();
    for (const [model, tokens] of [
      [{ id: 'tiny-270m-instruct', max_model_len: 8_192 }, 8_192],
      [{ id: 'tiny-270m-instruct', meta: { n_ctx: 2_048 } }, 2_048],
      [{ id: 'tiny-270m-instruct', context_length: 'many' }, null],
      [{ id: 'another', max_model_len: 8_192 }, null],
    ] as const) {
      server.lists(model);
      expect(await engine.contextTokens?.(never)).toBe(tokens);
    }
  });

  it('knows without a call what its operator said of its context [13.1a]', async () => {
    expect(engine.knownContext?.()).toBeNull();
    server.lists({ id: 'tiny-270m-instruct', max_model_len: 8_192 });
    const settings = { url: server.url, model: 'tiny-270m-instruct', key: null, contextTokens: 4_096 };
    const sized = createOpenAiEngine(settings, { clock, log, random: seededRandom('jitter') });
    expect([sized.knownContext?.(), await sized.contextTokens?.(never)]).toEqual([4_096, 4_096]);
  });

  it('reports a missing server as unreachable, and logs neither its key nor a prompt [6.4d]', async () => {
    await server[Symbol.asyncDispose]();
    expect((await refusal(ask(`whisper ${SECRET}`))).details['reason']).toMatch(/is unreachable .*ECONNREFUSED/);
    expect(log.lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(log.lines)).not.toContain(SECRET);
  });

  const cutOff = (text: string, more: object = {}) =>
    raw(JSON.stringify({ choices: [{ message: { content: text, ...more }, finish_reason: 'length' }] }));
  const half = '{"dialogue": "Follow me.", "action": {"type": "MO';
  const tokens = () => bodies().map((body) => body['max_tokens']);

  it('asks once more with more room if the object was cut off [6.5e]', async () => {
    server.behave(cutOff(half), { kind: 'answer', text: '{"dialogue": "Follow me."}' });
    expect((await ask('Hello.', { maxTokens: 512 })).text).toBe('{"dialogue": "Follow me."}');
    expect(tokens()).toEqual([512, 2_048]);
    expect(clock.pauses).toEqual([]);
  });

  it.each<[string, Behaviour]>([
    ['is cut off again', cutOff(half)],
    ['is refused', status(400)],
  ])('uses what it has if the answer with more room %s [6.5e]', async (_, second) => {
    server.behave(cutOff(half), second);
    expect((await ask('Hello.', { maxTokens: 4_000 })).text).toBe(half);
    expect(tokens()).toEqual([4_000, 8_192]);
  });

  it('asks no more for plain words that were cut off, or with all the room there is [6.5e]', async () => {
    server.behave(cutOff('Once upon a time'));
    expect((await ask('Hello.', { maxTokens: 512 })).text).toBe('Once upon a time');
    server.behave(cutOff(half));
    await ask('Hello.', { maxTokens: 8_192 });
    await ask();
    expect(tokens()).toEqual([512, 8_192, undefined]);
  });

  it('asks once more with more room if all tokens went into reasoning, and then says so [6.5d, 6.5e]', async () => {
    server.behave(cutOff('', { reasoning_content: 'I lit it; hide it.' }));
    const { reason } = (await refusal(ask('Hello.', { maxTokens: 512 }))).details;
    expect(reason).toBe(
      'The model server answers without a text: the model used up its tokens for reasoning. Raise ANIMA_CORTEX_MAX_TOKENS, or let it reason less (ANIMA_CORTEX_EXTRA).',
    );
    expect(tokens()).toEqual([512, 2_048, 2_048]);
    expect(engine.problem?.()).toBe(reason);
    server.behave(well);
    await ask();
    expect(engine.problem?.()).toBeNull();
  });

  it('takes reasoning out before stop strings end the text [2.8ae, 6.5c]', async () => {
    server.behave({ kind: 'answer', text: '<think>Stop here? I lit it.</think>The mill burned down. Stop. Never.' });
    expect(await ask('Hello.', { stop: ['Stop'] })).toMatchObject({
      text: 'The mill burned down. ',
      reasoning: 'Stop here? I lit it.',
    });
  });

  it('does not end a text at a stop string within an object', async () => {
    const text = '{"dialogue":"Good day.<|im_end|>"}';
    server.behave({ kind: 'answer', text: `${text}<|im_end|>More.` });
    expect((await ask('Hello.', { stop: ['<|im_end|>'] })).text).toBe(text);
  });
});
