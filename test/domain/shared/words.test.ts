import { expect, it } from 'vitest';

import { wordsOf } from '../../../src/domain/shared/words.js';

it('the words of a text are its distinct runs of letters, marks and digits, in lower case', () => {
  expect(wordsOf("The player's RUBY, the ruby-necklace_2; 42°")).toEqual([
    'the',
    'player',
    's',
    'ruby',
    'necklace',
    '2',
    '42',
  ]);
  expect(wordsOf('ÉTÉ e\u0301te\u0301 ﬁsh नमस्ते 漢字 😀')).toEqual(['été', 'fish', 'नमस्ते', '漢字']);
  expect(wordsOf(' .,"\'')).toEqual([]);
});

it('a word is cut after 64 characters, between two of them', () => {
  expect(wordsOf(`${'x'.repeat(65)} ${'𝒶'.repeat(65)}`)).toEqual(['x'.repeat(64), 'a'.repeat(64)]);
  expect(wordsOf('𠀀'.repeat(65))).toEqual(['𠀀'.repeat(64)]);
});
