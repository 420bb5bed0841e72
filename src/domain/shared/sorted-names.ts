/** How many names are sorted at once. */
export const SORTED_AT_ONCE = 2_048;
/** How many are merged before other work has its turn. */
const MERGED_AT_ONCE = 32_768;

/** Names in the order of their UTF-16 code units, as JCS wants them (RFC 8785). It yields whenever the driver may pause. */
export function* sortedNames(names: readonly string[]): Generator<number, readonly string[], void> {
  if (names.length <= SORTED_AT_ONCE) return [...names].sort();
  const middle = names.length >> 1;
  const left = yield* sortedNames(names.slice(0, middle));
  const right = yield* sortedNames(names.slice(middle));
  const merged: string[] = [];
  for (let at = 0, other = 0; at < left.length || other < right.length;) {
    const mine = left[at];
    const theirs = right[other];
    if (theirs === undefined || (mine !== undefined && mine < theirs)) {
      merged.push(mine as string);
      at += 1;
    } else {
      merged.push(theirs);
      other += 1;
    }
    if (merged.length % MERGED_AT_ONCE === 0) yield MERGED_AT_ONCE;
  }
  yield names.length;
  return merged;
}
