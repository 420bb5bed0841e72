/** A set of small numbers as text, six to a character: for 256 × 256 tiles it takes 11 kB in a checkpoint. */

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const BITS = 6;
const values = new Map(Array.from(DIGITS, (digit, value) => [digit, value]));

/** The empty set of numbers from 0 to below `size`. */
export const emptyBitmap = (size: number): string => 'A'.repeat(Math.ceil(size / BITS));

const digitAt = (bitmap: string, number: number): number => values.get(bitmap[Math.floor(number / BITS)] ?? 'A') ?? 0;

export const bitmapHas = (bitmap: string, number: number): boolean =>
  ((digitAt(bitmap, number) >> (number % BITS)) & 1) === 1;

/** The set with this number added; it must be below the size that the set was made for. */
export const bitmapWith = (bitmap: string, number: number): string => {
  const place = Math.floor(number / BITS);
  const digit = DIGITS[digitAt(bitmap, number) | (1 << (number % BITS))] ?? 'A';
  return `${bitmap.slice(0, place)}${digit}${bitmap.slice(place + 1)}`;
};
