import type { Json } from '../../../../kernel/base/json.js';

/** A number by its digits: `0.<digits>` × 10^`point`. The digits have no zeros at either end; zero has none. */
type Decimal = {
  readonly isNegative: boolean;
  readonly digits: string;
  readonly point: number;
};

/** A number that was written as a text, exactly. */
type WrittenNumber = Decimal & {
  readonly double: number;
  /** How the number compares with the shortest text of its double. */
  readonly beyond: number;
};

/** A number to compare. A double is exact, except a whole one of 2^53 or more, whose last digits JSON has lost. */
export type Quantity = number | WrittenNumber;

/** Longer texts are not numbers, in UTF-16 units: as many as a value may have (RULESET_BOUNDS.valueBytes). */
const NUMBER_CHARS = 1_024;
/** Doubles keep all decimals with this many digits apart, if the exponent is no longer than EXACT_EXPONENT_CHARS. */
const EXACT_CHARS = 15;
const EXACT_EXPONENT_CHARS = 2;
/** A text with a longer exponent is not a number. */
const EXPONENT_CHARS = 9;

/** A JSON number (RFC 8259). */
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** What a number begins with. */
const isNumberStart = (unit: number): boolean => unit === 0x2d || (unit >= 0x30 && unit <= 0x39);

const withoutZerosBefore = (digits: string): string => digits.replace(/^0+/, '');

/** A loop, because a pattern would look at every run of zeros from each of its positions. */
const withoutZerosAfter = (digits: string): string => {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
};

const decimalOf = (sign: string, whole: string, fraction: string, exponent: string): Decimal => {
  const written = whole + fraction;
  const significant = withoutZerosBefore(written);
  const digits = withoutZerosAfter(significant);
  const point = digits === '' ? 0 : whole.length - (written.length - significant.length) + Number(exponent);
  return { isNegative: sign === '-' && digits !== '', digits, point };
};

/** A text as a number; null if it is not written like a JSON number. */
export const writtenNumber = (text: string): Quantity | null => {
  if (text.length > NUMBER_CHARS || !isNumberStart(text.charCodeAt(0))) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (whole === '' || exponent.length > EXPONENT_CHARS) return null;
  const double = Number(text);
  const isShort = whole.length + fraction.length <= EXACT_CHARS && exponent.length <= EXACT_EXPONENT_CHARS;
  if (isShort && !isVague(double)) return double;
  const decimal = decimalOf(sign, whole, fraction, exponent);
  return {
    ...decimal,
    double,
    beyond: Number.isFinite(double) ? compareDecimals(decimal, decimalOfDouble(double)) : 0,
  };
};

/** A value as a number, texts included, because games keep numbers as text; null if it is none. */
export const quantityOf = (value: Json): Quantity | null => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  return typeof value === 'string' ? writtenNumber(value) : null;
};

const MOST_EXACT = Number.MAX_SAFE_INTEGER;
const isExact = (double: number): boolean => double <= MOST_EXACT && double >= -MOST_EXACT;
/** Whether a number stands for several whole numbers: a double of 2^53 or more. */
export const isVague = (quantity: Quantity): boolean => typeof quantity === 'number' && !isExact(quantity);
/** Whether a number has no fraction. */
export const isWhole = (quantity: Quantity): boolean =>
  typeof quantity === 'number' ? Number.isInteger(quantity) : quantity.point >= quantity.digits.length;
/** Every finite double is written like a JSON number. */
const decimalOfDouble = (double: number): Decimal => {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(String(double)) ?? [];
  return decimalOf(sign, whole, fraction, exponent);
};

/** Negative, zero or positive, by size alone. */
const compareSizes = (one: Decimal, other: Decimal): number => {
  if (one.digits === '' || other.digits === '') return one.digits.length - other.digits.length;
  if (one.point !== other.point) return one.point - other.point;
  return one.digits < other.digits ? -1 : one.digits === other.digits ? 0 : 1;
};

const compareDecimals = (one: Decimal, other: Decimal): number => {
  if (one.isNegative !== other.isNegative) return one.isNegative ? -1 : 1;
  return one.isNegative ? compareSizes(other, one) : compareSizes(one, other);
};

/** Rounding keeps the order, so different doubles decide; otherwise what rounding took away. */
const compareWithDouble = ({ double, beyond }: WrittenNumber, other: number): number => {
  if (double === other) return beyond;
  return double < other ? -1 : 1;
};

/** The double of a number that decides most comparisons: different doubles have the order of their numbers. NaN if it decides none. */
export const decidingDouble = (quantity: Quantity | null): number => {
  if (quantity === null || isVague(quantity)) return NaN;
  return typeof quantity === 'number' ? quantity : quantity.double;
};

/** Whether a number needs more than a double, so that comparing it may take longer. */
export const isLongNumber = (quantity: Quantity): boolean => typeof quantity !== 'number';

/**
 * Compares two numbers exactly, digit by digit where doubles would not do.
 * @returns negative, zero or positive; NaN if it cannot be told, because one is a whole JSON number of 2^53 or more and the other is whole too
 */
export const compareQuantities = (one: Quantity, other: Quantity): number => {
  if (typeof one === 'number' && typeof other === 'number' && isExact(one) && isExact(other)) return one - other;
  if ((isVague(one) && isWhole(other)) || (isVague(other) && isWhole(one))) return NaN;
  if (typeof one !== 'number') {
    return typeof other === 'number' ? compareWithDouble(one, other) : compareDecimals(one, other);
  }
  return typeof other === 'number' ? one - other : -compareWithDouble(other, one);
};
