import { describe, expect, it } from 'vitest';

import { recallByWords } from '../../../src/features/ghosts/recall-by-words.js';

const memory = (text: string) => ({ text, type: 'observation', importance: 0.5 });
const memories = [
  memory('The key lies in the well.'),
  memory('The baker sells bread in the market.'),
  memory('The market opens at dawn.'),
];
const texts = (query: string, limit = 5): readonly string[] =>
  recallByWords(memories, { query, limit }).map(({ text }) => text);

describe('recall by words', () => {
  it('finds memories that share words with the query, rare words first', () => {
    expect(texts('Where is the key?')[0]).toBe('The key lies in the well.');
    expect(texts('bread market', 1)).toEqual(['The baker sells bread in the market.']);
  });

  it('prefers the newer of two equal matches, and finds nothing without a shared word', () => {
    expect(texts('market')).toEqual(['The market opens at dawn.', 'The baker sells bread in the market.']);
    expect(texts('dragon')).toEqual([]);
    expect(texts('')).toEqual([]);
  });

  it('scores a memory by the share of the query’s words that it contains, at most 1', () => {
    const [all] = recallByWords(memories, { query: 'market opens dawn', limit: 1 });
    expect(all?.similarity).toBeCloseTo(1);
    const [some] = recallByWords(memories, { query: 'market closes', limit: 1 });
    expect(some?.similarity).toBeGreaterThan(0);
    expect(some?.similarity).toBeLessThan(1);
  });
});
