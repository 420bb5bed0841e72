/**
 * A mind's open turns as part of its state: a list that many states share, and the changes since it was made. This makes the cost of the next state
 * independent of the number of open turns. Only every CHANGES_KEPT-th change makes a new list.
 */
export type OpenTurns = {
  readonly list: readonly string[];
  readonly changes: readonly { readonly turnId: string; readonly open: boolean }[];
};

export const noOpenTurns: OpenTurns = { list: [], changes: [] };

/** How many changes are kept in addition to a list. */
const CHANGES_KEPT = 64;

/** The ids of the open turns, in the order in which they were opened. */
export const openTurnsOf = ({ list, changes }: OpenTurns): readonly string[] => {
  if (changes.length === 0) return list;
  const open = new Set(list);
  for (const change of changes) {
    if (change.open) open.add(change.turnId);
    else open.delete(change.turnId);
  }
  return [...open];
};

/** The open turns after another one was opened or has ended. A turn that was never opened, such as the turn of an act, ends without a trace. */
export const withTurn = (turns: OpenTurns, turnId: string, open: boolean): OpenTurns => {
  const changed = { list: turns.list, changes: [...turns.changes, { turnId, open }] };
  return changed.changes.length < CHANGES_KEPT ? changed : { list: openTurnsOf(changed), changes: [] };
};
