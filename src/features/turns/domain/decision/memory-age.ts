import { type AgeWord, COUNT } from '../../../rules/domain/prompt/own-prompt.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const YEAR = 365 * DAY;
const MONTH = YEAR / 12;

/** From how many seconds on an age has which word, and what is counted then; the oldest first. */
const STEPS: readonly { readonly from: number; readonly word: AgeWord; readonly unit: number }[] = [
  { from: 2 * YEAR, word: 'years', unit: YEAR },
  { from: YEAR, word: 'year', unit: YEAR },
  { from: 2 * MONTH, word: 'months', unit: MONTH },
  { from: MONTH, word: 'month', unit: MONTH },
  { from: 2 * WEEK, word: 'weeks', unit: WEEK },
  { from: WEEK, word: 'week', unit: WEEK },
  { from: 2 * DAY, word: 'days', unit: DAY },
  { from: DAY, word: 'day', unit: DAY },
  { from: 2 * HOUR, word: 'hours', unit: HOUR },
  { from: HOUR, word: 'hour', unit: HOUR },
  { from: 2 * MINUTE, word: 'minutes', unit: MINUTE },
  // What was stored after a turn was opened is still new: clocks of servers differ a little.
  { from: -MINUTE, word: 'now', unit: MINUTE },
];

/** @internal A test reads each of them. */
export const ENGLISH: Readonly<Record<AgeWord, string>> = {
  now: 'just now',
  minutes: '{n} minutes ago',
  hour: 'an hour ago',
  hours: '{n} hours ago',
  day: 'yesterday',
  days: '{n} days ago',
  week: 'a week ago',
  weeks: '{n} weeks ago',
  month: 'a month ago',
  months: '{n} months ago',
  year: 'a year ago',
  years: '{n} years ago',
};
const NUMBERS = ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'] as const;

/**
 * How long ago something was, in words: of English, or of the ruleset where it has some.
 * @returns null for what lies in the future, because a game may set its clock back
 */
export const ageInWords = (seconds: number, own: Readonly<Partial<Record<AgeWord, string>>> = {}): string | null => {
  const step = STEPS.find(({ from }) => seconds >= from);
  if (step === undefined) return null;
  const { word, unit } = step;
  const count = Math.floor(seconds / unit);
  const words = own[word];
  return words === undefined
    ? ENGLISH[word].replace(COUNT, NUMBERS[count - 2] ?? String(count))
    : words.replaceAll(COUNT, () => String(count));
};
