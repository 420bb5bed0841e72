/** The order in which rows sort: by UTF-8 bytes, which is by code point. */
export const compareOrders = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));
