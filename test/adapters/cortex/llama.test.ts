import { availableParallelism } from 'node:os';

import { describe, expect, it } from 'vitest';

import { openLlamaEngine, MAX_WAITING, threadsFor } from '../../../src/adapters/cortex/llama.js';
import { type LlamaHistory, type LlamaPackage, loadLlamaPackage } from '../../../src/adapters/cortex/llama-package.js';
import { buildPrompt } from '../../../src/features/turns/domain/decision/prompt.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import { StartProblem } from '../../../src/kernel/base/start-problem.js';
import { cortexEngineContract, SECRET } from '../../contracts/cortex-engine.js';
import { rememberingLog } from '../../support/http.js';
import { QuickClock } from '../../support/quick-clock.js';
import { anInput, aRuleset } from '../../support/rules.js';
import { settle } from '../../support/settle.js';
import { followersOf } from '../../support/signal-followers.js';

type Prompted = { readonly before: LlamaHistory; readonly user: string; readonly options: JsonObject };
type Mode = 'answer' | 'fail' | 'hang';

/** A fake of the part of the package that the engine uses, with a model that always answers the same. */
const fakePackage = (opening: 'opens' | 'fails' = 'opens') => {
  const asked: JsonObject[] = [];
  const prompted: Prompted[] = [];
  const done: string[] = [];
  let mode: Mode = 'answer';
  let running = 0;
  const tokenMeter = { usedInputTokens: 0, usedOutputTokens: 0 };
  const sequence = {
    tokenMeter,
    clearHistory: async () => {
      done.push('cleared');
    },
  };
  const load = (): Promise<LlamaPackage> =>
    Promise.resolve({
      getLlama: async ({ maxThreads }) => ({
        loadModel: async () => {
          if (opening === 'fails') throw new Error('not a GGUF file');
          return {
            // The fake model was trained for 2,048 tokens, and counts each word as one token.
            createContext: async ({ contextSize: { max } }) => {
              asked.push({ maxThreads, max });
              return { contextSize: Math.min(max, 2_048), getSequence: () => sequence };
            },
            tokenize: (text) => text.split(' '),
          };
        },
        createGrammarForJsonSchema: async (schema) => {
          if (schema['refused'] === true) throw new Error('a schema that is refused');
          return { grammarOf: schema };
        },
        dispose: async () => {
          done.push('disposed');
        },
      }),
      LlamaChatSession: class {
        #before: LlamaHistory = [{ type: 'system', text: 'You are a helpful assistant of this package.' }];
        setChatHistory(history: LlamaHistory): void {
          this.#before = history;
        }
        async prompt(user: string, { signal, ...options }: { readonly signal: AbortSignal }): Promise<string> {
          if (running > 0) throw new Error('two at once');
          running += 1;
          prompted.push({ before: this.#before, user, options: options });
          try {
            await settle(1);
            if (mode === 'fail') throw new Error(`no room for ${user}`);
            if (mode === 'hang') {
              await new Promise((_, reject) => {
                signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
                if (signal.aborted) reject(signal.reason as Error);
              });
            }
            tokenMeter.usedInputTokens += 7;
            tokenMeter.usedOutputTokens += 3;
            return 'Well met, stranger.';
          } finally {
            running -= 1;
          }
        }
        dispose(): void {
          done.push('ended');
        }
      },
    });
  return { load, asked, prompted, done, become: (next: Mode) => void (mode = next) };
};

const openEngine = async (fake = fakePackage(), settings: { threads?: number; contextTokens?: number } = {}) => {
  const clock = new QuickClock();
  const log = rememberingLog();
  const file = `/models/gemma3-270m-${SECRET}.Q4.gguf`;
  const engine = await openLlamaEngine({ file, ...settings }, { clock, log }, fake.load);
  return { fake, clock, log, engine };
};

cortexEngineContract('the in-process model', async () => {
  const { fake, engine } = await openEngine();
  await settle(4);
  return {
    engine,
    fail: () => fake.become('fail'),
    hang: () => fake.become('hang'),
    dispose: async () => engine[Symbol.asyncDispose](),
  };
});

describe('the in-process engine', () => {
  const never = new AbortController().signal;

  it('gives the model the messages of a prompt, and returns the tokens used by this call [6.2c, 6.3i, 6.4a]', async () => {
    const { fake, engine } = await openEngine();
    const { prompt, ctxMessages } = buildPrompt(anInput({ ruleset: aRuleset([], 'ChatML') }));
    await engine.complete({ prompt: 'Hello.' }, never);
    const { stats } = await engine.complete(
      { prompt, maxTokens: 9, temperature: 0, stop: ['x'], jsonSchema: { type: 'object' } },
      never,
    );
    expect(stats).toEqual({ promptTokens: 7, completionTokens: 3, ms: 0 });
    expect(fake.prompted).toEqual([
      { before: [], user: 'Hello.', options: { maxTokens: 512 } },
      {
        before: [{ type: 'system', text: ctxMessages?.[0]?.content }],
        user: ctxMessages?.[1]?.content,
        options: {
          maxTokens: 9,
          temperature: 0,
          customStopTriggers: ['x'],
          grammar: { grammarOf: { type: 'object' } },
        },
      },
    ]);
    expect(fake.done).toEqual(['ended', 'cleared', 'ended', 'cleared']);
    expect([engine.parameters, engine.runtime]).toEqual([270, 'llama.cpp']);
  });

  it('gives the model a conversation as messages, and no system message of the package [13.4f]', async () => {
    const { fake, engine } = await openEngine();
    await engine.complete(
      {
        prompt: 'the same in one text',
        messages: [
          { role: 'system', content: 'You keep an inn.' },
          { role: 'user', content: '"Good evening."' },
          { role: 'assistant', content: '{"dialogue":"Come in."}' },
          { role: 'user', content: '"What did you just say?"' },
        ],
      },
      never,
    );
    expect(fake.prompted).toMatchObject([
      {
        before: [
          { type: 'system', text: 'You keep an inn.' },
          { type: 'user', text: '"Good evening."' },
          { type: 'model', response: ['{"dialogue":"Come in."}'] },
        ],
        user: '"What did you just say?"',
      },
    ]);
  });

  it('leaves no listeners on the signal of its caller', async () => {
    const { fake, engine } = await openEngine();
    const { signal } = new AbortController();
    await engine.complete({ prompt: 'Hello.' }, signal);
    fake.become('fail');
    await expect(engine.complete({ prompt: 'Hello.' }, signal)).rejects.toThrow();
    expect(followersOf(signal)).toBe(0);
  });

  it('uses the configured threads and tokens, and by default at most half of the cores', async () => {
    const { fake, engine } = await openEngine(fakePackage(), { threads: 3, contextTokens: 1_000 });
    await engine.complete({ prompt: 'Hello.' }, never);
    expect(fake.asked).toEqual([{ maxThreads: 3, max: 1_000 }]);
    expect(engine.knownContext?.()).toBe(1_000);
    expect([1, 2, 3, 4, 8, 64].map(threadsFor)).toEqual([1, 1, 1, 2, 4, 8]);
    const unset = await openEngine();
    await unset.engine.complete({ prompt: 'Hello.' }, never);
    expect(unset.fake.asked).toEqual([{ maxThreads: threadsFor(availableParallelism()), max: 16_384 }]);
  });

  it('refuses a prompt that exceeds the context, names the setting, and accepts the next prompt', async () => {
    const { fake, engine } = await openEngine(fakePackage(), { contextTokens: 1_000 });
    const refused = engine.complete({ prompt: 'so '.repeat(1_000).trim() }, never);
    await expect(refused).rejects.toMatchObject({
      code: 'CORTEX_NO_ANSWER',
      contextTokens: 1_000,
      details: { cortexId: 'llama', reason: expect.stringMatching(/1072 tokens.* 1000 .*ANIMA_CORTEX_CONTEXT_TOKENS/) },
    });
    expect(engine.state()).toBe('ready');
    await engine.complete({ prompt: 'so '.repeat(800).trim() }, never);
    expect(fake.prompted.map(({ options }) => options['maxTokens'])).toEqual([128]);
  });

  it('omits a schema that the model cannot be constrained to', async () => {
    const { fake, engine } = await openEngine();
    const strange: readonly JsonObject[] = [
      {},
      { anyOf: [{ type: 'string' }] },
      { type: 'object', properties: { mood: { anyOf: [{ type: 'string' }] } } },
      { type: 'array', items: { type: 'strange' } },
      { type: 'object', additionalProperties: false, refused: true },
    ];
    for (const jsonSchema of strange) await engine.complete({ prompt: 'Hello.', jsonSchema }, never);
    expect(fake.prompted.map(({ options }) => options)).toEqual(strange.map(() => ({ maxTokens: 512 })));
    const known: JsonObject = { type: 'object', properties: { mood: { enum: ['calm'] }, age: { type: ['integer'] } } };
    await engine.complete({ prompt: 'Hello.', jsonSchema: known }, never);
    expect(fake.prompted.at(-1)?.options).toEqual({ maxTokens: 512, grammar: { grammarOf: known } });
  });

  it('completes prompts one at a time, and bounds the number of waiting ones', async () => {
    const { fake, engine } = await openEngine();
    fake.become('hang');
    const caller = new AbortController();
    const calls = Array.from({ length: MAX_WAITING + 1 }, (_, n) =>
      engine.complete({ prompt: String(n) }, caller.signal),
    );
    const settled = Promise.allSettled(calls);
    await expect(engine.complete({ prompt: 'one too many' }, never)).rejects.toMatchObject({
      code: 'CORTEX_UNAVAILABLE',
      details: { reason: 'Too many completions are already waiting.' },
    });
    await settle(8);
    expect(fake.prompted.map(({ user }) => user)).toEqual(['0']);
    caller.abort(new Error('gone'));
    await settled;
    fake.become('answer');
    expect((await engine.complete({ prompt: 'next' }, never)).text).toBe('Well met, stranger.');
    expect(fake.prompted.map(({ user }) => user)).toEqual(['0', 'next']);
  });

  it('gives up when its time limit has passed', async () => {
    const { fake, engine, clock } = await openEngine();
    fake.become('hang');
    const call = engine.complete({ prompt: 'Hello.' }, never).catch((error: unknown) => error);
    await settle(8);
    clock.runOut();
    expect(await call).toMatchObject({
      code: 'CORTEX_UNAVAILABLE',
      details: { reason: expect.stringMatching(/in time/) },
    });
  });

  it('refuses calls while the model is loading, and logs a file that is not a model', async () => {
    const { engine, log } = await openEngine(fakePackage('fails'));
    expect(engine.state()).toBe('The model is still loading.');
    await expect(engine.complete({ prompt: 'Hello.' }, never)).rejects.toMatchObject({ code: 'CORTEX_UNAVAILABLE' });
    expect(engine.state()).toMatch(/ANIMA_CORTEX_GGUF/);
    await expect(engine.complete({ prompt: 'Hello.' }, never)).rejects.toMatchObject({ code: 'CORTEX_UNAVAILABLE' });
    expect(log.lines).toMatchObject([{ level: 'error', message: 'Cannot load the model' }]);
  });

  it('does not count as down while the model is loading, and with a broken file only for a while after a failed call', async () => {
    const { engine, clock } = await openEngine(fakePackage('fails'));
    expect(engine.down()).toBeNull();
    await settle(8);
    expect([engine.state(), engine.down()]).toEqual([expect.stringMatching(/ANIMA_CORTEX_GGUF/), null]);
    for (let calls = 1; calls <= 2; calls += 1) {
      await expect(engine.complete({ prompt: 'Hello.' }, never)).rejects.toMatchObject({ code: 'CORTEX_UNAVAILABLE' });
      clock.pass(4_999);
      expect(engine.down()).toMatch(/ANIMA_CORTEX_GGUF/);
      clock.pass(1);
      expect(engine.down()).toBeNull();
    }
  });

  it('cancels running calls and frees the model when it is closed', async () => {
    const { fake, engine } = await openEngine();
    fake.become('hang');
    const call = engine.complete({ prompt: 'Hello.' }, never).catch((error: unknown) => error);
    await settle(8);
    await engine[Symbol.asyncDispose]();
    expect(await call).toMatchObject({ code: 'CORTEX_UNAVAILABLE' });
    expect(fake.done).toEqual(['ended', 'cleared', 'disposed']);
  });

  it('names the package to install when it is missing', async () => {
    const problem: unknown = await loadLlamaPackage('a-package-that-nobody-has').catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(StartProblem);
    expect((problem as Error).message).toMatch(/npm install --no-save node-llama-cpp/);
  });
});
