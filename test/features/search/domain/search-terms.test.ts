import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { findTerms, snippetAt } from '../../../../src/features/search/domain/find-terms.js';
import { placedWords, wordsInSlices } from '../../../../src/kernel/base/words.js';
import { searchTerms } from '../../../../src/features/search/domain/search-terms.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';
import { drained } from '../../../../src/kernel/base/sliced.js';
import { runs } from '../../../support/long.js';

const term = (words: readonly string[], isBeginning = false, isExcluded = false) => ({
  words,
  isBeginning,
  isExcluded,
});
/** The position of a query in a text, and the largest amount of work in one piece. */
const slicesOf = (query: string, text: string) => {
  const finding = findTerms(searchTerms(query), text);
  const slices: number[] = [];
  for (;;) {
    const { done, value } = finding.next();
    if (done === true) return { place: value, slices };
    slices.push(value);
  }
};
const found = (query: string, text: string): number | null => slicesOf(query, text).place;
const refusal = (query: string): unknown => {
  try {
    return searchTerms(query);
  } catch (error) {
    return error instanceof Rejection ? error.details : error;
  }
};

describe('the terms of a query', () => {
  it.each([
    ['Ruby necklace', [term(['ruby']), term(['necklace'])]],
    ['"the ruby" neck*', [term(['the', 'ruby']), term(['neck'], true)]],
    [
      '-king -"the fool" -que*',
      [term(['king'], false, true), term(['the', 'fool'], false, true), term(['que'], true, true)],
    ],
    ["don't*", [term(['don', 't'], true)]],
    ['漢字', [term(['漢', '字'])]],
    ['-- ruby ***', [term(['ruby'])]],
    ['a"b c"d', [term(['a']), term(['b', 'c']), term(['d'])]],
    ['CAFÉ Straße', [term(['cafe']), term(['strasse'])]],
    ['"" ruby', [term(['ruby'])]],
    ['AND OR NOT near(a)', [term(['and']), term(['or']), term(['not']), term(['near', 'a'])]],
  ])('are parsed: %s [10.10d]', (query, expected) => {
    expect(searchTerms(query)).toEqual(expected);
  });

  it('are refused if they are missing or too many, or if a quote is open [10.10d]', () => {
    expect(refusal('!!! "" -')).toEqual({ issues: [{ pointer: '/q', message: 'has no words to search for' }] });
    expect(refusal('"open')).toEqual({ issues: [{ pointer: '/q', message: 'has an unclosed quote' }] });
    expect(refusal('a '.repeat(33))).toEqual({
      issues: [{ pointer: '/q', message: 'has more than 32 words or phrases' }],
    });
    expect(searchTerms('a '.repeat(32))).toHaveLength(32);
  });

  it('contain words of only letters, marks and digits, for any query', () => {
    const syntax = fc.constantFrom(
      '"',
      "'",
      '*',
      ' OR ',
      '(',
      ')',
      ':',
      '\\',
      '\0',
      '^',
      '{',
      '\u202e',
      '\ud800',
      '㍿',
      'ﷺ',
    );
    const query = fc.array(fc.oneof(syntax, fc.string({ unit: 'binary' }), fc.string())).map((parts) => parts.join(''));
    fc.assert(
      fc.property(query, (asked) => {
        const found = refusal(asked);
        if (!Array.isArray(found)) {
          expect(found).toHaveProperty('issues');
          return;
        }
        for (const { words } of found as ReturnType<typeof searchTerms>)
          for (const word of words) expect(word).toMatch(/^[\p{L}\p{M}\p{N}]{1,64}$/u);
      }),
      { numRuns: runs(200, 1_000) },
    );
  });

  it('find the text that they were made from [10.10e]', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }), (text) => {
        const phrase = text.replaceAll('"', ' ');
        if (drained(wordsInSlices(phrase)).length === 0) return;
        expect(found(`"${phrase}"`, phrase)).not.toBeNull();
        expect(found(`"${phrase.toUpperCase().normalize('NFD')}"`, phrase)).not.toBeNull();
      }),
      { numRuns: runs(200, 1_000) },
    );
  });
});

