import { InvalidArgumentError } from 'commander';

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The first and last time of a day (UTC). */
const DAY = { begins: 'T00:00:00.000Z', ends: 'T23:59:59.999Z' } as const;

const momentOf =
  (nowMs: () => number, ofDay: string) =>
  (text: string): string => {
    const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
    if (count !== undefined && unit !== undefined)
      return new Date(nowMs() - Number(count) * (UNIT_MS[unit] ?? 0)).toISOString();
    if (/^\d{4}-\d\d-\d\d$/.test(text)) return `${text}${ofDay}`;
    if (/^\d{4}-\d\d-\d\d/.test(text)) return text;
    throw new InvalidArgumentError(
      'It must be a day such as 2026-07-01 (UTC), a time such as 2026-07-01T09:30:00Z, or an age such as 7d, 12h or 30m.',
    );
  };

/** Parses a time (RFC 3339), a day (its beginning) or an age (`7d`, `12h`, `30m`). @returns an RFC 3339 time */
export const sinceOf = (nowMs: () => number): ((text: string) => string) => momentOf(nowMs, DAY.begins);

/** The same for the end of a range: a day means its end. */
export const untilOf = (nowMs: () => number): ((text: string) => string) => momentOf(nowMs, DAY.ends);
