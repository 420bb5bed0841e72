import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import type { ListQuery, OrderRange, ReadModels } from '../../ports/read-models.js';
import type { Moment } from '../../ports/snapshots.js';
import { clearsOf, isStanding, memories, memoriesListed, type MemoryRow } from '../../../projections/memories.js';
import { isArriving } from '../npcs/domain/state.js';
import { revisionOrder } from '../../kernel/read-models/row-order.js';
import { mindFold } from '../npcs/mind-fold.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { requireReached } from '../../kernel/read-models/read-wait.js';

/**
 * The range of a mind's memories that a reader may see; `asOf` is the revision as of which they are seen, absent for now. `someRetracted`: of these,
 * only those that `isStanding` accepts.
 */
export type VisibleRange = OrderRange & { readonly asOf?: number; readonly someRetracted?: true };

/**
 * The visible memories of a mind: those after its last clear, unless they were retracted. An archived mind has no visible memories until it is
 * revived. At an earlier moment it is what was visible at that moment, whether or not the mind is archived.
 * @param seen the revision up to which the caller's read model knows the mind
 * @returns null if nothing is visible
 * @throws Rejection READ_MODEL_BEHIND if it has not applied a retraction yet; what the event store and the read models throw
 */
export const visibleRange = async (
  {
    writers,
    readModels,
  }: { readonly writers: StreamWriters; readonly readModels: Pick<ReadModels, 'list' | 'reached'> },
  stream: string,
  moment: Moment | 'now',
  seen: number,
): Promise<VisibleRange | null> => {
  // From the events, so that a clear takes effect immediately, however late the read model is.
  const { state, revision } = await writers.current(stream, mindFold);
  const { origin } = state;
  // The memories of a soul become visible all together.
  /** Rows record what was retracted: a read model that has not applied a retraction must not show the memory. */
  const hidden = async (until: number): Promise<Pick<VisibleRange, 'someRetracted'>> => {
    const { retractedAt } = state.memories;
    if (retractedAt < 0) return {};
    const needed = Math.min(until, retractedAt);
    if (seen < needed) await requireReached(readModels, memories, stream, needed);
    return { someRetracted: true };
  };
  if (isArriving(state) || (origin !== null && seen < origin.arrivedAt)) return null;
  if (moment === 'now') {
    if (revision < 0 || state.archived) return null;
    const { clearedAt } = state.memories;
    return { ...(clearedAt < 0 ? {} : { above: revisionOrder(clearedAt) }), ...(await hidden(revision)) };
  }
  const asOf = 'revision' in moment ? moment.revision : (await writers.asOf(stream, mindFold, moment)).revision;
  if (asOf < (origin?.arrivedAt ?? 0)) return null;
  const upTo = revisionOrder(asOf);
  const { rows } = await readModels.list(memories, {
    partition: clearsOf(stream),
    direction: 'descending',
    within: { upTo },
    limit: 1,
  });
  const [clear] = rows;
  return { ...(clear === undefined ? {} : { above: clear.order }), upTo, asOf, ...(await hidden(asOf)) };
};

/** `limit` and `bytes` apply to one read. */
export type MemoriesQuery = Pick<ListQuery, 'direction' | 'tags' | 'limit' | 'bytes'>;

/**
 * The memories of a mind that are visible in a range, read by read; some reads may yield none. Other work runs between two reads. Propagates errors
 * from the read models.
 */
export async function* visibleMemories(
  readModels: Pick<ReadModels, 'list'>,
  stream: string,
  { asOf, someRetracted, ...within }: VisibleRange,
  asked: MemoriesQuery,
): AsyncGenerator<readonly MemoryRow[], void, undefined> {
  for (let beyond: string | undefined; ;) {
    const at = beyond === undefined ? {} : { beyond };
    const { rows, more } = await readModels.list(memories, {
      ...{ partition: memoriesListed(stream), within },
      ...asked,
      ...at,
    });
    const shown = rows.map(({ row }) => row as unknown as MemoryRow);
    yield someRetracted === true ? shown.filter((row) => isStanding(row, asOf)) : shown;
    beyond = rows.at(-1)?.order;
    if (!more || beyond === undefined) return;
    await yieldToEventLoop();
  }
}
