import { memberOf } from '../reach.js';
import { isNumber, isShort, STEP_ELEMENTS } from './calculate.js';
import { fail, type Result, type CelRun, take } from './run.js';
import { type CelList, type CelValue, isList, type Operator } from './tree.js';

/** How many UTF-16 units are compared for equality in one step, and for an order. */
const EQUAL_CHARS = 128;
const ORDER_CHARS = 16;

type Scalar = string | number | bigint | boolean | null;

const isScalar = (value: CelValue): value is Scalar => typeof value !== 'object' || value === null;

const LAST_EXACT = Number.MAX_SAFE_INTEGER;

/** Whether two numbers look equal only because JSON has lost the digits in which they may differ. */
const looksEqual = (left: number | bigint, right: number | bigint): boolean => {
  if (typeof left === 'bigint' && typeof right === 'bigint') return false;
  const [one, other] = [Number(left), Number(right)];
  return one === other && Math.abs(one) > LAST_EXACT;
};

/** Whether two values are the same. Null if they are of different types. */
const areSame = (run: CelRun, left: Scalar, right: Scalar, at: number): boolean | null | undefined => {
  if (left === null || right === null) return left === right;
  if (isNumber(left) && isNumber(right)) {
    if (looksEqual(left, right)) return fail(run, 'inexact', at);
    // A bigint and a double are equal if they are the same number.
    return typeof left === typeof right ? left === right : !(left < right) && !(left > right);
  }
  if (typeof left !== typeof right) return null;
  if (typeof left !== 'string' || typeof right !== 'string') return left === right;
  if (left.length !== right.length) return false;
  return take(run, Math.floor(left.length / EQUAL_CHARS), at) ? left === right : undefined;
};

const areSameLists = (run: CelRun, left: CelList, right: CelList, at: number): boolean | undefined => {
  if (!isShort(run, left, at) || !isShort(run, right, at)) return undefined;
  if (left.length !== right.length) return false;
  if (!take(run, Math.ceil(left.length / STEP_ELEMENTS), at)) return undefined;
  for (const [index, one] of left.entries()) {
    const other = right[index] ?? null;
    if (!isScalar(one) || !isScalar(other)) return fail(run, 'types', at);
    const same = areSame(run, one, other, at);
    if (same === null) return fail(run, 'types', at);
    if (same !== true) return same;
  }
  return true;
};

/** Whether two values are equal. A number and a text are not compared, because games keep numbers as text. */
export const areEqual = (run: CelRun, left: CelValue, right: CelValue, at: number): boolean | undefined => {
  if (left === null || right === null) return left === right;
  if (isScalar(left) && isScalar(right)) {
    const same = areSame(run, left, right, at);
    return same === null ? fail(run, 'types', at) : same;
  }
  return isList(left) && isList(right) ? areSameLists(run, left, right, at) : fail(run, 'types', at);
};

type Order = Extract<Operator, '<' | '<=' | '>' | '>='>;

const ordered = (order: Order, left: number | bigint, right: number | bigint): boolean => {
  switch (order) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
};

/** Units from here on are surrogates, which stand for code points above all other units; and the first unit above those. */
const [SURROGATES, ABOVE] = [0xd800, 0xe000];

const isSurrogate = (unit: number): boolean => unit >= SURROGATES && unit < ABOVE;

/** Negative, zero or positive, by code point. A loop, which stops where the texts differ. */
const compareTexts = (left: string, right: string): number => {
  const chars = Math.min(left.length, right.length);
  for (let index = 0; index < chars; index += 1) {
    const [one, other] = [left.charCodeAt(index), right.charCodeAt(index)];
    if (one === other) continue;
    if (isSurrogate(one) === isSurrogate(other)) return one - other;
    return isSurrogate(one) ? 1 : -1;
  }
  return left.length - right.length;
};

/** Whether two numbers or two texts are in an order. */
export const areOrdered = (run: CelRun, order: Order, left: CelValue, right: CelValue, at: number): Result => {
  if (isNumber(left) && isNumber(right))
    return looksEqual(left, right) ? fail(run, 'inexact', at) : ordered(order, left, right);
  if (typeof left !== 'string' || typeof right !== 'string') return fail(run, 'types', at);
  return take(run, Math.ceil(Math.min(left.length, right.length) / ORDER_CHARS), at)
    ? ordered(order, compareTexts(left, right), 0)
    : undefined;
};

const hasText = (run: CelRun, wanted: string, list: CelList, at: number): boolean | undefined =>
  take(run, list.length * Math.floor(wanted.length / EQUAL_CHARS), at) ? list.includes(wanted) : undefined;

const hasNumber = (run: CelRun, wanted: number | bigint, list: CelList, at: number): boolean | undefined => {
  const isInexact = Math.abs(Number(wanted)) > LAST_EXACT;
  for (const element of list) {
    if (typeof element !== 'number' && typeof element !== 'bigint') continue;
    if (isInexact && looksEqual(element, wanted)) return fail(run, 'inexact', at);
    if (!(element < wanted) && !(element > wanted)) return true;
  }
  return false;
};

const search = (run: CelRun, wanted: Scalar, list: CelList, at: number): boolean | undefined => {
  if (typeof wanted === 'string') return hasText(run, wanted, list, at);
  return isNumber(wanted) ? hasNumber(run, wanted, list, at) : list.includes(wanted);
};

/** Whether `==` would compare two values. */
const areComparable = (one: Scalar, other: CelValue): boolean =>
  one === null || other === null || typeof one === typeof other || (isNumber(one) && isNumber(other));

const hasElement = (run: CelRun, wanted: Scalar, list: CelList, at: number): boolean | undefined => {
  if (!isShort(run, list, at) || !take(run, Math.ceil(list.length / STEP_ELEMENTS), at)) return undefined;
  const found = search(run, wanted, list, at);
  // A model could hide an element from a rule in a list, in an object or in another type.
  return found !== false || list.every((one) => areComparable(wanted, one)) ? found : fail(run, 'types', at);
};

/** Whether a list has an element, or an object a member, which may be null. */
export const isIn = (run: CelRun, wanted: CelValue, holder: CelValue, at: number): boolean | undefined => {
  if (!isScalar(wanted) || isScalar(holder)) return fail(run, 'types', at);
  if (isList(holder)) return hasElement(run, wanted, holder, at);
  return typeof wanted === 'string' ? memberOf(holder, wanted) !== undefined : fail(run, 'types', at);
};
