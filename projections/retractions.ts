import { npcEvents } from '../src/features/npcs/domain/events.js';
import { isNpcStream, npcStream, parseNpcStream } from '../src/kernel/base/stream-names.js';
import { revisionOrder } from '../src/kernel/read-models/row-order.js';
import type { Projection } from '../src/ports/read-models.js';
import { defined } from '../src/kernel/base/defined.js';

/** Memories that were retracted together. */
export type RetractionRow = {
  readonly tenant: string;
  readonly npcId: string;
  readonly revision: number;
  readonly at: string;
  /** The key that retracted them. */
  readonly by: string;
  readonly reason: string;
  readonly memoryIds: readonly string[];
  /** Those that were named, if others derive from them. */
  readonly roots?: readonly string[];
  readonly position: number;
};

const none: readonly string[] = [];

/** The retractions in all minds of a tenant, in the order in which they were made; the tag is the mind's stream. Rows are never changed. */
export const retractions: Projection<RetractionRow> = {
  name: 'retractions',
  version: 1,
  handles: ['MemoriesRetracted'],
  idsOf: ({ stream, revision }) => (isNpcStream(stream) ? [String(revision)] : none),
  evolve: (row, recorded) => {
    const event = npcEvents.decode(recorded);
    const mind = parseNpcStream(recorded.stream);
    if (mind === null || event.type !== 'MemoriesRetracted') return row;
    const { memoryIds, reason, roots } = event.data;
    const { revision, position, meta } = recorded;
    return { ...mind, revision, at: meta.at, by: meta.actor, reason, memoryIds, ...defined({ roots }), position };
  },
  indexOf: ({ tenant, npcId, position }) => ({
    ...{ partition: tenant, order: revisionOrder(position) },
    tag: npcStream(tenant, npcId),
  }),
};
