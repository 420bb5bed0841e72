import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readValue } from '../../../../../src/features/rules/domain/conditions/read-value.js';
import { readCondition } from '../../../../../src/features/rules/domain/conditions/read-condition.js';

const operand = (text: string, isQuoted = false) => ({
  text,
  isQuoted,
  quantity: !isQuoted && /^-?\d$/.test(text) ? Number(text) : null,
});
const equal = (text: string, isQuoted = false) => ({ is: 'equal', to: operand(text, isQuoted) });
const other = (...texts: string[]) => ({ is: 'other', than: texts.map((text) => operand(text)) });
const order = (sign: string, to: number) => ({ is: 'number-order', order: sign, to });

describe('a value', () => {
  it.each<[value: string, alternatives: readonly unknown[]]>([
    ['*', [{ is: 'present' }]],
    ['!', [{ is: 'absent' }]],
    ['<5', [order('<', 5)]],
    ['<=5', [order('<=', 5)]],
    ['>-0.5', [order('>', -0.5)]],
    ['>= 5', [order('>=', 5)]],
    ['<"m"', [{ is: 'text-order', order: '<', to: 'm' }]],
    ['!=5', [other('5')]],
    ['!=calm', [other('calm')]],
    ['!="a|b"', [{ is: 'other', than: [operand('a|b', true)] }]],
    ['5..9', [{ is: 'range', from: 5, to: 9 }]],
    ['-2.5..-1', [{ is: 'range', from: -2.5, to: -1 }]],
    ['5..5', [{ is: 'range', from: 5, to: 5 }]],
    ['any(a|>5)', [{ is: 'any', of: [equal('a'), order('>', 5)] }]],
    ['none( key )', [{ is: 'none', of: [equal('key')] }]],
    ['all(!=a|b)', [{ is: 'all', of: [other('a', 'b')] }]],
    ['none("x)|y")', [{ is: 'none', of: [equal('x)|y', true)] }]],
    ['count() >= 3', [{ is: 'count', of: [{ is: 'present' }], comparison: '>=', to: 3 }]],
    ['count(a|b)!=0', [{ is: 'count', of: [equal('a'), equal('b')], comparison: '!=', to: 0 }]],
    ['count(a) = 1|!', [{ is: 'count', of: [equal('a')], comparison: '=', to: 1 }, { is: 'absent' }]],
    ['"quoted"', [equal('quoted', true)]],
    ['"50%"', [equal('50%', true)]],
    ['"null"', [equal('null', true)]],
    ['"\\u0041 \\"b\\""', [equal('A "b"', true)]],
    ['""', [equal('', true)]],
    ['5', [equal('5')]],
    ['true', [equal('true')]],
    ['50%', [equal('50%')]],
    ['Smith, John', [equal('Smith, John')]],
    ['rope or chain', [equal('rope or chain')]],
    ['你好，世界', [equal('你好，世界')]],
    ['007', [equal('007')]],
    ['20 gold', [equal('20 gold')]],
    ['Potion (small)', [equal('Potion (small)')]],
    ['O"Brien', [equal('O"Brien')]],
    ['2024-05-01', [equal('2024-05-01')]],
    ['2024-05', [equal('2024-05')]],
    ['007-008', [equal('007-008')]],
    ['5-5', [equal('5-5')]],
    ['22:00', [equal('22:00')]],
    ['nothing', [equal('nothing')]],
  ])('has alternatives: %s [5.5l]', (value, alternatives) => {
    expect(readValue('k', value)).toEqual(alternatives);
  });

  it.each<[value: string, alternatives: readonly unknown[]]>([
    ['mage | bard', [equal('mage'), equal('bard')]],
    [' >=22|<6 ', [order('>=', 22), order('<', 6)]],
    ['"a|b" | c', [equal('a|b', true), equal('c')]],
    [
      'any(a|b)|none(c|d)',
      [
        { is: 'any', of: [equal('a'), equal('b')] },
        { is: 'none', of: [equal('c'), equal('d')] },
      ],
    ],
  ])('is split at | outside quotes and brackets: %s [5.5l]', (value, alternatives) => {
    expect(readValue('k', value)).toEqual(alternatives);
  });

  it.each<[value: string, alternatives: readonly unknown[]]>([
    ['!=a|b', [other('a', 'b')]],
    ['!|!=true', [{ is: 'absent' }, other('true')]],
    ['!=a|!|b', [{ is: 'absent' }, other('a', 'b')]],
  ])('means neither of several with !=: %s [5.5m]', (value, alternatives) => {
    expect(readValue('k', value)).toEqual(alternatives);
  });

  it.each<[value: string, meant: string | undefined]>([
    ['!=a|!=b', '!=a|b'],
    ['!=a|b|!=c', '!=a|b|c'],
    ['any(!=a|!=b)', 'any(!=a|b)'],
    ['a|!=b', '!=b'],
    ['!=a|>5', undefined],
    ['!=a|*', undefined],
  ])('is refused if != would hold for nearly everything: %s [5.5m]', (value, meant) => {
    expect(problemOf(value)).toEqual(meant === undefined ? {} : { meant });
  });

  it.each<[value: string, meant: string | undefined]>([
    ['>=8,<18', '["k",">=8"], ["k","<18"]'],
    ['>=8 and <18', '["k",">=8"], ["k","<18"]'],
    ['>=8,<=18', '8..18'],
    ['<=18,>=8', '8..18'],
    ['>=22 or <5', '>=22|<5'],
    ['5, 6', '5|6'],
    ['5,6', undefined],
    ['5; 6;7', '5|6|7'],
    ['5 or 6', '5|6'],
    ['1,000', '1000'],
    ['[5]', '5'],
    ['(5)', '5'],
    ['{a, b}', 'a|b'],
    ['["a"]', '"a"'],
    ['"a", "b"', '"a"|"b"'],
    ['18+', '>=18'],
    ['guard*', undefined],
    ['>=20 gold', '>=20'],
    ['≥5', '>=5'],
    ['≧5', '>=5'],
    ['≤5', '<=5'],
    ['≠5', '!=5'],
    ['＞5', '>5'],
    ['<>5', '!=5'],
    ['> =5', '>=5'],
    ['=>5', '>=5'],
    ['=< 5', '<=5'],
    ['==5', '5'],
    ['=5', '5'],
    ['=abc', 'abc'],
    ['!x', '!=x'],
    ['gt 5', '>5'],
    ['LTE 5', '<=5'],
    ['not x', '!=x'],
    ['>=+5', '>=5'],
    ['>=05', '>=5'],
    ['>=.5', '>=0.5'],
    ['>=-.5', '>=-0.5'],
    ['>=5.', '>=5'],
    ['>=1,000', '>=1000'],
    ['=>+5', '>=5'],
    ['>=abc', '>="abc"'],
    ['..5', '<=5'],
    ['5..', '>=5'],
    ['5...9', '5..9'],
    ['5 .. 9', '5..9'],
    ['5-9', '5..9'],
    ['22-5', '>=22|<=5'],
    ['22-05', '>=22|<=5'],
    ['06-21', '6..21'],
    ['22:00-05:00', '>=22|<=5'],
    ['22:30 – 5:15', '>=22.5|<=5.25'],
    ['9:00-17:30', '9..17.5'],
    ['between 22:00 and 05:00', '>=22|<=5'],
    ['22:00..05:00', '>=22|<=5'],
    ['22h-5h', '>=22|<=5'],
    ['22h30 – 5h', '>=22.5|<=5'],
    ['10pm-5am', '>=22|<=5'],
    ['10 pm to 5 a.m.', '>=22|<=5'],
    ['between 12pm and 12am', '>=12|<=0'],
    ['9am-5:30pm', '9..17.5'],
    ['22:10-05:00', undefined],
    ['22:00-05:59', undefined],
    ['22:00 to 05:20', undefined],
    ['99:00-05:00', undefined],
    ['13pm-5am', undefined],
    ['!=22:10-05:00', undefined],
    ['!=10pm-5am', '["k",">5"], ["k","<22"]'],
    ['22..5', '>=22|<=5'],
    ['22..05', '>=22|<=5'],
    ['!=22..5', '["k",">5"], ["k","<22"]'],
    ['any(22..5)', 'any(>=22|<=5)'],
    ['9-1', '1..9'],
    ['1-0', '0..1'],
    ['192.168-1', '1..192.168'],
    ['1.2-1.1', '1.1..1.2'],
    ['100-5', '5..100'],
    ['!=9..1', '<1|>9'],
    ['22-05|20-6|5-22', '>=22|<=5|>=20|<=6|5..22'],
    ['any(22-5)', 'any(>=22|<=5)'],
    ['!=5-9', '<5|>9'],
    ['!=22-5', '["k",">5"], ["k","<22"]'],
    ['!=22:00-05:00', '["k",">5"], ["k","<22"]'],
    ['!=a|22-5', undefined],
    ['>=22&&<5', '>=22|<5'],
    ['>=22,<5', '>=22|<5'],
    ['>22 and <=5', '>22|<=5'],
    ['<5,>=22', '>=22|<5'],
    ['>=22,<=5', '>=22|<=5'],
    ['none(>=22&&<5)', 'none(>=22|<5)'],
    ['>=5,<5', undefined],
    ['>5,>7', '["k",">5"], ["k",">7"]'],
    ['between 8 and 19', '8..19'],
    ['Between 22 and 6', '>=22|<=6'],
    ['8 to 19', '8..19'],
    ['from 8 until 19', '8..19'],
    ['at least 5', '>=5'],
    ['more than 5', '>5'],
    ['up to 5', '<=5'],
    ['below 5', '<5'],
    ['5 or less', '<=5'],
    ['9..1', '1..9'],
    ['null', '!'],
    ['NULL', '!'],
    ['!=null', '*'],
    ['!=*', '!'],
    ['!=!', '*'],
    ['!=<5', '>=5'],
    ['!=5..9', '<5|>9'],
    ['!=any(x)', 'none(x)'],
    ['!=none(x)', 'any(x)'],
    ['Any(x|y)', 'any(x|y)'],
    ['any (x)', 'any(x)'],
    ['non(x)', 'none(x)'],
    ['foo(x)', '"foo(x)"'],
    ['any(x', 'any(x)'],
    ['any()', '*'],
    ['none()', '!'],
    ['any(x) y', 'any(x)'],
    ['any(count(x))', undefined],
    ['all(any(x))', undefined],
    ['any(!)', undefined],
    ['any(a||b)', 'any(a|b)'],
    ['none(>=+5|y)', 'none(>=5|y)'],
    ['count(x)', 'count(x) >= 1'],
    ['count(x) == 3', 'count(x) = 3'],
    ['count(x) => 3', 'count(x) >= 3'],
    ['count(>=05) = 3', 'count(>=5) = 3'],
    ['count >= 3', 'count() >= 3'],
    ['count(x) >= 2.5', undefined],
    ['', undefined],
    ['|', undefined],
    ['a||b', 'a|b'],
    ['a|', 'a'],
    ['>=', undefined],
    ['!=', undefined],
    ['"abc', '"abc"'],
    ['"a" b', undefined],
    ["'mage'", '"mage"'],
    ['“mage”', '"mage"'],
    ['~x', undefined],
    ['>=+5|x', '>=5|x'],
    ['>=8,<18|x', undefined],
    ['(thief|bandit)', 'thief|bandit'],
    ['[5|6]', '5|6'],
    ['{ a | b }', 'a|b'],
    ['x|(a|b)', 'x|a|b'],
    ['any([a|b])', 'any(a|b)'],
    ['!=(a|b)', '!=a|b'],
    ['["a|b", "c"]', '"a|b"|"c"'],
    ['(thief|bandit', undefined],
    ['[5', undefined],
    ['(a)b(c)', '"(a)b(c)"'],
    ['(a) or (b)', undefined],
    ['["Smith, John"]', '"Smith, John"'],
    ['["Smith, John", "a or b"]', '"Smith, John"|"a or b"'],
    ['any((secret))', 'any("(secret)")'],
    ['(secret)', '"(secret)"'],
    ['[redacted]', '"[redacted]"'],
    ['{{name}}', '"{{name}}"'],
    ['>=5 or 6', '>=5|6'],
    ['>=0,5', undefined],
    ['0,5', undefined],
    ['1.000,50', undefined],
    ['>="m","z"', undefined],
    ['>="m', '>="m"'],
    ['!=5, 6', '!=5|6'],
    ['!=18+', '<18'],
    ['!=(x)', '!="(x)"'],
    ['!=(5)', '!=5'],
    ['1,000 or more', '>=1000'],
    ['at least 1,000', '>=1000'],
    ['10,000-20,000', '10000..20000'],
    ['10,000, 20,000', '10000|20000'],
    ['10,000,5', undefined],
    ['（秘密）', '"（秘密）"'],
    ['5..6,8', '5..6|8'],
    ['5-6 or 8', '5..6|8'],
    ['5,6,', '5|6'],
    ['in [5,6]', '5|6'],
    ['in [a|b]', 'a|b'],
    ['not in (a|b)', '!=a|b'],
    ['5 or red', '5|red'],
    ['true or false', 'true|false'],
    ['true,false', 'true|false'],
    ['a, "b"', 'a|"b"'],
    ['5，6', undefined],
    ['5，6，7', '5|6|7'],
    ['（5）', '5'],
    ['guard＊', undefined],
    ['18＋', '>=18'],
  ])('is refused with what was meant if it looks like an operator: %s [5.5p]', (value, meant) => {
    expect(problemOf(value)).toEqual(meant === undefined ? {} : { meant });
  });

  it.each([' ', ', ', ' or', '(', '[', '"', '\\"', '1,111,', '5,', '|(', 'any(', '! ', '. ', '-'])(
    'takes little time, whatever it repeats: %j [5.5p]',
    (unit) => {
      const filler = unit.repeat(Math.floor(1_015 / unit.length));
      // The least of many, because other work may interrupt some of them.
      const times = Array.from({ length: 60 }, (_, n) => {
        const before = performance.now();
        readValue('k', `a${filler}${n}`);
        readValue('k', `${filler}${n}x`);
        return performance.now() - before;
      });
      expect(Math.min(...times)).toBeLessThan(3);
    },
  );

  it('can be written as a quoted text, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab|"\\()<>=! .5-~') }), (text) => {
        expect(readValue('k', JSON.stringify(text))).toEqual([equal(text, true)]);
        expect(readValue('k', `any(${JSON.stringify(text)})`)).toEqual([{ is: 'any', of: [equal(text, true)] }]);
      }),
    );
  });

  it('is read or refused, whatever it is, and a suggestion can be read', () => {
    const piece = fc.constantFrom(
      ...['any(', 'count', 'none', ')', '|', '"', '!', '=', '<', '>', '..', '5', 'a', ' ', '-', ',', '≥', 'null'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const read = readValue('k', pieces.join(''));
        if ('message' in read && read.meant !== undefined)
          for (const value of valuesIn(read.meant)) expect(readValue('k', value)).not.toHaveProperty('message');
      }),
      { numRuns: 2_000 },
    );
  });
});

