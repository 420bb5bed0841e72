import fc from 'fast-check';
import { expect, it } from 'vitest';

import { compareTexts } from '../../../../../src/features/rules/domain/conditions/text-order.js';

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
      expect(Math.sign(compareTexts(one, other).compared)).toBe(Math.sign(order(pointsOf(one), pointsOf(other))));
    }),
  );
});

it('two texts are compared up to their first difference', () => {
  const looked = (one: string, other: string): number => compareTexts(one, other).looked;
  expect([looked('a'.repeat(1_000), 'b'), looked('\u{1f600}x', `\u{1f600}y${'z'.repeat(1_000)}`)]).toEqual([1, 3]);
  expect([looked('', 'a'), looked('ab', 'ab')]).toEqual([1, 3]);
});
