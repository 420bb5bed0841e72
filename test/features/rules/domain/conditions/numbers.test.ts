import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { compareQuantities, quantityOf } from '../../../../../src/features/rules/domain/conditions/numbers.js';
import type { Json } from '../../../../../src/kernel/base/json.js';

const compare = (one: Json, other: Json): number => {
  const [left, right] = [quantityOf(one), quantityOf(other)];
  if (left === null || right === null) throw new Error('not a number');
  return Math.sign(compareQuantities(left, right)) + 0;
};

describe('a number', () => {
  it.each<[Json]>([['5'], ['-0.5'], ['1e3'], ['1E-2'], [5], [0.1], ['76561198140718655'], ['0']])(
    'is a JSON number, or a text that is written like one: %j [5.5r]',
    (value) => {
      expect(quantityOf(value)).not.toBeNull();
    },
  );

  it.each<[Json]>([
    [''],
    ['+5'],
    ['05'],
    ['.5'],
    ['5.'],
    ['5 '],
    ['five'],
    ['0x10'],
    ['Infinity'],
    ['NaN'],
    ['1'.repeat(1_025)],
    ['1e1234567890'],
    [true],
    [null],
    [[]],
    [{}],
  ])('is nothing else: %j', (value) => {
    expect(quantityOf(value)).toBeNull();
  });

  it.each<[one: Json, other: Json, order: number]>([
    ['76561198140718655', '76561198140718656', -1],
    ['9007199254740993', '9007199254740992', 1],
    ['-9007199254740993', '-9007199254740992', -1],
    ['9007199254740993', '9007199254740993', 0],
    ['9007199254740993', 5, 1],
    ['1'.repeat(1_000), '1'.repeat(999), 1],
    ['5', 5, 0],
    ['5.0', 5, 0],
    ['5e0', '5.00', 0],
    ['0', '-0.0', 0],
    ['0.1', 0.1, 0],
    ['0.10000000000000001', 0.1, 1],
    ['0.3', 0.30000000000000004, -1],
    ['1e400', '1e399', 1],
    ['-1e400', 5, -1],
    ['1e-400', 0, 1],
    ['1e20', '100000000000000000000', 0],
    ['-5', 5, -1],
    ['10', '9', 1],
  ])('is compared exactly, however long it is: %s and %s [5.5r]', (one, other, order) => {
    expect(compare(one, other)).toBe(order);
    expect(compare(other, one)).toBe(order === 0 ? 0 : -order);
  });

  it.each<[one: Json, other: Json]>([
    [9_007_199_254_740_992, '9007199254740993'],
    [9_007_199_254_740_992, 5],
    [1e300, '7'],
    [-1e17, 1e17],
    [76_561_198_140_718_660, '76561198140718655'],
  ])(
    'cannot be compared as a whole JSON number of 2^53 or more with another whole number: %s and %s [5.5t]',
    (one, other) => {
      expect(compare(one, other)).toBeNaN();
      expect(compare(other, one)).toBeNaN();
    },
  );

  it('is comparable with any number that is not whole', () => {
    expect([compare(1e300, '7.5'), compare('7.5', 1e300)]).toEqual([1, -1]);
  });

  it('is ordered like whole numbers of any length', () => {
    const whole = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
    fc.assert(
      fc.property(whole, fc.oneof(whole, fc.constantFrom(0n, 1n)), (one, step) => {
        const other = one + step;
        expect(compare(String(one), String(other))).toBe(one < other ? -1 : one === other ? 0 : 1);
      }),
    );
  });

  it('is ordered like doubles', () => {
    const double = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Number.isInteger(number));
    fc.assert(
      fc.property(double, double, (one, other) => {
        const order = one < other ? -1 : one === other ? 0 : 1;
        expect([compare(one, other), compare(String(one), other), compare(String(one), String(other))]).toEqual([
          order,
          order,
          order,
        ]);
      }),
    );
  });
});
