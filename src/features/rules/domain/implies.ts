import type { Json } from '../../../kernel/base/json.js';
import { type ConditionAlternative, conditionAlternatives } from './condition-alternatives.js';
import {
  compareCodePoints,
  kindOf,
  comparedNumber,
  parseCondition,
  TARGET_KEY,
  type Test,
  testOf,
} from './condition.js';
import type { RuleCondition } from './ruleset.js';
import type { Seen } from './key-tree.js';

/** A condition with its parsed meaning, made once for all comparisons. */
export type Meant = {
  readonly key: string;
  readonly value: string;
  readonly test: Test;
  readonly alternatives: readonly MeantPart[];
};

type MeantPart = {
  readonly asked: ConditionAlternative;
  readonly test: Test;
  /** All values that satisfy it, if they are few; otherwise null. */
  readonly only: readonly Seen[] | null;
};

const seeing = (value: Json): Seen => ({ values: [value], listed: false });

/** The values that equal a text: the string, and the scalar with that JSON text. */
const equalTo = (text: string): readonly Seen[] => {
  const scalars: readonly Json[] = [true, false, null, ...(Number.isFinite(Number(text)) ? [Number(text)] : [])];
  return [text, ...scalars.filter((scalar) => JSON.stringify(scalar) === text)].map(seeing);
};

export const meantBy = ([key, value]: RuleCondition): Meant => ({
  key,
  value,
  test: parseCondition([key, value]),
  alternatives: conditionAlternatives(value).map((asked) => ({
    asked,
    test: testOf(key, asked),
    only: asked.is === 'exactly' ? equalTo(asked.text) : null,
  })),
});

type Order = Extract<ConditionAlternative, { is: 'order' }>;

/** Whether everything on the one side of an operand is on the same side of another, given how they compare. */
const liesWithin = (one: Order, other: Order, compared: number): boolean => {
  const towards = one.operator.startsWith('<') ? compared : -compared;
  return other.operator.length === 1 && one.operator.length === 2 ? towards < 0 : towards <= 0;
};

/** An order compares numbers among numbers, and code points among all other values; so both have to agree, unless there are only numbers. */
const orderImplies = (one: Order, other: Order, onlyNumbers: boolean): boolean => {
  if (one.operator.charAt(0) !== other.operator.charAt(0)) return false;
  const [number, otherNumber] = [comparedNumber(one.operand), comparedNumber(other.operand)];
  if ((number === undefined) !== (otherNumber === undefined)) return false;
  const asTexts = liesWithin(one, other, compareCodePoints(one.operand, other.operand));
  if (number === undefined || otherNumber === undefined) return asTexts;
  const difference = number < otherNumber ? -1 : number === otherNumber ? 0 : 1;
  return liesWithin(one, other, difference) && (onlyNumbers || asTexts);
};

/** Whether no value in that order is one of these. A number has many texts, which only an order of numbers can ignore. */
const leavesOut = (asked: Order, test: Test, operands: readonly string[]): boolean =>
  operands.every((operand) => {
    const number = comparedNumber(operand);
    if (number === undefined) return !test(seeing(operand));
    return comparedNumber(asked.operand) !== undefined && !test(seeing(number));
  });

const partImplies = (key: string, part: MeantPart, other: MeantPart, onlyNumbers: boolean): boolean => {
  const { asked, test } = part;
  // A key that led to nothing satisfies nothing; for a target the empty string means the same.
  if (other.asked.is === 'present') return key !== TARGET_KEY || !test(seeing(''));
  if (asked.is === 'none' && other.asked.is === 'none') {
    const kinds = new Set(asked.of.map(kindOf));
    return other.asked.of.every((operand) => kinds.has(kindOf(operand)));
  }
  if (asked.is !== 'order') return false;
  if (other.asked.is === 'none') return leavesOut(asked, test, other.asked.of);
  return other.asked.is === 'order' && orderImplies(asked, other.asked, onlyNumbers);
};

/**
 * Whether everything that satisfies one condition also satisfies another on the same key. Each test looks for one value among those found under a
 * key, so it is enough to check each single value. `false` may also mean "unknown".
 * @param onlyNumbers whether the key only ever leads to numbers
 */
export const implies = (one: Meant, other: Meant, onlyNumbers: boolean): boolean =>
  one.key === other.key &&
  (one.value === other.value ||
    one.alternatives.every((part) =>
      part.only !== null
        ? part.only.every(other.test)
        : other.alternatives.some((otherPart) => partImplies(one.key, part, otherPart, onlyNumbers)),
    ));
