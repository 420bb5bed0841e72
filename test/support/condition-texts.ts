import fc from 'fast-check';

/** Texts of conditions of grammar 2: what stands in brackets, an alternative with brackets, and a whole value. */
type ConditionTexts = Readonly<Record<'elements' | 'bracketed' | 'value', fc.Arbitrary<string>>>;

/** @param plain texts that are compared as they are @param element alternatives without brackets */
export const conditionTexts = (plain: fc.Arbitrary<string>, element: fc.Arbitrary<string>): ConditionTexts => {
  const others = fc.array(plain, { minLength: 1, maxLength: 2 });
  const elements = fc.oneof(
    fc.array(element, { minLength: 1, maxLength: 2 }).map((all) => all.join('|')),
    others.map((all) => `!=${all.join('|')}`),
  );
  const bracketed = fc.oneof(
    fc.tuple(fc.constantFrom('any', 'none', 'all'), elements).map(([name, inside]) => `${name}(${inside})`),
    fc
      .tuple(fc.oneof(elements, fc.constant('')), fc.constantFrom('<', '<=', '>', '>=', '=', '!='), fc.nat(3))
      .map(([inside, sign, to]) => `count(${inside}) ${sign} ${to}`),
  );
  const value = fc.oneof(
    fc
      .array(fc.oneof(element, bracketed, fc.constant('!')), { minLength: 1, maxLength: 3 })
      .map((all) => all.join('|')),
    fc.tuple(fc.constantFrom('', '!|'), others).map(([nothing, all]) => `${nothing}!=${all.join('|')}`),
  );
  return { elements, bracketed, value };
};
