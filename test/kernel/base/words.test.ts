import { expect, it } from 'vitest';

import { wordsOf } from '../../../src/kernel/base/words.js';

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

it('every word of an ordinary text is found, however long it is', () => {
  const words = Array.from({ length: 100_000 }, (_, n) => `w${n}`);
  expect(wordsOf(words.join(' '))).toEqual(words);
});

it('the words of a text that grows in compatibility form end near 1,000,000 bytes', () => {
  const text = Array.from({ length: 16_000 }, (_, n) => `${n}${'㌀'.repeat(16)}`).join(' ');
  const words = wordsOf(text);
  const bytes = words.reduce((sum, word) => sum + Buffer.byteLength(word), 0);
  expect(words[0]).toBe(`0${'アパート'.repeat(15)}アパー`);
  expect(bytes).toBeGreaterThanOrEqual(1_000_000);
  expect(bytes).toBeLessThan(1_000_256);
});

it('only the beginning is read of a text that grows manyfold in compatibility form', () => {
  expect(wordsOf(`one ${'ﷺ '.repeat(10)} two`)).toContain('two');
  expect(wordsOf(`one ${'ﷺ '.repeat(200_000)} two`)).not.toContain('two');
});

it('the words of a long text are the words of its lines', () => {
  for (const space of [' ', '\n', '\u00a0', '。', '\u3000']) {
    const line = ['ΟΔΟΣ', 'e\u0301te\u0301', '漢字', 'ﬁsh', '½', '㎏', '😀𝒶'].join(space);
    expect(wordsOf(Array.from({ length: 2_000 }, () => line).join(space))).toEqual(wordsOf(line));
  }
});

it('a word is cut after 64 characters, between two characters', () => {
  expect(wordsOf(`${'x'.repeat(65)} ${'𝒶'.repeat(65)}`)).toEqual(['x'.repeat(64), 'a'.repeat(64)]);
  expect(wordsOf('𠀀'.repeat(65))).toEqual(['𠀀'.repeat(64)]);
});
