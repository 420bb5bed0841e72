import { InvalidArgumentError } from 'commander';

import { instantOf } from '../../kernel/base/timestamp.js';

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The first and last time of a day (UTC). */
const DAY = { begins: 'T00:00:00.000Z', ends: 'T23:59:59.999Z' } as const;

const FORMS = 'a day such as 2026-07-01 (UTC), a time such as 2026-07-01T09:30:00Z';

/** A time or a day as written; null for anything else, and for a day that does not exist. */
const writtenMoment = (text: string, ofDay: string): string | null => {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}${ofDay}` : text;
  return instantOf(time) === null ? null : time;
};

const momentOf =
  (nowMs: () => number, ofDay: string) =>
  (text: string): string => {
    const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
    if (count !== undefined && unit !== undefined)
      return new Date(nowMs() - Number(count) * (UNIT_MS[unit] ?? 0)).toISOString();
    const written = writtenMoment(text, ofDay);
    if (written !== null) return written;
    throw new InvalidArgumentError(`It must be ${FORMS}, or an age such as 7d, 12h or 30m.`);
  };

/** Parses a time (RFC 3339), a day (its beginning) or an age (`7d`, `12h`, `30m`). @returns an RFC 3339 time */
export const sinceOf = (nowMs: () => number): ((text: string) => string) => momentOf(nowMs, DAY.begins);

/** The same for the end of a range: a day means its end. */
export const untilOf = (nowMs: () => number): ((text: string) => string) => momentOf(nowMs, DAY.ends);

/** Parses a time to come: a day means its end. */
export const expiryOf = (text: string): string => {
  const written = writtenMoment(text, DAY.ends);
  if (written !== null) return written;
  throw new InvalidArgumentError(`It must be ${FORMS}.`);
};

/** Parses a revision, or the same as `sinceOf`. */
export const fromOf =
  (nowMs: () => number) =>
  (text: string): string =>
    /^\d+$/.test(text) ? text : sinceOf(nowMs)(text);

/** Parses a revision, or the same as `untilOf`. */
export const asOfOf =
  (nowMs: () => number) =>
  (text: string): string =>
    /^\d+$/.test(text) ? text : untilOf(nowMs)(text);
