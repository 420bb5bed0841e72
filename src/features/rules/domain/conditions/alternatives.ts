import { isLongNumber, type Quantity } from './numbers.js';

/** A text, number or boolean to equal. */
export type Operand = {
  readonly text: string;
  /** Quoted: exactly this text, and nothing that is only written like it. */
  readonly isQuoted: boolean;
  /** The number that the text is; null if it is none, or quoted. */
  readonly quantity: Quantity | null;
};

export type CountComparison = '<' | '<=' | '>' | '>=' | '=' | '!=';
export type Order = Exclude<CountComparison, '=' | '!='>;

/** An alternative that looks at one element. */
export type ElementAlternative =
  | { readonly is: 'present' }
  | { readonly is: 'equal'; readonly to: Operand }
  /** Something that equals none of these. */
  | { readonly is: 'other'; readonly than: readonly Operand[] }
  | { readonly is: 'number-order'; readonly order: Order; readonly to: Quantity }
  | { readonly is: 'text-order'; readonly order: Order; readonly to: string }
  | { readonly is: 'range'; readonly from: Quantity; readonly to: Quantity };

/** One of the alternatives of a value. */
export type Alternative =
  | ElementAlternative
  | { readonly is: 'absent' }
  | { readonly is: 'any' | 'none' | 'all'; readonly of: readonly ElementAlternative[] }
  | {
      readonly is: 'count';
      readonly of: readonly ElementAlternative[];
      readonly comparison: CountComparison;
      readonly to: number;
    };

/** How many tests each value takes for some alternatives. */
export const countElementTests = (alternatives: readonly Alternative[]): number =>
  alternatives.reduce(
    (sum, one) => sum + (one.is === 'other' ? one.than.length : 'of' in one ? countElementTests(one.of) : 1),
    0,
  );

/** How many numbers in some alternatives are longer than a double. */
const countLongNumbers = (alternatives: readonly Alternative[]): number =>
  alternatives.reduce((sum, one) => {
    if ('of' in one) return sum + countLongNumbers(one.of);
    const numbers =
      one.is === 'range'
        ? [one.from, one.to]
        : one.is === 'number-order'
          ? [one.to]
          : (one.is === 'equal' ? [one.to] : one.is === 'other' ? one.than : []).map(({ quantity }) => quantity);
    return sum + numbers.filter((quantity) => quantity !== null && isLongNumber(quantity)).length;
  }, 0);

/** How many tests a number counts for, in addition to its own, that is longer than a double. */
const LONG_NUMBER = 3;

/** What some alternatives cost for each value, in tests. */
export const testCost = (alternatives: readonly Alternative[]): number =>
  countElementTests(alternatives) + LONG_NUMBER * countLongNumbers(alternatives);
