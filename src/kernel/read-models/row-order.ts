/** Below this, code units sort as code points do; from here on, surrogates begin. */
const FIRST_SURROGATE = 0xd800;

/** The order in which rows sort: by UTF-8 bytes, which is by code point. */
export const compareOrders = (one: string, other: string): number => {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at += 1) {
    const [left, right] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (left === right) continue;
    if (left < FIRST_SURROGATE && right < FIRST_SURROGATE) return left - right;
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  }
  return one.length - other.length;
};

/** The number of digits of the largest revision, so that their texts sort like numbers. */
const REVISION_DIGITS = 16;

/** The sort position of a row made by an event, among the rows of its stream. */
export const revisionOrder = (revision: number): string => String(revision).padStart(REVISION_DIGITS, '0');
