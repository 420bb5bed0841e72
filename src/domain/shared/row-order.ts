/** The order in which rows sort: by UTF-8 bytes, which is by code point. */
export const compareOrders = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

/** Digits of the largest revision, so that texts sort like numbers. */
const REVISION_DIGITS = 16;

/** The place of what an event made, among the rows of its stream. */
export const revisionOrder = (revision: number): string => String(revision).padStart(REVISION_DIGITS, '0');
