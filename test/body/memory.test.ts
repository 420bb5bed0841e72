import { describe, expect, it } from 'vitest';
import { createWordMemory } from '../../src/body/memory.js';

const memory = (text: string, importance = 0.5) => ({ text, type: 'observation', importance });
const texts = (found: readonly { readonly text: string }[]): string[] => found.map(({ text }) => text);

describe("the body's word memory", () => {
  it('finds the texts that share the most words first, with a similarity of one for the same words', async () => {
    const store = createWordMemory();
    await store.store('a', [
      memory('The bell hangs in the tower'),
      memory('The tower bell'),
      memory('Fish for supper'),
    ]);
    const found = await store.recall('a', { query: 'tower bell', limit: 5, threshold: 0.5 });
    expect(texts(found)).toEqual(['The tower bell', 'The bell hangs in the tower']);
    expect(found[0]?.similarity).toBeCloseTo(1);
  });

  it('returns at most the limit, ties by newest, and nothing below the threshold', async () => {
    const store = createWordMemory();
    await store.store('a', [
      memory('red boat'),
      memory('blue boat'),
      memory('a boat with many other words in its long tale'),
    ]);
    expect(texts(await store.recall('a', { query: 'boat', limit: 1, threshold: 0.5 }))).toEqual(['blue boat']);
    expect(texts(await store.recall('a', { query: 'boat', limit: 9, threshold: 0.7 }))).toEqual([
      'blue boat',
      'red boat',
    ]);
  });

  it('keeps minds apart, and a repeated text once, up to its limit', async () => {
    const store = createWordMemory({ maxPerNpc: 2 });
    await store.store('a', [
      memory('one stone'),
      memory('two stones'),
      memory('two stones', 0.9),
      memory('stone three'),
    ]);
    const found = await store.recall('a', { query: 'stone stones', limit: 9, threshold: 0 });
    expect(texts(found).sort()).toEqual(['stone three', 'two stones']);
    expect(await store.recall('b', { query: 'stone', limit: 9, threshold: 0 })).toEqual([]);
  });

  it('finds nothing for a query without words', async () => {
    const store = createWordMemory();
    await store.store('a', [memory('one stone')]);
    expect(await store.recall('a', { query: ' … ', limit: 9, threshold: 0 })).toEqual([]);
  });
});
