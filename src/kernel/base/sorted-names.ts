/** How many names are sorted at a time. */
export const SORTED_AT_ONCE = 2_048;
/** How many are merged before yielding. */
const MERGED_AT_ONCE = 8_192;

/** Sorts names by UTF-16 code units, as JCS requires (RFC 8785). It yields whenever the driver may pause. */
export const sortedNames = (names: readonly string[]): Generator<number, readonly string[], void> =>
  inOrder(names, (one, other) => (one < other ? -1 : one > other ? 1 : 0));

/** Sorts by a comparison function as for Array.sort. It yields whenever the driver may pause. */
export function* inOrder<Item>(
  items: readonly Item[],
  order: (one: Item, other: Item) => number,
): Generator<number, readonly Item[], void> {
  if (items.length <= SORTED_AT_ONCE) return [...items].sort(order);
  const middle = items.length >> 1;
  const left = yield* inOrder(items.slice(0, middle), order);
  const right = yield* inOrder(items.slice(middle), order);
  const merged: Item[] = [];
  for (let at = 0, other = 0; at < left.length || other < right.length;) {
    const mine = left[at] as Item;
    const isMine = at < left.length && (other >= right.length || order(mine, right[other] as Item) <= 0);
    merged.push(isMine ? mine : (right[other] as Item));
    if (isMine) at += 1;
    else other += 1;
    if (merged.length % MERGED_AT_ONCE === 0) yield MERGED_AT_ONCE;
  }
  yield items.length;
  return merged;
}
