import { npcEvents, type MemorySource, type Speaker } from '../src/features/npcs/domain/events.js';
import { hearersOf } from '../src/features/memory/domain/kept-apart.js';
import type { GameTime } from '../src/features/npcs/domain/game-time.js';
import type { JsonObject } from '../src/kernel/base/json.js';
import { revisionOrder } from '../src/kernel/read-models/row-order.js';
import { isNpcStream } from '../src/kernel/base/stream-names.js';
import type { RecordedEvent } from '../src/ports/event-store.js';
import type { Projection } from '../src/ports/read-models.js';

/** A memory as lists and recall show it. */
export type MemoryRow = {
  readonly kind: 'memory';
  readonly memoryId: string;
  readonly text: string;
  readonly type: string;
  readonly importance: number;
  readonly metadata?: JsonObject;
  readonly at: string;
  /** The turn that stored it; null if a request did. */
  readonly turnId: string | null;
  /** The event that stored it. */
  readonly eventId: string;
  readonly revision: number;
  /** The revision at which a body first confirmed it. */
  readonly confirmedAt: number | null;
  /** The revision at which it was retracted; absent if it was not. */
  readonly retractedAt?: number;
  /** For a memory that a soul brought: where it was stored first. */
  readonly source?: MemorySource;
  /** The player who spoke in the turn that stored it, or whom the request named. */
  readonly player?: Speaker;
  /** The time of the game when it was stored. */
  readonly gameTime?: GameTime;
  readonly stream: string;
};

/** A clear: the memories before it are gone, except for readers who ask for an earlier moment (`asOf`). */
export type ClearRow = { readonly kind: 'clear'; readonly revision: number; readonly stream: string };

export type MemoriesRow = MemoryRow | ClearRow;

/** The partition in which the memories of a mind are listed. */
export const memoriesListed = (stream: string): string => stream;

/** The partition in which the clears of a mind are listed. No stream's name has a space. */
export const clearsOf = (stream: string): string => `${stream} clears`;

/** The id of a clear. No memory has such an id. */
const clearId = (revision: number): string => `clear ${String(revision)}`;

/** The tag of a type of memory: PostgreSQL does not accept NUL in a text. */
export const memoryTag = (type: string): string => type.replaceAll('\0', '\uFFFD');

const none: readonly string[] = [];

/** Whether a memory is not retracted yet, at a revision or now. */
export const isStanding = ({ retractedAt }: Pick<MemoryRow, 'retractedAt'>, asOf = Infinity): boolean =>
  retractedAt === undefined || retractedAt > asOf;

/** The row of a memory as its event makes it; null for any other event. */
export const memoryRow = (recorded: Omit<RecordedEvent, 'position'>): MemoryRow | null => {
  const event = npcEvents.decode(recorded);
  const { stream, revision, id: eventId, meta } = recorded;
  if (event.type === 'MemoryArrived') {
    const { storedAt: at, confirmed, ...memory } = event.data;
    const confirmedAt = confirmed ? revision : null;
    return { kind: 'memory', ...memory, turnId: null, at, eventId, revision, confirmedAt, stream };
  }
  if (event.type !== 'MemoryStored') return null;
  const { turnId = null, ...memory } = event.data;
  return { kind: 'memory', ...memory, turnId, at: meta.at, eventId, revision, confirmedAt: null, stream };
};

/** The ids of retracted memories, each once, even if an event repeats it. */
export const retractedIds = ({ memoryIds }: JsonObject): readonly string[] =>
  Array.isArray(memoryIds) ? [...new Set(memoryIds.filter((id) => typeof id === 'string'))] : none;

const evolve = (row: MemoriesRow | null, recorded: RecordedEvent): MemoriesRow | null => {
  const event = npcEvents.decode(recorded);
  const { stream, revision } = recorded;
  switch (event.type) {
    case 'MemoryStored':
    case 'MemoryArrived':
      return memoryRow(recorded);
    case 'MemoryConfirmed':
      return row?.kind === 'memory' && row.confirmedAt === null ? { ...row, confirmedAt: revision } : row;
    case 'MemoriesRetracted':
      return row?.kind === 'memory' && isStanding(row) ? { ...row, retractedAt: revision } : row;
    case 'MemoriesCleared':
      return { kind: 'clear', revision, stream };
    default:
      return row;
  }
};

/**
 * The memories of each mind in the order in which they were stored, tagged with their type, and its clears. Their texts are grouped by who may hear
 * them.
 */
export const memories: Projection<MemoriesRow> = {
  name: 'memories',
  version: 5,
  handles: ['MemoryStored', 'MemoryArrived', 'MemoryConfirmed', 'MemoriesCleared', 'MemoriesRetracted'],
  idsOf: ({ stream, type, data, revision }) => {
    if (!isNpcStream(stream)) return none;
    if (type === 'MemoriesCleared') return [clearId(revision)];
    if (type === 'MemoriesRetracted') return retractedIds(data);
    const { memoryId } = data;
    return typeof memoryId === 'string' ? [memoryId] : none;
  },
  evolve,
  indexOf: (row) =>
    row.kind === 'memory'
      ? { partition: memoriesListed(row.stream), order: revisionOrder(row.revision), tag: memoryTag(row.type) }
      : { partition: clearsOf(row.stream), order: revisionOrder(row.revision), tag: '' },
  textOf: (row) => (row.kind === 'memory' ? row.text : null),
  textGroupOf: (row) => (row.kind === 'memory' ? hearersOf(row) : null),
};
