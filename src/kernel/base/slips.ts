import { distance } from 'fastest-levenshtein';

/** How many inserted, removed or replaced letters turn one name into the other. */
export const slipsBetween = (one: string, other: string): number => distance(one, other);

/** Whether at most `slips` inserted, removed or replaced letters turn one name into the other. */
export const areWithin = (slips: number, one: string, other: string): boolean =>
  Math.abs(one.length - other.length) <= slips && slipsBetween(one, other) <= slips;
