import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { ModelThread } from '../../../src/adapters/embedders/model-thread.js';
import { ModelThreads } from '../../../src/adapters/embedders/model-threads.js';
import { threadEmbedder } from '../../../src/adapters/embedders/thread-embedder.js';
import { ManualClock } from '../../support/manual-clock.js';
import { followersOf } from '../../support/signal-followers.js';

const entry = new URL('../../support/fake-model-thread.mjs', import.meta.url);
const calm = { urgent: false };

describe('a model in several threads', () => {
  let shared: Int32Array;
  let threads: ModelThreads;
  let clock: ManualClock;
  /** @param failed why the first thread cannot load the model */
  const open = (failed?: string): ModelThreads => {
    const deps = { clock, log: { error: () => undefined } };
    let made = 0;
    return new ModelThreads(
      3,
      (kept) => new ModelThread(entry, { shared, failed: made++ === 0 ? failed : undefined }, { ...deps, kept }),
    );
  };
  beforeEach(() => {
    shared = new Int32Array(new SharedArrayBuffer(8));
    clock = new ManualClock();
    threads = open();
  });
  const letGo = (): void => {
    Atomics.store(shared, 1, 1);
    Atomics.notify(shared, 1);
  };
  afterEach(async () => {
    letGo();
    await threads[Symbol.asyncDispose]();
  });
  const started = (): number => Atomics.load(shared, 0);
  const lengths = async (texts: readonly string[]): Promise<readonly (number | undefined)[]> =>
    (await threads.vectorsOf(texts, calm)).map(([length]) => length);

  it('load the model before the first text when they are prepared, and report no failure [3.9a]', async () => {
    const options = { id: 'fake@1', related: 0.5, windowBytes: 750 };
    threadEmbedder(threads, options).prepare?.();
    await expect.poll(started).toBe(3);
    letGo();
    await using broken = new ModelThreads(1, (kept) => {
      const deps = { clock, log: { error: () => undefined }, kept };
      return new ModelThread(entry, { shared, failed: 'no such file' }, deps);
    });
    const embedder = threadEmbedder(broken, options);
    embedder.prepare?.();
    await expect(embedder.embed(['Well?'], calm)).rejects.toThrow();
  });

  it('reports the number of its threads', () => {
    expect(threadEmbedder(threads, { id: 'fake@1', related: 0.5, windowBytes: 750 }).threads).toBe(3);
  });

  it('returns the vectors in the order of the texts, and starts at most as many threads as texts', async () => {
    expect(await lengths([])).toEqual([]);
    expect(started()).toBe(0);
    expect(await lengths(['a', 'bb'])).toEqual([1, 2]);
    expect(started()).toBe(2);
    expect(await lengths(['a', 'bb', 'ccc', 'dddd', 'eeeee', 'ffffff', 'ggggggg'])).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(started()).toBe(3);
  });

  it('gives a call to an idle thread', async () => {
    const waiting = threads.vectorsOf(['wait'], calm);
    expect(await lengths(['bb'])).toEqual([2]);
    expect(await lengths(['ccc'])).toEqual([3]);
    letGo();
    await waiting;
  });

  it('continues with the others when one thread cannot load the model, and retries that thread after a pause', async () => {
    await using some = open('no memory');
    const unavailable = { code: 'EMBEDDER_UNAVAILABLE' };
    await expect(some.vectorsOf(['a'], calm)).rejects.toMatchObject(unavailable);
    expect(await some.vectorsOf(['a'], calm)).toHaveLength(1);
    expect(await some.vectorsOf(['a', 'bb', 'ccc', 'dddd'], calm)).toHaveLength(4);
    expect(started()).toBe(3);
    await clock.advance(10_000);
    await expect(some.vectorsOf(['a'], calm)).rejects.toMatchObject(unavailable);
    expect(started()).toBe(4);
  });

  it('leaves no listeners on the signal of its caller', async () => {
    const { signal } = new AbortController();
    await threads.vectorsOf(['a', 'bb'], { ...calm, signal });
    await expect(threads.vectorsOf(['a', 'fail'], { ...calm, signal })).rejects.toThrow();
    expect(followersOf(signal)).toBe(0);
  });

  it('ends the entire call when one thread refuses, and with the reason of its signal', async () => {
    await expect(threads.vectorsOf(['a', 'wait', 'fail'], calm)).rejects.toMatchObject({
      code: 'EMBEDDER_UNAVAILABLE',
    });
    const leaving = new AbortController();
    const left = threads.vectorsOf(['wait', 'wait', 'wait'], { ...calm, signal: leaving.signal });
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
  });
});
