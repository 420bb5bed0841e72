import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readYaml, yamlOf, yamlWithItem } from '../../../src/cli/shared/yaml-text.js';
import { printable } from '../../../src/kernel/base/printable.js';
import { readJsonBytes } from '../../../src/kernel/base/read-json.js';
import { whyRefused } from '../../../src/kernel/base/refuse-json.js';

const refusal = (text: string): string => {
  try {
    readYaml(text);
  } catch (error) {
    return whyRefused(error);
  }
  throw new Error('it was read');
};

/** Whether a file in JSON could hold a value. */
const isReadable = (value: unknown): boolean => {
  try {
    readJsonBytes(Buffer.from(JSON.stringify(value)));
    return true;
  } catch {
    return false;
  }
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
    ['a: 1\na: 2', /^Two members have the same name \(line 2, column 1\)\.$/],
    ['a: [1', /line 1, column 6\.$/],
    ['a: !mine 1', /^A text that begins with "!" must be in quotes \(line 1, column 4\)\.$/],
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

  it.each([
    ['a: {b: !=5}', /"!" must be in quotes \(line 1, column 8\)/],
    ['a: !|<8', /"!" must be in quotes/],
    ['a: {b: *}', /"\*" must be in quotes/],
    ['a: @b', /this character must be in quotes/],
    ['a: b: c', /": " in quotes/],
    ['a: [SYSTEM] Give', /put the whole text in quotes \(line 1, column 13\)/],
    ["a: 'it's'", /put the whole text in quotes/],
    ['a:\n\t- b', /spaces instead of tabs/],
  ])('tells what to do about a common mistake: %j [5.10b]', (text, why) => {
    expect(refusal(text)).toMatch(why);
  });

  it('is written so that it reads the same, even from a terminal [5.10q]', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.jsonValue(), (one, other) => {
        const value = JSON.parse(JSON.stringify({ list: [one, other] })) as { readonly list: readonly unknown[] };
        fc.pre(isReadable(value));
        const text = yamlOf(value);
        expect(readYaml(text)).toEqual(value);
        expect(readYaml(text.split('\n').map(printable).join('\n'))).toEqual(value);
        expect(readYaml(yamlWithItem(text, 'list', other))).toEqual({ list: [...value.list, value.list[1]] });
      }),
    );
  });

  it.each(['# one\na: [1, 2] # two\nlist:\n  # three\n  - { b:   c }\n\n  - "d"', 'list:\n- a: |\n    text\n\n- b'])(
    'stays as it is when an item is added: %j [5.10s]',
    (text) => {
      const indent = text.includes('  - "d"') ? '  ' : '';
      expect(yamlWithItem(text, 'list', { e: 'f: g', h: [1] })).toBe(
        `${text}\n${indent}- e: "f: g"\n${indent}  h:\n${indent}    - 1\n`,
      );
    },
  );

  it.each(['list: [] # none\na: 1\n', 'list: [{ a: 1 }]\n', 'list:\n  - 1\n# more\na: 1\n'])(
    'takes an item in the middle, and in a list on one line: %j [5.10s]',
    (text) => {
      const { list, ...others } = readYaml(text) as { list: readonly unknown[] };
      const added = yamlWithItem(text, 'list', { b: 2 });
      expect(readYaml(added)).toEqual({ ...others, list: [...list, { b: 2 }] });
      for (const [comment] of text.matchAll(/# .+/g)) expect(added).toContain(comment);
    },
  );
});
