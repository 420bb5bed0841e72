import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { resumedVectors, ModelThread } from '../../../src/adapters/embedders/model-thread.js';
import { TextRefused } from '../../../src/ports/embedder.js';
import { ManualClock } from '../../support/manual-clock.js';
import { settle } from '../../support/settle.js';

const entry = new URL('../../support/fake-model-thread.mjs', import.meta.url);
const calm = { urgent: false };
const unavailable = { code: 'EMBEDDER_UNAVAILABLE' };

describe('a model in a thread', () => {
  let shared: Int32Array;
  let clock: ManualClock;
  let thread: ModelThread;
  let errors: object[];

  const open = (failed?: string): ModelThread =>
    new ModelThread(
      entry,
      { failed, shared },
      { clock, kept: resumedVectors(), log: { error: (fields) => void errors.push(fields) } },
    );
  const letGo = (): void => {
    Atomics.store(shared, 1, 1);
    Atomics.notify(shared, 1);
  };
  const started = (): number => Atomics.load(shared, 0);

  beforeEach(() => {
    shared = new Int32Array(new SharedArrayBuffer(8));
    clock = new ManualClock();
    errors = [];
    thread = open();
  });
  afterEach(async () => {
    letGo();
    await thread[Symbol.asyncDispose]();
  });

  it('starts on the first call, and only once', async () => {
    expect(started()).toBe(0);
    expect(await thread.vectorsOf(['a', 'bc'], calm)).toEqual([Float32Array.of(1, 1), Float32Array.of(2, 1)]);
    expect(await thread.vectorsOf([], calm)).toEqual([]);
    expect(await thread.vectorsOf(['d'], calm)).toEqual([Float32Array.of(1, 1)]);
    expect(started()).toBe(1);
  });

  it('runs an urgent call before the waiting texts of other calls', async () => {
    const ended: string[] = [];
    const call = async (name: string, texts: readonly string[], urgent: boolean): Promise<void> => {
      await thread.vectorsOf(texts, { urgent });
      ended.push(name);
    };
    const calls = [
      call('first', ['wait', 'b', 'c'], false),
      call('second', ['d'], false),
      call('urgent', ['e', 'f'], true),
    ];
    letGo();
    await Promise.all(calls);
    expect(ended).toEqual(['urgent', 'first', 'second']);
  });

  it('runs one text of other calls after every fourth urgent one, so that they end too', async () => {
    const ended: string[] = [];
    const call = async (name: string, texts: readonly string[], urgent: boolean): Promise<void> => {
      await thread.vectorsOf(texts, { urgent });
      ended.push(name);
    };
    const calls = [call('calm', ['wait', 'b', 'c'], false), call('urgent', [...'defghijkl'], true)];
    letGo();
    await Promise.all(calls);
    expect(ended).toEqual(['calm', 'urgent']);
  });

  it('reuses the vectors that it made for a cancelled call', async () => {
    const abort = new AbortController();
    const given = thread.vectorsOf(['abc', 'wait'], { urgent: true, signal: abort.signal });
    const refused = expect(given).rejects.toThrow('gone');
    await expect.poll(started).toBe(1);
    await expect.poll(() => thread.waitingTexts).toBe(1);
    abort.abort(new Error('gone'));
    await refused;
    letGo();
    await thread.vectorsOf(['die once'], calm);
    // The second number identifies the thread that made the vector.
    expect(await thread.vectorsOf(['abc', 'wait', 'b'], calm)).toEqual([
      Float32Array.of(3, 1),
      Float32Array.of(4, 1),
      Float32Array.of(1, 2),
    ]);
  });

  it('runs the urgent call with the least work left first, even while a longer one runs', async () => {
    const ended: string[] = [];
    const call = async (name: string, texts: readonly string[]): Promise<void> => {
      await thread.vectorsOf(texts, { urgent: true });
      ended.push(name);
    };
    const calls = [call('long', ['wait', 'b', 'c', 'd', 'e']), call('short', ['f', 'g']), call('one', ['h'])];
    letGo();
    await Promise.all(calls);
    expect(ended).toEqual(['one', 'short', 'long']);
  });

  it('refuses an urgent call that has waited for ten seconds, and no other', async () => {
    const long = thread.vectorsOf(['a', 'b', 'wait'], { urgent: true }).catch((error: unknown) => error);
    await thread.vectorsOf(['d'], { urgent: true });
    const calmly = thread.vectorsOf(['c'], calm);
    await clock.advance(10_000);
    expect(await long).toMatchObject({ code: 'BUSY', retryAfter: 1 });
    letGo();
    expect(await calmly).toEqual([Float32Array.of(1, 1)]);
  });

  it('reports a thread that has never answered as unavailable, not as busy', async () => {
    const calls = [['wait', 'b'], ['c']].map((texts) =>
      thread.vectorsOf(texts, { urgent: true }).catch((error: unknown) => error),
    );
    await clock.advance(10_000);
    for (const call of calls) expect(await call).toMatchObject({ code: 'EMBEDDER_UNAVAILABLE', retryAfter: 1 });
  });

  it('restarts when it ends, and retries the text once', async () => {
    expect(await thread.vectorsOf(['a', 'die once', 'b'], calm)).toEqual([
      Float32Array.of(1, 1),
      Float32Array.of(8, 2),
      Float32Array.of(1, 2),
    ]);
    expect(errors).toHaveLength(1);
  });

  it.each(['die', 'throw'])('drops a text on which it ends twice, and serves the next call (%s)', async (text) => {
    const failing = thread.vectorsOf(['a', text], calm);
    const next = thread.vectorsOf(['abc'], calm);
    await expect(failing).rejects.toMatchObject(unavailable);
    await expect(failing).rejects.toBeInstanceOf(TextRefused);
    expect(await next).toEqual([Float32Array.of(3, 3)]);
  });

  it('counts as hung after a minute, and is restarted', async () => {
    const failing = thread.vectorsOf(['hang'], calm);
    const given = expect(failing).rejects.toMatchObject(unavailable);
    await clock.advance(59_999);
    expect(errors).toHaveLength(0);
    await clock.advance(1);
    await clock.advance(60_000);
    await given;
    await expect(failing).rejects.not.toBeInstanceOf(TextRefused);
    expect(await thread.vectorsOf(['ab'], calm)).toEqual([Float32Array.of(2, started())]);
  });

  it('refuses a call with a text that the model rejects, and continues', async () => {
    const failing = thread.vectorsOf(['fail'], calm);
    await expect(failing).rejects.toMatchObject(unavailable);
    await expect(failing).rejects.toBeInstanceOf(TextRefused);
    expect(errors).toEqual([{ reason: 'no vector' }]);
    expect(await thread.vectorsOf(['a'], calm)).toEqual([Float32Array.of(1, 1)]);
  });

  it('refuses all calls when the model cannot be loaded, logs why, and retries with the next call', async () => {
    await using broken = open('the weights are gone');
    const calls = [broken.vectorsOf(['a'], calm), broken.vectorsOf(['b'], { urgent: true })];
    for (const call of calls) await expect(call).rejects.toMatchObject(unavailable);
    expect(errors).toEqual([{ reason: 'the weights are gone' }]);
    await expect(broken.vectorsOf(['c'], calm)).rejects.toMatchObject(unavailable);
    expect(started()).toBe(2);
  });

  it('ends a waiting or running call with the reason of its signal', async () => {
    const abort = new AbortController();
    const running = thread.vectorsOf(['wait', 'b'], { ...calm, signal: abort.signal });
    const waiting = thread.vectorsOf(['c'], { ...calm, signal: abort.signal });
    const other = thread.vectorsOf(['de'], calm);
    abort.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    await expect(waiting).rejects.toThrow('enough');
    letGo();
    expect(await other).toEqual([Float32Array.of(2, 1)]);
  });

  it('refuses calls beyond the queue limit', async () => {
    const calls = Array.from({ length: 257 }, (_, n) => thread.vectorsOf([n === 0 ? 'wait' : 'a'], calm));
    await expect(calls.pop()).rejects.toMatchObject({ code: 'BUSY' });
    letGo();
    await Promise.all(calls);
  });

  it('refuses waiting calls on disposal', async () => {
    const calls = [thread.vectorsOf(['wait'], calm), thread.vectorsOf(['a'], calm)];
    await settle(2);
    const refused = Promise.all(calls.map((call) => expect(call).rejects.toMatchObject(unavailable)));
    letGo();
    await thread[Symbol.asyncDispose]();
    await refused;
    expect(errors).toEqual([]);
  });
});
