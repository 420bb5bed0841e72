import type { RecalledMemory } from '../npcs/domain/events.js';
import { defined } from '../../kernel/base/defined.js';
import type { MemoryRow } from '../../../projections/memories.js';

/**
 * A memory in the protocol family, in both vocabularies of deployed clients.
 * @param asOf the revision as of which the memory is shown: `confirmed` is its value at that revision
 */
export const itemOf = (
  { memoryId, text, type, importance, at, turnId, eventId, revision, confirmedAt, source, player }: MemoryRow,
  { similarity, asOf = Infinity }: { readonly similarity: number; readonly asOf?: number | undefined },
) => ({
  id: memoryId,
  memoryId,
  text,
  content: text,
  type,
  importance,
  similarity,
  embedding: [] as readonly number[],
  timestamp: Date.parse(at),
  createdAt: at,
  confirmed: confirmedAt !== null && confirmedAt <= asOf,
  cause: { turnId, eventId, revision },
  ...defined({ source, player }),
});

/** A memory that a client reports as recalled, by its position in the report. The server may have no other record of it. */
export const reportedItem = (
  { text, type, importance, similarity }: RecalledMemory,
  {
    id: eventId,
    revision,
    meta,
  }: { readonly id: string; readonly revision: number; readonly meta: { readonly at: string } },
  place: number,
) => {
  const memoryId = `${eventId}-${String(place)}`;
  const cause = { turnId: null, eventId, revision, at: meta.at, confirmedAt: null };
  return itemOf({ kind: 'memory', memoryId, text, type, importance, ...cause, stream: '' }, { similarity });
};

/** A memory in the agent family. */
export const agentMemoryOf = ({ memoryId, text, type, at, metadata = {} }: MemoryRow) => ({
  id: memoryId,
  text,
  type,
  timestamp: at,
  metadata,
});
