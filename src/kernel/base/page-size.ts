/** A page ends with the item with which it reaches this many bytes of JSON, near 4 MiB, however many items were requested. */
export const PAGE_BYTES = 4 * 1024 * 1024;

/**
 * A read of the event store ends with the event with which it reaches this many bytes of JSON (one event holds up to 900,000). Several reads make one
 * page of an answer.
 */
export const READ_BYTES = 1024 * 1024;

/** Code that reads or writes many events yields after this many bytes of JSON: about half a millisecond. */
export const PAUSE_BYTES = 48 * 1024;

/** The items up to the one that fills a page; at least one unless the list is empty. */
export function* untilFull<Item>(
  items: Iterable<Item>,
  bytesOf: (item: Item) => number,
  bound: number,
): Generator<Item, void, undefined> {
  let bytes = 0;
  for (const item of items) {
    yield item;
    bytes += bytesOf(item);
    if (bytes >= bound) return;
  }
}
