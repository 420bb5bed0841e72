import { isObject, type Json } from '../../../kernel/base/json.js';
import { type ConditionAlternative, conditionAlternatives } from './condition-alternatives.js';
import type { Seen } from './key-tree.js';
import type { RuleCondition } from './ruleset.js';

/** What a condition requires of the values found under its key. Without values nothing matches. */
export type Test = (seen: Seen) => boolean;

/** A JSON number (RFC 8259). */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Longer texts are not read as numbers, in UTF-16 units: a double never needs more than 25. */
const NUMBER_CHARS = 64;
/** The only key for which the empty string means "absent", because a response shows every action with a target. */
export const TARGET_KEY = 'action.target';

/** How many UTF-16 units of two strings decide their order; strings that agree that far are equal in order. Equality is exact. */
const ORDER_CHARS = 256;

/** Negative, zero or positive, as in code point order; UTF-16 order differs from it where surrogates meet U+E000 and above. */
export const compareCodePoints = (left: string, right: string): number => {
  const length = Math.min(left.length, right.length, ORDER_CHARS);
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return rank(a) - rank(b);
  }
  return Math.min(left.length, ORDER_CHARS) - Math.min(right.length, ORDER_CHARS);
};

/** Surrogates represent code points above every other UTF-16 unit. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** The form in which a value is compared: a string unchanged, another scalar as its JSON text; an object has none. */
const textOf = (seen: Json): string | undefined =>
  typeof seen === 'string' ? seen : isObject(seen) ? undefined : JSON.stringify(seen);

/** A value as a number, if both sides are numbers; games also store numbers as strings. */
export const comparedNumber = (seen: Json): number | undefined => {
  if (typeof seen === 'number') return seen;
  return typeof seen === 'string' && seen.length <= NUMBER_CHARS && NUMBER.test(seen) ? Number(seen) : undefined;
};

/** Computed once from what a key saw, when it is first needed. */
const once = <Made>(make: (values: readonly Json[]) => Made): ((seen: Seen) => Made) => {
  const made = new WeakMap<Seen, { readonly value: Made }>();
  return (seen) => {
    const known = made.get(seen);
    if (known !== undefined) return known.value;
    const value = make(seen.values);
    made.set(seen, { value });
    return value;
  };
};

/** The least and the greatest of some values. They answer every comparison: one of the values is below 5 if the least is. */
type Range<Thing> = { readonly least: Thing; readonly greatest: Thing };

const rangeOf = <Thing>(things: readonly Thing[], compare: (a: Thing, b: Thing) => number): Range<Thing> | null => {
  const [first] = things;
  if (first === undefined) return null;
  let least: Thing = first;
  let greatest: Thing = first;
  for (const thing of things) {
    if (compare(thing, least) < 0) least = thing;
    else if (compare(thing, greatest) > 0) greatest = thing;
  }
  return { least, greatest };
};

/** This includes numbers too large for a double, which are equal. */
const compareNumbers = (left: number, right: number): number => (left < right ? -1 : left === right ? 0 : 1);

const isText = (text: string | undefined): text is string => text !== undefined;
/** Longer than any operand may be (RULESET_BOUNDS.valueBytes), in UTF-16 units. */
const NO_OPERAND_CHARS = 1_024;
/** Whether a value cannot equal any operand, without searching the value. */
const isNoOperand = (value: Json): boolean =>
  isObject(value) || (typeof value === 'string' && value.length > NO_OPERAND_CHARS);
const hasNoOperand = once((values) => values.some(isNoOperand));
const numbers = once((values) =>
  rangeOf(
    values.map(comparedNumber).filter((number) => number !== undefined),
    compareNumbers,
  ),
);
/** The texts of values that are not numbers. */
const words = once((values) =>
  rangeOf(
    values
      .filter((value) => comparedNumber(value) === undefined)
      .map(textOf)
      .filter(isText),
    compareCodePoints,
  ),
);
const texts = once((values) => rangeOf(values.map(textOf).filter(isText), compareCodePoints));

/** Compares values with an operand: as numbers if both are numbers, otherwise by code point. Objects have no order. */
const compared = (
  operand: string,
  accepts: <Thing>(range: Range<Thing>, compare: (thing: Thing) => number) => boolean,
): Test => {
  const number = comparedNumber(operand);
  const holds = <Thing>(range: Range<Thing> | null, compare: (thing: Thing) => number): boolean =>
    range !== null && accepts(range, compare);
  const toText = (text: string): number => compareCodePoints(text, operand);
  return number === undefined
    ? (seen) => holds(texts(seen), toText)
    : (seen) => holds(numbers(seen), (other) => compareNumbers(other, number)) || holds(words(seen), toText);
};

const ordering = (operator: string, operand: string): Test => {
  switch (operator) {
    case '<':
      return compared(operand, ({ least }, compare) => compare(least) < 0);
    case '<=':
      return compared(operand, ({ least }, compare) => compare(least) <= 0);
    case '>':
      return compared(operand, ({ greatest }, compare) => compare(greatest) > 0);
    default:
      return compared(operand, ({ greatest }, compare) => compare(greatest) >= 0);
  }
};

const exactly = (value: string): Test => {
  const number = Number(value);
  const isNumber = JSON.stringify(number) === value;
  const equals = (seen: Json): boolean => {
    if (typeof seen === 'string') return seen === value;
    // Without making the text of each number.
    return typeof seen === 'number' ? isNumber && seen === number : textOf(seen) === value;
  };
  return ({ values }) => values.some(equals);
};

/** Values that `!=` treats as equal have the same kind: numbers are equal whatever their text. */
export const kindOf = (value: Json): string => {
  const number = comparedNumber(value);
  return number === undefined ? `text ${textOf(value) ?? ''}` : `number ${number}`;
};
const kinds = once((values) => new Set(values.filter((value) => !isNoOperand(value)).map(kindOf)));

/** At least one value is none of these. An object is not a string and differs from every string. */
const differs = (operands: readonly string[]): Test => {
  const others = [...new Set(operands.map(kindOf))];
  return (seen) => hasNoOperand(seen) || kinds(seen).size > others.filter((kind) => kinds(seen).has(kind)).length;
};

/** The test for one alternative. */
export const testOf = (key: string, asked: ConditionAlternative): Test => {
  switch (asked.is) {
    case 'present':
      return key === TARGET_KEY
        ? ({ values }) => values.some((target) => target !== '')
        : ({ values }) => values.length > 0;
    case 'exactly':
      return exactly(asked.text);
    case 'none':
      return differs(asked.of);
    case 'order':
      return ordering(asked.operator, asked.operand);
  }
};

/** The number of tests in a condition's value: its alternatives. */
export const countTests = (value: string): number => value.split('|').length;

/** Compiles one `[key, value]` pair. */
export const parseCondition = ([key, value]: RuleCondition): Test => {
  const alternatives = conditionAlternatives(value).map((asked) => testOf(key, asked));
  return (seen) => alternatives.some((test) => test(seen));
};
