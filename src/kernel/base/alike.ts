import { areWithin } from './slips.js';

/** The maximum length of a compared name. */
export const LONGEST_NAME = 64;
/** A shorter name does not count as a part of another one, because it says little. */
const PART_CHARS = 5;
/** From how many characters on a name may contain one typing error, and two. */
const [ONE_SLIP_CHARS, TWO_SLIPS_CHARS] = [4, 8];

/** A name in the form in which it is compared: without case and separators, and its letters in order. */
export type Bare = { readonly text: string; readonly letters: string };

export const bareOf = (name: string): Bare => {
  const text = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return { text, letters: [...text].sort().join('') };
};

/** `areWithin` counts two swapped letters as two errors. */
const SWAPPED = 2;

/** `isMisspelt`, for names that are compared with many others. */
export const areSlips = (one: Bare, other: Bare): boolean => {
  const chars = Math.min(one.text.length, other.text.length);
  if (one.text === other.text) return chars > 0;
  const slips = chars >= TWO_SLIPS_CHARS ? 2 : chars >= ONE_SLIP_CHARS ? 1 : 0;
  if (Math.abs(one.text.length - other.text.length) > slips) return false;
  const isSwapped = chars >= ONE_SLIP_CHARS && one.letters === other.letters;
  return areWithin(isSwapped ? SWAPPED : slips, one.text, other.text);
};

const isPart = (one: Bare, other: Bare): boolean =>
  Math.min(one.text.length, other.text.length) >= PART_CHARS &&
  (one.text.includes(other.text) || other.text.includes(one.text));

/** `isAlike`, for names that are compared with many others. */
export const areAlike = (one: Bare, other: Bare): boolean => isPart(one, other) || areSlips(one, other);

/** Whether one name may be a misspelling of the other: different case or separators, a part of it, or one or two typing errors. */
export const isAlike = (written: string, known: string): boolean =>
  written.length <= LONGEST_NAME && areAlike(bareOf(written), bareOf(known));

/** Like `isAlike`, but a name that is a part of the other is another name: `playerStats` is not `player`. */
export const isMisspelt = (written: string, known: string): boolean =>
  written.length <= LONGEST_NAME && areSlips(bareOf(written), bareOf(known));
