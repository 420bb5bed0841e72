import { isStanding, memories, memoriesListed, type MemoryRow } from '../../../projections/memories.js';
import type { ListQuery, ReadModels } from '../../ports/read-models.js';
import { yieldToEventLoop } from '../../concurrency/yield-to-event-loop.js';
import type { VisibleRange } from './visible-range.js';

/** `limit` and `bytes` are those of one read. */
export type MemoriesAsked = Pick<ListQuery, 'direction' | 'tags' | 'limit' | 'bytes'>;

/**
 * The memories of a mind that are visible in a range, read by read; some reads may show none. Other work runs between two reads.
 * Raises what the read models raise.
 */
export async function* visibleMemories(
  readModels: Pick<ReadModels, 'list'>,
  stream: string,
  { asOf, someRetracted, ...within }: VisibleRange,
  asked: MemoriesAsked,
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
