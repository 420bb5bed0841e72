import { memories, type MemoryRow } from '../../../projections/memories.js';
import type { SoulMemory } from './domain/document.js';
import { defined } from '../../kernel/base/defined.js';
import { jsonBytes } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { MAX_SOUL_BYTES, MAX_SOUL_MEMORIES } from './domain/bounds.js';
import type { EventStore } from '../../ports/event-store.js';
import type { ReadModels } from '../../ports/read-models.js';
import { visibleMemories, visibleRange } from '../memory/visible-range.js';
import { waitForStream } from '../../kernel/read-models/read-wait.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';

/** How many rows are read at a time, and how many bytes of them. */
const PAGE = { limit: 500, bytes: 256 * 1024 };

const soulMemory = (row: MemoryRow, asOf: number): SoulMemory => {
  const { memoryId: id, text, type, importance, at: timestamp, confirmedAt, metadata = {} } = row;
  const { eventId, revision, source, player, gameTime } = row;
  // For a memory from a soul, the turn belongs to the mind that it came from.
  const turnId = row.turnId ?? source?.turnId ?? null;
  const confirmed = confirmedAt !== null && confirmedAt <= asOf;
  const cause = { turnId, eventId, revision };
  return { id, text, type, importance, timestamp, confirmed, metadata, ...defined({ player, gameTime }), cause };
};

export type SoulMemoriesDeps = {
  readonly events: EventStore;
  readonly readModels: ReadModels;
  readonly writers: StreamWriters;
};

/**
 * The memories of a mind at a revision, oldest first, in the form of its soul.
 * @throws Rejection SOUL_TOO_LARGE, READ_MODEL_BEHIND; the reason of the signal; what the event store and the read models throw
 */
export const soulMemories = async (
  deps: SoulMemoriesDeps,
  stream: string,
  revision: number,
  signal: AbortSignal,
): Promise<readonly SoulMemory[]> => {
  await waitForStream(deps, memories, stream, revision);
  const within = await visibleRange(deps, stream, { revision }, revision);
  if (within === null) return [];
  const found: SoulMemory[] = [];
  let bytes = 0;
  for await (const rows of visibleMemories(deps.readModels, stream, within, { direction: 'ascending', ...PAGE })) {
    signal.throwIfAborted();
    for (const row of rows) {
      const memory = soulMemory(row, revision);
      found.push(memory);
      bytes += jsonBytes(memory);
      // More would only fill the memory, and be refused at signing.
      if (found.length > MAX_SOUL_MEMORIES || bytes > MAX_SOUL_BYTES) {
        throw new Rejection('SOUL_TOO_LARGE', {
          details: { limitBytes: MAX_SOUL_BYTES, memoriesLimit: MAX_SOUL_MEMORIES },
        });
      }
    }
  }
  return found;
};
