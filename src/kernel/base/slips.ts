import { distance } from 'fastest-levenshtein';

/** Whether at most `slips` inserted, removed or replaced letters turn one name into the other. */
export const areWithin = (slips: number, one: string, other: string): boolean =>
  Math.abs(one.length - other.length) <= slips && distance(one, other) <= slips;
