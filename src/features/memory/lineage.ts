import type { MemoryRow } from '../../../projections/memories.js';
import { createLineage, type Kin, type Lineage, LINEAGE_STEPS, type RecallingTurn } from './domain/lineage.js';
import { npcEvents } from '../npcs/domain/events.js';
import { defined } from '../../kernel/base/defined.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { eventAt, pagesOf } from '../../kernel/streams/stream-pages.js';
import { lineageCursor, type LineagePlace, readLineageCursor } from './lineage-cursor.js';

/** How many events one part of a lineage covers: one or two seconds of work. Other work runs in between. */
const LINEAGE_EVENTS = 20_000;
/** The size of one part, in bytes of JSON: serialising it blocks the event loop for some milliseconds. */
const PART_BYTES = 1024 * 1024;
/** How many single events are read before other work runs. */
const READS_AT_ONCE = 16;

type LineageDeps = { readonly events: Pick<EventStore, 'read'> };

export type LineagePart = {
  readonly recalledBy: readonly RecallingTurn[];
  readonly derived: readonly Kin[];
  /** Whether the lineage extends beyond the limits. */
  readonly cut: boolean;
  /** Where it continues; absent at the end of the stream. */
  readonly next?: string;
};

/** A memory as the first of a lineage. */
export const firstKin = ({ memoryId, text, turnId, revision }: MemoryRow): Kin => ({
  ...{ memoryId, text, turnId, revision },
  depth: 0,
  by: [],
});

const noCursor = (): Rejection =>
  new Rejection('SCHEMA_INVALID', {
    details: { issues: [{ in: 'query', pointer: '/cursor', message: 'is not a cursor of this lineage' }] },
  });

/** The events at these revisions, one at a time. Other work runs in between. @throws Rejection SCHEMA_INVALID if one does not exist */
async function* eventsAt(
  { events }: LineageDeps,
  stream: string,
  revisions: readonly number[],
): AsyncGenerator<RecordedEvent, void, undefined> {
  for (const [at, revision] of revisions.entries()) {
    const recorded = await eventAt(events, stream, revision);
    if (recorded?.revision !== revision) throw noCursor();
    yield recorded;
    if (at % READS_AT_ONCE === READS_AT_ONCE - 1) await yieldToEventLoop();
  }
}

const kinBefore = async (deps: LineageDeps, stream: string, { derived }: LineagePlace): Promise<readonly Kin[]> => {
  const depths = new Map(derived.map(({ revision, depth }) => [revision, depth]));
  const found: Kin[] = [];
  for await (const recorded of eventsAt(deps, stream, [...depths.keys()])) {
    const event = npcEvents.decode(recorded);
    const depth = depths.get(recorded.revision) ?? 0;
    if (event.type !== 'MemoryStored' || depth < 1 || depth > LINEAGE_STEPS) throw noCursor();
    const { memoryId, text, turnId = null } = event.data;
    found.push({ memoryId, text, turnId, revision: recorded.revision, depth, by: [] });
  }
  return found;
};

/**
 * Follows a lineage through at most `most` events, or until it has this many `bytes`, and then to the end of the memories that the last turn stored.
 * @returns the revision to continue from; absent at the end of the stream
 */
export const followLineage = async (
  { events }: LineageDeps,
  stream: string,
  lineage: Lineage,
  { from, most, bytes = Infinity }: { readonly from: number; readonly most: number; readonly bytes?: number },
): Promise<{ readonly next?: number }> => {
  let looked = 0;
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from })) {
    for (const recorded of page.events) {
      const isFull = looked >= most || lineage.bytes() >= bytes;
      if (isFull && !lineage.goesOn(recorded)) return { next: recorded.revision };
      lineage.take(recorded);
      if (lineage.isCut()) return {};
      looked += 1;
    }
  }
  return {};
};

/**
 * One page of the lineage of a memory.
 * @throws Rejection SCHEMA_INVALID for a cursor that does not belong to this mind; what the event store throws
 */
export const lineagePart = async (
  deps: LineageDeps,
  stream: string,
  first: MemoryRow,
  cursor?: string,
): Promise<LineagePart> => {
  const place = cursor === undefined ? null : readLineageCursor(cursor);
  if (cursor !== undefined && place === null) throw noCursor();
  const before = place === null ? [] : await kinBefore(deps, stream, place);
  const lineage = createLineage([firstKin(first), ...before], place?.next);
  for await (const recorded of eventsAt(deps, stream, place?.openAt ?? [])) lineage.take(recorded);
  const from = Math.max(place?.next ?? 0, first.revision + 1);
  const { next } = await followLineage(deps, stream, lineage, { from, most: LINEAGE_EVENTS, bytes: PART_BYTES });
  const derived = lineage.derived();
  const on = next === undefined ? undefined : { next, derived: [...before, ...derived], openAt: lineage.openAt() };
  return {
    recalledBy: lineage.recalledBy(on === undefined),
    derived,
    cut: lineage.isCut(),
    ...defined({ next: on && lineageCursor(on) }),
  };
};
