import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareCodePoints, parseCondition } from '../../../../src/features/rules/domain/condition.js';
import { buildKeyTree, lookUp, type Surroundings } from '../../../../src/features/rules/domain/key-tree.js';
import type { Json } from '../../../../src/kernel/base/json.js';

const holds = (key: string, value: string, given: Partial<Surroundings>): boolean => {
  const { seen } = lookUp(buildKeyTree([key]), { npcState: {}, context: {}, ...given }, 10_000);
  return parseCondition([key, value])(seen.get(key) ?? { values: [], listed: false });
};
const holdsFor = (value: string, seen: Json): boolean => holds('x', value, { npcState: { x: seen } });

describe('the key of a condition', () => {
  const given: Partial<Surroundings> = {
    npcState: { mood: 'calm', stats: { hp: 5 }, context: 'own', list: [{ name: 'a' }, { name: 'b' }, 3] },
    context: { weather: { sky: 'dark' }, light: null },
    action: { type: 'MOVE', payload: { item: 'ruby' } },
  };
  it.each([
    ['mood', 'calm', true],
    ['stats.hp', '5', true],
    ['context', 'own', true],
    ['context.weather.sky', 'dark', true],
    ['action.type', 'MOVE', true],
    ['action.payload.item', 'ruby', true],
    ['list.0.name', 'a', true],
    ['list.1.name', 'a', false],
    ['list.name', 'b', true],
    ['list.name', 'c', false],
    ['context.light', '*', true],
    ['toString', '*', false],
    ['stats.constructor', '*', false],
    ['list.length', '*', false],
    ['weather.sky', 'dark', false],
  ])('holds: %s %s holds: %s [2.8f]', (key, value, expected) => {
    expect(holds(key, value, given)).toBe(expected);
  });

  it('finds no action key before the verdict [2.8f]', () => {
    expect(holds('action.type', '*', {})).toBe(false);
    expect(holds('action.type', '!=MOVE', { action: null })).toBe(false);
  });

  it('finds nothing in a context that is not an object', () => {
    expect(holds('context.a', '*', { context: 'rain' })).toBe(false);
  });
});

describe('the value of a condition', () => {
  it.each<[string, Json, boolean]>([
    ['calm', 'calm', true],
    ['calm', 'Calm', false],
    ['5', 5, true],
    ['5.0', 5, false],
    ['true', true, true],
    ['', '', true],
    ['<10', 9, true],
    ['<10', 10, false],
    ['<=10', 10, true],
    ['>10', 10.5, true],
    ['>=10', 9.99, false],
    ['>-1', 0, true],
    ['< 10', 9, true],
    ['<1e2', 99, true],
    ['!=5', 5, false],
    ['!=5.0', 5, false],
    ['!=5', 6, true],
    ['!=calm', 'angry', true],
    ['!=calm', 'calm', false],
    ['<10', '9', true],
    ['<9', '10', false],
    ['>9', '10', true],
    ['!=5.0', '5', false],
    ['5.0', '5', false],
    ['<10', '09', true],
    ['<1', '09', true],
    ['<010', 9, false],
    ['<10', ' 9', true],
    ['>9', 'x', true],
    ['<10', true, false],
    ['<b', 'a', true],
    ['<b', 5, true],
    ['<\u{10000}', '\uffff', true],
    ['*', 0, true],
    ['*', '', true],
    ['*', false, true],
    ['*', {}, true],
    ['{}', {}, false],
    ['!=a', {}, true],
    ['<a', {}, false],
    ['a|b', 'b', true],
    ['a|b', 'a|b', false],
    ['a|b', 'c', false],
    ['<3|>7', 8, true],
    ['<3|>7', 5, false],
    ['!=a|b', 'c', true],
    ['!=a|b', 'b', false],
    ['!=a|b', 'a', false],
    ['!=a|*', 'a', true],
  ])('is compared: %s on %j holds: %s [2.8g, 2.8h]', (value, seen, expected) => {
    expect(holdsFor(value, seen)).toBe(expected);
  });

  it.each(['*', '', '!=x', '<1', '>=1', 'a|b', '!=a|b'])('%s does not hold for a missing key [2.8f]', (value) => {
    expect(holds('nothing.here', value, {})).toBe(false);
  });

  it.each<[string, Json, boolean]>([
    ['sword', ['shield', 'sword'], true],
    ['sword', ['shield'], false],
    ['>5', [1, 9], true],
    ['!=sword', ['sword', 'shield'], true],
    ['!=sword', ['sword'], false],
    ['a', [['b'], ['a']], true],
    ['*', [], false],
  ])('holds for an array if it holds for one element: %s on %j holds: %s [2.8i]', (value, seen, expected) => {
    expect(holdsFor(value, seen)).toBe(expected);
  });
});

it('the order of texts depends on their first 256 units, their equality on all units [2.8h]', () => {
  const [left, right] = [`${'x'.repeat(256)}a`, `${'x'.repeat(256)}b`];
  expect([compareCodePoints(left, right), holdsFor(`<=${left}`, right), holdsFor(`<${right}`, left)]).toEqual([
    0,
    true,
    false,
  ]);
  expect([holdsFor(left, left), holdsFor(left, right), holdsFor(`!=${left}`, right)]).toEqual([true, false, true]);
});

describe('laws of conditions', () => {
  const scalar = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.string());

  it('a scalar equals its own text, unless the text parses as an operator', () => {
    fc.assert(
      fc.property(scalar, (value) => {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        fc.pre(!/^[<>!*]|\|/.test(text));
        expect(holdsFor(text, value)).toBe(true);
      }),
    );
  });

  it('exactly one of smaller, equal and larger holds between numbers', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(number, number, (left, right) => {
        const text = JSON.stringify(right);
        const outcomes = [holdsFor(`<${text}`, left), holdsFor(`>${text}`, left), !holdsFor(`!=${text}`, left)];
        expect(outcomes.filter(Boolean)).toHaveLength(1);
      }),
    );
  });

  it('text is ordered by code point', () => {
    const points = (text: string): readonly number[] => Array.from(text, (char) => char.codePointAt(0) ?? 0);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (left, right) => {
        const [a, b] = [points(left), points(right)];
        const at = a.findIndex((point, index) => point !== b[index]);
        const expected = at === -1 ? a.length - b.length : (a[at] ?? 0) - (b[at] ?? -1);
        expect(Math.sign(compareCodePoints(left, right))).toBe(Math.sign(expected));
      }),
    );
  });

  it('nothing holds for a missing key, whatever the value is', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(holds('missing', value, { npcState: { other: 1 } })).toBe(false);
      }),
    );
  });
});
