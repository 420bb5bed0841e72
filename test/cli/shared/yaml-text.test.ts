import { describe, expect, it } from 'vitest';

import { readYaml } from '../../../src/cli/shared/yaml-text.js';
import { whyRefused } from '../../../src/kernel/base/refuse-json.js';

const refusal = (text: string): string => {
  try {
    readYaml(text);
  } catch (error) {
    return whyRefused(error);
  }
  throw new Error('it was read');
};

/** Ten aliases to ten aliases, and so on: a billion texts. */
const billion = ['a0: &a0 [lol]']
  .concat(Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${Array(10).fill(`*a${at}`).join(', ')}]`))
  .join('\n');

describe('YAML', () => {
  it('is read as what JSON can hold [5.10b]', () => {
    expect(readYaml('a: [1, 2.5, no, "x", null, true]\nb:\n  c: |\n    two\n    lines\n')).toEqual({
      a: [1, 2.5, 'no', 'x', null, true],
      b: { c: 'two\nlines\n' },
    });
    expect(readYaml('on: &x {1: 2026-11-27}\nagain: *x')).toEqual({
      on: { 1: '2026-11-27' },
      again: { 1: '2026-11-27' },
    });
    expect(readYaml('')).toBe(null);
  });

  it.each([
    ['a: 1\na: 2', /^Map keys must be unique at line 2, column 1\.$/],
    ['a: [1', /line 1, column 6\.$/],
    ['a: !mine 1', /^Unresolved tag: !mine at line 1/],
    ['--- 1\n--- 2', /^A file holds one document\.$/],
    ['a: .nan', /^JSON has no such number\.$/],
    ['a: 12345678901234567890', /^The integer 12345678901234567890 is too large/],
    ['a: &a {b: *a}', /^An alias stands for something that contains it\.$/],
    ['a: *b', /Unresolved alias/],
    ['__proto__: 1', /__proto__/],
    [`a: ${'['.repeat(40)}${']'.repeat(40)}`, /nested deeper than 32 levels/],
    [billion, /alias/i],
  ])('is refused if JSON cannot hold it (%#) [5.10b]', (text, why) => {
    expect(refusal(text)).toMatch(why);
  });
});
