/**
 * What one append holds at most. KurrentDB 25 takes 1,048,576 bytes at once, counted as `countedBytes` does; EventStoreDB 23.10 counts data alone and
 * takes as many. Every profile has the same bounds, so that what one of them records fits into every other one.
 */
export const APPEND_BYTES = 1_048_000;
/** Of the data of one event, in bytes of JSON. */
export const EVENT_BYTES = 900_000;
export const APPEND_EVENTS = 500;

/** What an event takes of APPEND_BYTES: data and metadata as they are sent (JSON in UTF-8), and twice the length of its type in UTF-16 units. */
export const countedBytes = ({
  type,
  data,
  meta,
}: {
  readonly type: string;
  readonly data: string;
  readonly meta: string;
}): number => Buffer.byteLength(data) + Buffer.byteLength(meta) + 2 * type.length;
