import { isObject, type Json, type JsonObject } from '../shared/json.js';
import type { RuleCondition } from './ruleset.js';

/** What a rule can see (contract 2.8). Without an action its `action.` keys are missing. */
export type RuleFacts = {
  readonly observation: string;
  readonly npcState: JsonObject;
  readonly context: Json;
  readonly action?: JsonObject | null;
};

type Test = (seen: Json) => boolean;

/** A condition made ready: where it looks and what it asks. `look` is undefined where the key is missing. */
export type Condition = {
  readonly key: string;
  readonly expected: string;
  look(facts: RuleFacts): Json | undefined;
  holds(seen: Json | undefined): boolean;
};

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const OPERATOR = /^(<=|>=|!=|<|>)\s*(.*?)\s*$/su;

/** Below zero, zero or above as in code point order; UTF-16 order differs from it where surrogates meet U+E000 and above. */
export const compareCodePoints = (left: string, right: string): number => {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
};

/** Surrogates stand for code points above every other UTF-16 unit. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** What a value is compared as: text is itself, other scalars are their JSON text, an object has none. */
const textOf = (seen: Json): string | undefined =>
  typeof seen === 'string' ? seen : isObject(seen) ? undefined : JSON.stringify(seen);

const compare = (seen: Json, operand: string, number: number | undefined): number | undefined => {
  if (typeof seen === 'number' && number !== undefined) return seen - number;
  const text = textOf(seen);
  return text === undefined ? undefined : compareCodePoints(text, operand);
};

const ordering = (operator: string, operand: string): Test => {
  const number = NUMBER.test(operand) ? Number(operand) : undefined;
  const compared =
    (accepts: (order: number) => boolean): Test =>
    (seen) => {
      const order = compare(seen, operand, number);
      return order !== undefined && accepts(order);
    };
  switch (operator) {
    case '<':
      return compared((order) => order < 0);
    case '<=':
      return compared((order) => order <= 0);
    case '>':
      return compared((order) => order > 0);
    case '>=':
      return compared((order) => order >= 0);
    default:
      // An object is present and is no text: it differs from every one.
      return (seen) => compare(seen, operand, number) !== 0;
  }
};

const single = (value: string): Test => {
  if (value === '*') return () => true;
  const [, operator, operand] = OPERATOR.exec(value) ?? [];
  if (operator !== undefined && operand !== undefined) return ordering(operator, operand);
  return (seen) => textOf(seen) === value;
};

/** Alternatives are values of their own; `!=a|b` is neither. */
const parseValue = (value: string): Test => {
  const tests = value.split('|');
  if (value.startsWith('!=') && tests.slice(1).every((other) => !OPERATOR.test(other) && other !== '*')) {
    const differs = tests.map((other, index) => single(index === 0 ? other : `!=${other}`));
    return (seen) => differs.every((test) => test(seen));
  }
  const alternatives = tests.map(single);
  return alternatives.length === 1 && alternatives[0] !== undefined
    ? alternatives[0]
    : (seen) => alternatives.some((test) => test(seen));
};

/** An array holds if one element does (contract 2.8). */
const holdsFor = (test: Test, seen: Json): boolean =>
  Array.isArray(seen) ? (seen as readonly Json[]).some((element) => holdsFor(test, element)) : test(seen);

/** Follows a path through own members only; through an array by index, else into each of its elements. */
const follow = (value: Json | undefined, path: readonly string[], from: number): Json | undefined => {
  let seen = value;
  for (let index = from; index < path.length; index += 1) {
    const name = path[index] ?? '';
    if (Array.isArray(seen)) {
      const elements = seen as readonly Json[];
      if (/^\d+$/.test(name)) seen = elements[Number(name)];
      else {
        const found = elements.map((element) => follow(element, path, index)).filter((one) => one !== undefined);
        return found.length === 0 ? undefined : found;
      }
    } else if (isObject(seen) && Object.hasOwn(seen, name)) seen = seen[name];
    else return undefined;
  }
  return seen;
};

const lookup = (key: string): ((facts: RuleFacts) => Json | undefined) => {
  const path = key.split('.');
  const [root] = path;
  if (path.length > 1 && root === 'context') return ({ context }) => follow(context, path, 1);
  if (path.length > 1 && root === 'action') return ({ action }) => follow(action ?? undefined, path, 1);
  return ({ npcState }) => follow(npcState, path, 0);
};

/** Makes one `[key, value]` pair of a rule ready for matching (contract 2.8). */
export const parseCondition = ([key, expected]: RuleCondition): Condition => {
  const test = parseValue(expected);
  return {
    key,
    expected,
    look: lookup(key),
    holds: (seen) => seen !== undefined && holdsFor(test, seen),
  };
};
