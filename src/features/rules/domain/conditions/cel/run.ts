import type { Json } from '../../../../../kernel/base/json.js';
import type { CelRoot, CelValue } from './tree.js';

/** Why an expression has no result, as the record shows it. A text is short, because a decision records up to 64 of them. */
export const CEL_ERRORS = {
  missing: 'a member is missing',
  notObject: 'only objects have members',
  noElement: 'the list has no such element',
  longList: 'the list has more than 1,000 elements',
  types: 'values of these types do not go together',
  notBoolean: 'a value is neither true nor false',
  zero: 'a number is divided by zero',
  tooLarge: 'the number is too large',
  inexact: 'whole numbers of 2^53 or more are not exact',
  notNumber: 'the text is not a number',
  steps: 'the expression takes too many steps',
} as const;
export type CelError = keyof typeof CEL_ERRORS;

/** One run of an expression. */
export type CelRun = {
  readonly roots: Readonly<Record<CelRoot, Json>>;
  /** The element that a loop is at. */
  element: CelValue;
  /** How many steps are left; below zero, the run has failed. */
  left: number;
  /** The last error. */
  failure: { readonly error: CelError; readonly at: number } | null;
};

/** The result of a node; undefined if it has none, because of `failure`. */
export type Result = CelValue | undefined;

/**
 * Notes an error. It is a value and not thrown, because rules often read what is missing.
 * @returns undefined: no result, of whatever type the caller has
 */
export const fail = (run: CelRun, error: CelError, at: number): boolean | undefined => {
  run.failure = { error, at };
  return undefined;
};

/** Takes steps before they are done. @returns whether there were enough */
export const take = (run: CelRun, steps: number, at: number): boolean => {
  if (run.left >= steps) {
    run.left -= steps;
    return true;
  }
  run.left = -1;
  fail(run, 'steps', at);
  return false;
};
