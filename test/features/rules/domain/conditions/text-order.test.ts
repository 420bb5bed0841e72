import fc from 'fast-check';
import { expect, it } from 'vitest';

import { orderKey } from '../../../../../src/features/rules/domain/conditions/text-order.js';

const pointsOf = (text: string): readonly number[] => [...text].map((character) => character.codePointAt(0) ?? 0);
const order = (one: readonly number[], other: readonly number[]): number => {
  const at = one.findIndex((point, index) => point !== other[index]);
  if (at === -1) return one.length - other.length;
  return at >= other.length ? 1 : (one[at] ?? 0) - (other[at] ?? 0);
};

it('the order of texts is that of their code points', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'z', 'é', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'),
  });
  fc.assert(
    fc.property(text, text, (one, other) => {
      const [left, right] = [orderKey(one), orderKey(other)];
      expect(left < right ? -1 : left === right ? 0 : 1).toBe(Math.sign(order(pointsOf(one), pointsOf(other))));
    }),
  );
});
