import { describe, expect, it } from 'vitest';

import { scoreOf } from '../../../../src/features/memory/domain/score.js';

const plain = { importance: 0.5, ageMs: 0 };

describe('the score of a memory', () => {
  it('is its similarity, and shows its words', () => {
    expect(scoreOf({ ...plain, meaning: 0.7, words: 0.2 })).toEqual({
      score: 0.7,
      parts: { meaning: 0.7, words: 0.2 },
    });
  });

  it('is made from its words while it has no vector', () => {
    expect(scoreOf({ ...plain, meaning: null, words: 0.2 })).toEqual({ score: 0.2, parts: { words: 0.2 } });
  });
});
