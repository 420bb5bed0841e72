import type { ReadModels } from '../../ports/read-models.js';
import { isStanding, memories, memoryTag } from '../../../projections/memories.js';
import type { MindState } from '../npcs/domain/state.js';
import { visibleMemories } from '../memory/visible-range.js';
import { requireReached } from '../../kernel/read-models/read-wait.js';
import { LORE_TYPE } from './domain/lore.js';

/** How many rows are read at a time, and how many bytes of them. */
const PAGE = { limit: 500, bytes: 262_144 };

/**
 * The texts of a mind's lore that were retracted, and that no other memory has.
 * @throws Rejection READ_MODEL_BEHIND; what the read models throw
 */
export const retractedLore = async (
  readModels: Pick<ReadModels, 'list' | 'reached'>,
  stream: string,
  { memories: { retractedAt } }: Pick<MindState, 'memories'>,
): Promise<ReadonlySet<string>> => {
  const [retracted, standing] = [new Set<string>(), new Set<string>()];
  if (retractedAt < 0) return retracted;
  await requireReached(readModels, memories, stream, retractedAt);
  const asked = { direction: 'ascending', tags: [memoryTag(LORE_TYPE)], ...PAGE } as const;
  // Cleared ones too: what was retracted before a clear stays retracted.
  for await (const rows of visibleMemories(readModels, stream, {}, asked)) {
    for (const row of rows) (isStanding(row) ? standing : retracted).add(row.text);
  }
  for (const text of standing) retracted.delete(text);
  return retracted;
};
