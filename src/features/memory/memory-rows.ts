import { memories, type MemoriesRow, type MemoryRow } from '../../../projections/memories.js';
import { rowKey } from '../../kernel/read-models/row-key.js';
import type { ReadModels } from '../../ports/read-models.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';

/** How many rows are read at a time. */
const READ_ROWS = 64;

/**
 * The memories of a mind with these ids, in their current form; unknown ids are left out. Other work runs between two reads. Propagates errors from
 * the read models.
 */
export const memoryRows = async (
  readModels: Pick<ReadModels, 'getAll'>,
  stream: string,
  memoryIds: readonly string[],
): Promise<ReadonlyMap<string, MemoryRow>> => {
  const found = new Map<string, MemoryRow>();
  for (let at = 0; at < memoryIds.length; at += READ_ROWS) {
    const keys = memoryIds.slice(at, at + READ_ROWS).map((memoryId) => rowKey(stream, memoryId));
    for (const row of (await readModels.getAll(memories, keys)).values()) {
      const memory = row as unknown as MemoriesRow;
      // A clear has an id as well.
      if (memory.kind === 'memory') found.set(memory.memoryId, memory);
    }
    await yieldToEventLoop();
  }
  return found;
};