/** The values of a suggestion: several if it is one of whole conditions. */
const valuesIn = (meant: string): readonly string[] =>
  /^\["k",.*\], \["k",/.test(meant)
    ? (JSON.parse(`[${meant}]`) as readonly (readonly [string, string])[]).map(([, value]) => value)
    : [meant];

const problemOf = (value: string) => {
  const { message, ...rest } = readValue('k', value) as { message: string; meant?: string };
  expect(message).toMatch(/\.$/);
  return rest;
};

describe('a condition on the type of an action', () => {
  it.each<[value: string, meant: string | undefined]>([
    ['sell', 'SELL'],
    ['sell|GIVE|pick up', 'SELL|GIVE|PICK_UP'],
    ['!=sell', '!=SELL'],
    ['"sell"', '"SELL"'],
    ['any(sell|b!)', undefined],
  ])('needs action types: %s [5.5q]', (value, meant) => {
    expect(readCondition(['action.type', value])).toMatchObject({
      member: 1,
      ...(meant === undefined ? {} : { meant }),
    });
    expect(readCondition(['mood', value])).toHaveProperty('alternatives');
  });

  it('accepts them [5.5q]', () => {
    for (const value of ['SELL', '!=SELL|GIVE', '*', '"SELL"'])
      expect(readCondition(['action.type', value])).toHaveProperty('alternatives');
  });
});
