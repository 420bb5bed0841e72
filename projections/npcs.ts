import { npcEvents } from '../src/features/npcs/domain/events.js';
import { evolveSummary, initialSummary, isArriving, type MindSummary } from '../src/features/npcs/domain/state.js';
import { isNpcStream, parseNpcStream } from '../src/kernel/base/stream-names.js';
import type { Projection } from '../src/ports/read-models.js';

/** A mind as lists show it, with its name. */
export type NpcRow = MindSummary & { readonly tenant: string; readonly npcId: string };

const tagOf = (row: NpcRow): string => (isArriving(row) ? 'arriving' : row.archived ? 'archived' : 'live');

const mind = [''];
const none: readonly string[] = [];

/** The minds of each tenant, by npcId, one row each. Minds that are archived or still being imported have another tag than live ones. */
export const npcs: Projection<NpcRow> = {
  name: 'npcs',
  version: 7,
  // Every event of a mind moves its revision.
  handles: npcEvents.types,
  idsOf: ({ stream }) => (isNpcStream(stream) ? mind : none),
  evolve: (row, event) => {
    if (row !== null) return evolveSummary(row, event);
    const named = parseNpcStream(event.stream);
    return named === null ? null : evolveSummary({ ...named, ...initialSummary }, event);
  },
  indexOf: (row) => ({ partition: row.tenant, order: row.npcId, tag: tagOf(row) }),
};