describe('matching a text', () => {
  it('requires all required terms and no excluded ones, and returns the first position [10.10d]', () => {
    const text = 'The king wore the ruby; a fool laughed.';
    expect(found('ruby king', text)).toBe(4);
    expect(found('"the ruby"', text)).toBe(14);
    expect(found('"the fool"', text)).toBeNull();
    expect(found('ruby -fool', text)).toBeNull();
    expect(found('ruby -"the fool"', text)).toBe(18);
    expect(found('laugh', text)).toBeNull();
    expect(found('laugh*', text)).toBe(text.indexOf('laughed'));
    expect(found('ruby -lau*', text)).toBeNull();
    expect(found('-queen', text)).toBe(0);
  });

  it('looks at the first 65,536 characters of a text [10.10e]', () => {
    expect(found('ruby', `${'x '.repeat(32_766)}ruby end`)).toBe(65_532);
    expect(found('ruby', `${'x '.repeat(32_768)}ruby`)).toBeNull();
  });

  it('compares words without case and accents, in compatibility form [10.10e]', () => {
    expect(found('cafe', 'Un CAFÉ')).toBe(3);
    expect(found('ÉTÉ', 'en ete')).toBe(3);
    expect(found('file', 'the ﬁle')).toBe(4);
  });

  it('returns the position in the original text, even after characters that expand', () => {
    expect(found('ruby', 'ﷺ e\u0301 ruby')).toBe(5);
    expect(found('字', '中文漢字')).toBe(3);
    expect([...placedWords('Ça va?')].map(({ word, start }) => [word, start])).toEqual([
      ['ca', 0],
      ['va', 3],
    ]);
  });
});

describe('matching a long text', () => {
  /** The naive search for a phrase, which restarts at each word. */
  const naive = (words: readonly string[], isBeginning: boolean, text: readonly string[]): number =>
    text.findIndex((_, at) =>
      words.every((word, index) =>
        isBeginning && index === words.length - 1
          ? text[at + index]?.startsWith(word) === true
          : text[at + index] === word,
      ),
    );

  it('finds repetitive phrases at the same positions as a naive search', () => {
    const word = fc.constantFrom('a', 'b', 'ab');
    const phrase = fc.array(word, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(phrase, fc.array(word, { maxLength: 40 }), (words, text) => {
        const at = naive(words, false, text);
        const starts = [...placedWords(text.join(' '))].map(({ start }) => start);
        expect(found(`"${words.join(' ')}"`, text.join(' '))).toBe(at < 0 ? null : starts[at]);
        // A mark within a word makes a phrase that has a beginning.
        const begun = naive(words, true, text);
        expect(found(`${words.join('-')}*`, text.join(' '))).toBe(begun < 0 ? null : starts[begun]);
      }),
      { numRuns: runs(200, 1_000) },
    );
  });

  it('reads each word once, and yields', () => {
    const same = '一'.repeat(65_536);
    const { place, slices } = slicesOf('一 -"一 二"', same);
    expect(place).toBe(0);
    expect(slices.length).toBeGreaterThan(10);
    expect(Math.max(...slices)).toBeLessThanOrEqual(2 * 65_536);
    // A restart at each word would take 10^9 comparisons.
    const term = { words: [...'一'.repeat(30_000), '二'], isBeginning: false, isExcluded: true };
    expect([...findTerms([term], same)].length).toBeGreaterThan(10);
  });

  it('finds words that begin with a sigma, which has another form at the end of a word', () => {
    expect(found('ΟΔΟΣ*', 'η οδοσκοπία')).toBe(2);
    expect(found('οδος', 'Η ΟΔΟΣ')).toBe(2);
  });
});

describe('a snippet', () => {
  it('is all of a short text, and 200 characters around the hit of a long one [10.10f]', () => {
    expect(snippetAt('short', 0)).toBe('short');
    const text = `${'a '.repeat(300)}ruby ${'b '.repeat(300)}`;
    const snippet = snippetAt(text, text.indexOf('ruby'));
    expect(snippet).toHaveLength(200);
    expect(snippet).toMatch(/^… ?a.*ruby.*b ?…$/);
    expect(snippetAt(text, 0)).toMatch(/^a a .*…$/);
    expect(snippetAt(text, text.length - 1)).toMatch(/^….*b $/);
  });

  it('splits no character, and is part of its text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 900 }), fc.nat(900), (text, place) => {
        const snippet = snippetAt(text, Math.min(place, text.length));
        expect(snippet.isWellFormed()).toBe(true);
        expect(snippet.length).toBeLessThanOrEqual(200);
        expect(text).toContain(snippet.replace(/^…/, '').replace(/…$/, ''));
      }),
    );
  });
});
