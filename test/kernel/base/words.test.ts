import { expect, it } from 'vitest';

import type { Sliced } from '../../../src/kernel/base/sliced.js';
import { SEARCHED_UNITS, wordsInSlices, wordsOf } from '../../../src/kernel/base/words.js';
import { sameWords } from '../../support/same-words.js';

it('the words of a text are its distinct runs of letters, marks and digits, without case and accents', () => {
  expect(wordsOf("The player's RUBY, the ruby-necklace_2; 42°")).toEqual([
    'the',
    'player',
    's',
    'ruby',
    'necklace',
    '2',
    '42',
  ]);
  expect(wordsOf('ÉTÉ e\u0301te\u0301 ﬁsh नमस्ते 😀')).toEqual(['ete', 'fish', 'नमस्ते']);
  expect(wordsOf(' .,"\'')).toEqual([]);
});

it('in scripts without spaces, each character is a word [3.10b]', () => {
  expect(wordsOf('漢字を2冊')).toEqual(['漢', '字', 'を', '2', '冊']);
  expect(wordsOf('ที่นี่')).toEqual(['ที่', 'นี่']);
  expect(wordsOf('한국어 문장')).toEqual(['한국어', '문장']);
});

it.each(sameWords)(
  'a text has the words of a query that is written differently: %s [3.10a]',
  (_, { text, query, other }) => {
    const words = new Set(wordsOf(text));
    expect(wordsOf(query)).not.toEqual([]);
    expect(wordsOf(query).filter((word) => !words.has(word))).toEqual([]);
    expect(wordsOf(other).filter((word) => words.has(word))).toEqual([]);
  },
);

it('the words of a text that grows in compatibility form end near 262,144 bytes', () => {
  const words = wordsOf(Array.from({ length: 1_700 }, (_, n) => `${10_000 + n}${'ﷲ'.repeat(30)}`).join(' '));
  const wordBytes = 5 + 30 * 8;
  expect(words[0]).toBe(`10000${'الله'.repeat(14)}الل`);
  expect(words.length).toBe(Math.ceil(262_144 / wordBytes));
});

it('the words of a long text are the words of its lines', () => {
  for (const space of [' ', '\n', '\u00a0', '。', '\u3000']) {
    const line = ['ΟΔΟΣ', 'e\u0301te\u0301', '漢字', 'ﬁsh', '½', '😀𝒶'].join(space);
    expect(wordsOf(Array.from({ length: 2_000 }, () => line).join(space))).toEqual(wordsOf(line));
  }
});

it('a word is cut after 64 characters, between two characters', () => {
  expect(wordsOf(`${'x'.repeat(65)} ${'𝒶'.repeat(65)}`)).toEqual(['x'.repeat(64), 'a'.repeat(64)]);
  expect(wordsOf('𐐨'.repeat(65))).toEqual(['𐐨'.repeat(64)]);
});

/** The number of slices of some work, and its result. */
const slicesOf = <Result>(work: Sliced<Result>): { readonly slices: number; readonly result: Result } => {
  for (let slices = 1; ; slices += 1) {
    const { done, value } = work.next();
    if (done === true) return { slices, result: value };
  }
};

/** In compatibility form each of these characters becomes eighteen, which are four words. */
const grown = 'ﷺ'.repeat(SEARCHED_UNITS);
const distinct = Array.from({ length: 10_000 }, (_, n) => `é${n}`).join(' ');

it.each([
  ['words that grow', grown, { slices: 1, words: 5 }],
  ['words that differ', distinct, { slices: 12, words: 10_000 }],
])('the words of the longest text are found in slices: %s', (_, text, due) => {
  const found = slicesOf(wordsInSlices(text));
  expect(found.slices).toBeGreaterThan(due.slices);
  expect(found.result.length).toBe(due.words);
});
