import type { OrderRange, ReadModels } from '../../ports/read-models.js';
import type { Moment } from '../../ports/snapshots.js';
import { clearsOf, memories } from '../../../projections/memories.js';
import { isArriving } from '../../domain/npc/state.js';
import { revisionOrder } from '../../domain/shared/row-order.js';
import { mindFold } from '../minds/mind.js';
import type { Lanes } from '../streams/lanes.js';

/** Where the memories of a mind lie that a reader may see; `asOf` is the revision as of which they are seen, absent for now. */
export type VisibleRange = OrderRange & { readonly asOf?: number };

/**
 * What of a mind's memories is visible: those after its last clear (contract 3.4). Of an archived mind nothing is, until it is revived (contract
 * 2.1). At an earlier moment it is what was visible then; whether the mind is archived does not count.
 * @param seen the revision up to which the caller's read model knows the mind
 * @returns null when nothing is visible; raises what the event store and the read models raise
 */
export const visibleRange = async (
  { lanes, readModels }: { readonly lanes: Lanes; readonly readModels: Pick<ReadModels, 'list'> },
  stream: string,
  moment: Moment | 'now',
  seen: number,
): Promise<VisibleRange | null> => {
  // From the events, so that a clear counts at once, however late the read model is.
  const { state, revision } = await lanes.current(stream, mindFold);
  const { origin } = state;
  // What a soul brought is seen as a whole or not at all.
  if (isArriving(state) || (origin !== null && seen < origin.arrivedAt)) return null;
  if (moment === 'now') {
    if (revision < 0 || state.archived) return null;
    const { clearedAt } = state.memories;
    return clearedAt < 0 ? {} : { above: revisionOrder(clearedAt) };
  }
  const asOf = 'revision' in moment ? moment.revision : (await lanes.asOf(stream, mindFold, moment)).revision;
  if (asOf < (origin?.arrivedAt ?? 0)) return null;
  const upTo = revisionOrder(asOf);
  const { rows } = await readModels.list(memories, {
    partition: clearsOf(stream),
    direction: 'descending',
    within: { upTo },
    limit: 1,
  });
  const [clear] = rows;
  return { ...(clear === undefined ? {} : { above: clear.order }), upTo, asOf };
};
