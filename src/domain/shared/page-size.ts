/**
 * A page of whatever is read ends with the item that brings it to so many bytes of JSON (contract 1.2 lets one event hold 900,000, 10.1 ends a
 * page near 4 MiB): what a reader holds at once follows from this and not from how many items it asked for.
 */
export const PAGE_BYTES = 4 * 1024 * 1024;

/** The items up to the one that fills a page: at least one where there are any. */
export function* untilFull<Item>(
  items: Iterable<Item>,
  bytesOf: (item: Item) => number,
  bound: number = PAGE_BYTES,
): Generator<Item, void, undefined> {
  let bytes = 0;
  for (const item of items) {
    yield item;
    bytes += bytesOf(item);
    if (bytes >= bound) return;
  }
}
