import fc from 'fast-check';
import { expect, it } from 'vitest';

import { matchRules } from '../../../../../src/features/rules/domain/match.js';
import { isObject, type Json, type JsonObject } from '../../../../../src/kernel/base/json.js';
import { aStrictRuleset } from '../../../../support/rules.js';
import { conditionTexts } from '../../../../support/condition-texts.js';

/** A slow evaluator, written from the reference alone (docs/reference/rules/conditions.md), for values without quotes and long lists. */
type Truth = 'yes' | 'no' | 'error';
const either = (truths: readonly Truth[]): Truth =>
  truths.includes('yes') ? 'yes' : truths.includes('error') ? 'error' : 'no';
const opposite = (truth: Truth): Truth => (truth === 'yes' ? 'no' : truth === 'no' ? 'yes' : truth);

/** Every element that a path leads to; null for nothing. */
const reach = (value: Json | undefined, names: readonly string[]): readonly (Json | null)[] => {
  if (Array.isArray(value) && value.length === 0) return [null];
  const [name, ...more] = names;
  if (name === undefined) return Array.isArray(value) ? value.flatMap((one: Json) => reach(one, [])) : [value ?? null];
  if (Array.isArray(value)) {
    const list = value as readonly Json[];
    return /^\d+$/.test(name) ? reach(list[Number(name)], more) : list.flatMap((one) => reach(one, names));
  }
  return reach(isObject(value) ? value[name] : undefined, more);
};

const numberOf = (value: Json): number | null =>
  typeof value === 'number'
    ? value
    : typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value)
      ? Number(value)
      : null;
const equals = (value: Json, text: string): boolean => {
  const [one, other] = [numberOf(value), numberOf(text)];
  if (one !== null && other !== null) return one === other;
  return typeof value === 'string' ? value === text : !isObject(value) && JSON.stringify(value) === text;
};
const isSigned = {
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
  '>': (a: number, b: number) => a > b,
  '>=': (a: number, b: number) => a >= b,
};

const ofElement = (value: Json, alternative: string): Truth => {
  if (alternative === '*') return 'yes';
  const [, sign, operand] = /^(<=|>=|<|>)(.+)$/.exec(alternative) ?? [];
  const [, from, to] = /^(-?\d+)\.\.(-?\d+)$/.exec(alternative) ?? [];
  const number = numberOf(value);
  if (sign !== undefined)
    return number === null ? 'error' : isSigned[sign as '<'](number, Number(operand)) ? 'yes' : 'no';
  if (from !== undefined)
    return number === null ? 'error' : number >= Number(from) && number <= Number(to) ? 'yes' : 'no';
  return equals(value, alternative) ? 'yes' : 'no';
};
const ofSome = (value: Json, text: string): Truth =>
  text.startsWith('!=')
    ? opposite(
        either(
          text
            .slice(2)
            .split('|')
            .map((one) => ofElement(value, one)),
        ),
      )
    : either(text.split('|').map((one) => ofElement(value, one)));

const ofAlternative = (elements: readonly (Json | null)[], text: string): Truth => {
  const there = elements.filter((one) => one !== null);
  if (text === '!') return there.length === 0 ? 'yes' : 'no';
  const [, name, inside = '', sign = '', to] = /^(any|none|all|count)\((.*?)\)(?: (\S+) (\d+))?$/.exec(text) ?? [];
  const truths = there.map((one) => ofSome(one, name === undefined ? text : inside || '*'));
  if (name === undefined || name === 'any') return either(truths);
  if (name === 'none') return opposite(either(truths));
  if (name === 'all') {
    if (there.length === 0 || there.length < elements.length) return 'no';
    return opposite(either(truths.map(opposite)));
  }
  const least = truths.filter((one) => one === 'yes').length;
  const counts = Array.from({ length: truths.filter((one) => one === 'error').length + 1 }, (_, more) => least + more);
  const compare = { ...isSigned, '=': (a: number, b: number) => a === b, '!=': (a: number, b: number) => a !== b };
  const outcomes = new Set(counts.map((count) => compare[sign as '='](count, Number(to))));
  return outcomes.size > 1 ? 'error' : outcomes.has(true) ? 'yes' : 'no';
};

/** The alternatives of a value: `|` in brackets, and behind `!=`, separates none. */
const alternativesOf = (value: string): readonly string[] =>
  value.startsWith('!=')
    ? [value]
    : value
        .split(/\|(?![^(]*\))/)
        .reduce<readonly string[]>(
          (all, one) =>
            all.at(-1)?.startsWith('!=') === true ? [...all.slice(0, -1), `${all.at(-1)}|${one}`] : [...all, one],
          [],
        );

const scalar = fc.constantFrom<Json>(1, 2, 3, '1', '2.0', 'a', 'b', true, false, null, '', {});
const thing = fc.record({ id: scalar, qty: scalar, tags: fc.array(scalar, { maxLength: 3 }) }, { requiredKeys: [] });
const state: fc.Arbitrary<JsonObject> = fc.record(
  {
    k: fc.oneof(scalar, fc.array(fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), { maxLength: 4 })),
    bag: fc.oneof(thing, fc.array(fc.oneof(thing, scalar), { maxLength: 3 })),
  },
  { requiredKeys: [] },
);
const key = fc.constantFrom(
  'k',
  'k.0',
  'k.1',
  'bag',
  'bag.id',
  'bag.qty',
  'bag.tags',
  'bag.tags.0',
  'bag.0.id',
  'bag.1.tags',
);
const plain = fc.constantFrom('1', '2', 'a', 'true');
const element = fc.oneof(plain, fc.constantFrom('*', '<2', '<=2', '>1', '>=3', '1..2'));
const { value } = conditionTexts(plain, element);

it('a condition is decided as the reference says [5.5i, 5.5l, 5.5m, 5.5o, 5.5t, 5.5u]', () => {
  fc.assert(
    fc.property(state, fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 3 }), (npcState, ruleCondition) => {
      const truths = ruleCondition.map(([path, asked]) =>
        either(alternativesOf(asked).map((one) => ofAlternative(reach(npcState, path.split('.')), one))),
      );
      const set = aStrictRuleset([
        { ruleCondition, ruleAction: 'FORBID *' },
        { ruleCondition, ruleAction: 'ALLOW *' },
      ]);
      const { trace } = matchRules(set, { npcState, context: {}, patternsHeld: [] });
      const [forbids, allows] = trace.rules;
      expect(
        forbids?.conditions?.map(({ holds, error }) => (error === undefined ? (holds ? 'yes' : 'no') : 'error')),
      ).toEqual(truths);
      expect([forbids?.matched, allows?.matched]).toEqual([
        !truths.includes('no'),
        truths.every((one) => one === 'yes'),
      ]);
    }),
    { numRuns: 5_000 },
  );
});
