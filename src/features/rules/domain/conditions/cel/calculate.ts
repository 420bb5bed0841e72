import { ARRAY_ELEMENTS } from '../../key-tree.js';
import { fail, type Result, type CelRun, take } from './run.js';
import { type CelList, type CelValue, isList, type Operator } from './tree.js';

/** How many elements of a list, and UTF-16 units of a text, are joined in one step. */
export const STEP_ELEMENTS = 4;
export const STEP_CHARS = 32;

type Sign = Extract<Operator, '+' | '-' | '*' | '/' | '%'>;

const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n];

/** A whole number, if it fits into 64 bits. */
export const wholeNumber = (run: CelRun, value: bigint, at: number): Result =>
  value >= LEAST && value <= MOST ? value : fail(run, 'tooLarge', at);

/** A double, if it is finite: an infinite one would exceed every limit of a rule. */
export const double = (run: CelRun, value: number, at: number): Result =>
  Number.isFinite(value) ? value : fail(run, 'tooLarge', at);

const ofWholes = (sign: Sign, left: bigint, right: bigint): bigint => {
  switch (sign) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '%':
      return left % right;
  }
};

const ofDoubles = (sign: Sign, left: number, right: number): number => {
  switch (sign) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '%':
      return left % right;
  }
};

/** Whether a value is a number, of an expression or of JSON. */
export const isNumber = (value: CelValue): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

const joinedTexts = (run: CelRun, left: string, right: string, at: number): Result =>
  take(run, Math.ceil((left.length + right.length) / STEP_CHARS), at) ? left + right : undefined;

/** A list that is short enough to be looked at. */
export const isShort = (run: CelRun, list: CelList, at: number): boolean => {
  if (list.length <= ARRAY_ELEMENTS) return true;
  fail(run, 'longList', at);
  return false;
};

const joinedLists = (run: CelRun, left: CelList, right: CelList, at: number): Result => {
  if (!isShort(run, left, at) || !isShort(run, right, at)) return undefined;
  return take(run, Math.ceil((left.length + right.length) / STEP_ELEMENTS), at) ? [...left, ...right] : undefined;
};

/** Calculates with two numbers; `+` also joins two texts or two lists. */
export const calculated = (run: CelRun, sign: Sign, left: CelValue, right: CelValue, at: number): Result => {
  if (isNumber(left) && isNumber(right)) {
    if ((sign === '/' || sign === '%') && Number(right) === 0) return fail(run, 'zero', at);
    return typeof left === 'bigint' && typeof right === 'bigint'
      ? wholeNumber(run, ofWholes(sign, left, right), at)
      : double(run, ofDoubles(sign, Number(left), Number(right)), at);
  }
  if (sign !== '+') return fail(run, 'types', at);
  if (typeof left === 'string' && typeof right === 'string') return joinedTexts(run, left, right, at);
  return isList(left) && isList(right) ? joinedLists(run, left, right, at) : fail(run, 'types', at);
};
