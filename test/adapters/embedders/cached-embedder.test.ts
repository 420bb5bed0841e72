import { describe, expect, it } from 'vitest';

import { cachedEmbedder } from '../../../src/adapters/embedders/cached-embedder.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import type { Embedder } from '../../../src/ports/embedder.js';
import { TextRefused } from '../../../src/ports/embedder.js';
import { embedderContract } from '../../contracts/embedder.js';
import { WordEmbedder } from '../../support/memory/word-embedder.js';
import { settle } from '../../support/settle.js';

embedderContract('A cached one', async () => cachedEmbedder(new WordEmbedder(), 1_000_000));

const urgent = { urgent: true };
const calm = { urgent: false };
const away = (): Rejection => new Rejection('EMBEDDER_UNAVAILABLE', { retryAfter: 1 });

type Call = { readonly texts: readonly string[]; readonly answer: () => void; readonly fail: (error: Error) => void };

/** An embedder whose calls end when the test says so. The vector of a text has its length. */
const openSlow = (maxBytes = 100_000) => {
  const calls: Call[] = [];
  const inner: Embedder = {
    id: 'lengths@1',
    embed: (texts, { signal }) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
        const answer = (): void => resolve(texts.map((text) => Float32Array.of(text.length)));
        calls.push({ texts, answer, fail: reject });
      }),
    score: (cosine) => cosine,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const embedder = cachedEmbedder(inner, maxBytes);
  const asked = (): readonly (readonly string[])[] => calls.map(({ texts }) => texts);
  return { calls, embedder, asked };
};
const lengths = (...numbers: readonly number[]): readonly Float32Array[] => numbers.map((one) => Float32Array.of(one));

describe('a cached embedder', () => {
  it('embeds a text once, and none twice in a call [3.9b]', async () => {
    const { calls, embedder, asked } = openSlow();
    const first = embedder.embed(['a', 'bb', 'a'], calm);
    calls[0]?.answer();
    expect(await first).toEqual(lengths(1, 2, 1));
    const second = embedder.embed(['bb', 'ccc'], urgent);
    calls[1]?.answer();
    expect(await second).toEqual(lengths(2, 3));
    expect(await embedder.embed(['ccc', 'a'], calm)).toEqual(lengths(3, 1));
    expect(asked()).toEqual([['a', 'bb'], ['ccc']]);
  });

  it('embeds a text once for calls at the same time [3.9b]', async () => {
    const { calls, embedder, asked } = openSlow();
    const all = [embedder.embed(['a'], urgent), embedder.embed(['a', 'bb'], urgent), embedder.embed(['bb'], calm)];
    await settle();
    for (const { answer } of calls) answer();
    expect(await Promise.all(all)).toEqual([lengths(1), lengths(1, 2), lengths(2)]);
    expect(asked()).toEqual([['a'], ['bb']]);
  });

  it('lets no urgent call wait for one that is not', async () => {
    const { calls, embedder, asked } = openSlow();
    const background = embedder.embed(['a', 'bb'], calm);
    const waiting = embedder.embed(['a'], urgent);
    calls[1]?.answer();
    expect(await waiting).toEqual(lengths(1));
    calls[0]?.answer();
    expect(await background).toEqual(lengths(1, 2));
    expect(asked()).toEqual([['a', 'bb'], ['a']]);
  });

  it('keeps no failure [3.9b]', async () => {
    const { calls, embedder, asked } = openSlow();
    const first = embedder.embed(['a'], urgent);
    calls[0]?.fail(away());
    await expect(first).rejects.toMatchObject({ code: 'EMBEDDER_UNAVAILABLE' });
    const second = embedder.embed(['a'], urgent);
    calls[1]?.answer();
    expect(await second).toEqual(lengths(1));
    expect(asked()).toEqual([['a'], ['a']]);
  });

  it('fails for all urgent calls that wait for the same failure, and tries again for others', async () => {
    const { calls, embedder, asked } = openSlow();
    const all = [urgent, urgent, calm].map((options) => embedder.embed(['a'], options));
    const outcomes = Promise.allSettled(all);
    await settle();
    calls[0]?.fail(away());
    await settle();
    expect(asked()).toEqual([['a'], ['a']]);
    calls[1]?.answer();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });

  it.each([
    ['a call that was abandoned', (leave: AbortController) => leave.abort(new Error('gone'))],
    ['a call with a text that was refused', (_: AbortController, call: Call) => call.fail(new TextRefused())],
  ])('embeds a text itself if it waited for %s', async (_, end) => {
    const { calls, embedder, asked } = openSlow();
    const leave = new AbortController();
    const first = embedder.embed(['a', 'bb'], { ...urgent, signal: leave.signal });
    const outcome = expect(first).rejects.toThrow();
    const second = embedder.embed(['bb'], urgent);
    end(leave, calls[0] as Call);
    await outcome;
    await settle();
    calls[1]?.answer();
    expect(await second).toEqual(lengths(2));
    expect(asked()).toEqual([['a', 'bb'], ['bb']]);
  });

  it('leaves a call of others when its own signal aborts', async () => {
    const { calls, embedder } = openSlow();
    const first = embedder.embed(['a'], urgent);
    const leave = new AbortController();
    const second = embedder.embed(['a'], { ...urgent, signal: leave.signal });
    await settle();
    leave.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    calls[0]?.answer();
    expect(await first).toEqual(lengths(1));
  });

  it('asks again if a caller wants to see whether the embedder works', async () => {
    const { calls, embedder } = openSlow();
    const first = embedder.embed(['a'], calm);
    calls[0]?.answer();
    await first;
    const second = embedder.embed(['a'], { ...calm, fresh: true });
    calls[1]?.fail(away());
    await expect(second).rejects.toMatchObject({ code: 'EMBEDDER_UNAVAILABLE' });
  });

  it('forgets the texts that were used least recently beyond its bytes', async () => {
    const { calls, embedder, asked } = openSlow(3 * (200 + 2 * 2 + 4));
    const texts = ['aa', 'bb', 'cc', 'dd'];
    for (const text of texts) {
      const made = embedder.embed([text], calm);
      calls.at(-1)?.answer();
      await made;
    }
    await embedder.embed(['bb', 'cc', 'dd'], calm);
    expect(asked()).toEqual(texts.map((text) => [text]));
    const again = embedder.embed(texts, calm);
    expect(asked().at(-1)).toEqual(['aa']);
    calls.at(-1)?.answer();
    expect(await again).toEqual(lengths(2, 2, 2, 2));
  });
});
