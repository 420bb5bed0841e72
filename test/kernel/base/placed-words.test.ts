import { expect, it } from 'vitest';

import { SEARCHED_UNITS, searchWords } from '../../../src/kernel/base/placed-words.js';
import { wordsInSlices } from '../../../src/kernel/base/words.js';
import type { Sliced } from '../../../src/kernel/base/sliced.js';

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
])('an index finds the words of the longest text in slices: %s', (_, text, due) => {
  const found = slicesOf(searchWords(text));
  expect(found.slices).toBeGreaterThan(due.slices);
  expect(found.result.length).toBe(due.words);
});

it.each([
  ['words that grow', grown],
  ['words that differ', distinct],
])('recall finds the words of the longest text in slices: %s', (_, text) => {
  expect(slicesOf(wordsInSlices(text)).slices).toBeGreaterThan(7);
});
