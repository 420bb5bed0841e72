/**
 * The maximum size of one append. KurrentDB 25 accepts 1,048,576 bytes per append, counted as `countedBytes` does; EventStoreDB 23.10 has the same
 * limit but counts only the data. All profiles share these bounds, so that whatever one of them records fits into every other.
 */
export const APPEND_BYTES = 1_048_000;
/** The maximum data of one event, in bytes of JSON. */
export const EVENT_BYTES = 900_000;
export const APPEND_EVENTS = 500;

/**
 * How many bytes of APPEND_BYTES an event uses: its data and metadata as they are sent (JSON in UTF-8), plus twice the length of its type in UTF-16
 * units.
 */
export const countedBytes = ({
  type,
  data,
  meta,
}: {
  readonly type: string;
  readonly data: string;
  readonly meta: string;
}): number => Buffer.byteLength(data) + Buffer.byteLength(meta) + 2 * type.length;
