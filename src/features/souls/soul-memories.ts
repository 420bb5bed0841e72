import { isStanding, memories, type MemoryRow } from '../../../projections/memories.js';
import type { SoulMemory } from './domain/document.js';
import { defined } from '../../kernel/base/defined.js';
import { jsonBytes } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { chainBroken, type EventChecks } from '../../kernel/streams/event-checks.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import { MAX_SOUL_BYTES, MAX_SOUL_MEMORIES } from './domain/bounds.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';

/** How many souls' worth of memories are kept while a stream is read: what follows may retract or clear some of them. */
const ROOM = 2;

const soulMemory = (row: MemoryRow): SoulMemory => {
  const { memoryId: id, text, type, importance, at: timestamp, confirmedAt, metadata = {} } = row;
  const { eventId, revision, source, player, gameTime } = row;
  // For a memory from a soul, the turn belongs to the mind that it came from.
  const turnId = row.turnId ?? source?.turnId ?? null;
  const cause = { turnId, eventId, revision };
  return {
    ...{ id, text, type, importance, timestamp, confirmed: confirmedAt !== null, metadata },
    ...defined({ player, gameTime }),
    cause,
  };
};

/** The memories of a mind that count, as its events are read one after the other. */
const openMemories = () => {
  const known = new Map<string, { readonly row: MemoryRow; readonly bytes: number }>();
  let bytes = 0;
  const drop = (id: string): void => {
    bytes -= known.get(id)?.bytes ?? 0;
    known.delete(id);
  };
  const change = (event: RecordedEvent, id: string): void => {
    const before = known.get(id)?.row ?? null;
    const row = memories.evolve(before, event, id);
    if (row === before) return;
    // A memory that is stored again takes its place behind the others.
    if (before === null || row?.kind !== 'memory' || row.revision !== before.revision) drop(id);
    if (row?.kind !== 'memory' || !isStanding(row)) {
      drop(id);
      return;
    }
    const size = known.get(id)?.bytes ?? jsonBytes(soulMemory(row));
    if (!known.has(id)) bytes += size;
    known.set(id, { row, bytes: size });
  };
  return {
    take: (event: RecordedEvent): void => {
      if (event.type === 'MemoriesCleared') {
        known.clear();
        bytes = 0;
      } else for (const id of memories.idsOf(event)) change(event, id);
    },
    /** Whether there is more than fits into so many souls. */
    isBeyond: (souls: number): boolean => known.size > souls * MAX_SOUL_MEMORIES || bytes > souls * MAX_SOUL_BYTES,
    all: (): readonly SoulMemory[] => [...known.values()].map(({ row }) => soulMemory(row)),
  };
};

const tooLarge = (): Rejection =>
  new Rejection('SOUL_TOO_LARGE', { details: { limitBytes: MAX_SOUL_BYTES, memoriesLimit: MAX_SOUL_MEMORIES } });

export type SoulMemoriesDeps = {
  readonly events: Pick<EventStore, 'read'>;
  readonly checks: Pick<EventChecks, 'isBroken'>;
};

/**
 * The memories of a mind at a revision, oldest first, in the form of its soul. They come from the events alone, which are checked: what is signed must
 * not depend on a read model.
 * @throws Rejection CHAIN_BROKEN, SOUL_TOO_LARGE; the reason of the signal; what the event store throws
 */
export const soulMemories = async (
  { events, checks }: SoulMemoriesDeps,
  stream: string,
  revision: number,
  signal: AbortSignal,
): Promise<readonly SoulMemory[]> => {
  const found = openMemories();
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from: 0, to: revision })) {
    for (const event of page.events) {
      signal.throwIfAborted();
      if (!memories.handles.includes(event.type)) continue;
      if (await checks.isBroken(event)) throw chainBroken(stream, event.revision);
      found.take(event);
      await yieldToEventLoop();
    }
    if (found.isBeyond(ROOM)) throw tooLarge();
  }
  if (found.isBeyond(1)) throw tooLarge();
  return found.all();
};
