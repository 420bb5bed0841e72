import { npcEvents } from '../src/features/npcs/domain/events.js';
import {
  evolveSummary,
  initialSummary,
  isArriving,
  type MindEventToFold,
  type MindSummary,
} from '../src/features/npcs/domain/state.js';
import { isNpcStream, parseNpcStream } from '../src/kernel/base/stream-names.js';
import type { Projection } from '../src/ports/read-models.js';

/** A mind as lists show it, with its name. Facts would make the rows long. */
export type NpcRow = Omit<MindSummary, 'facts'> & { readonly tenant: string; readonly npcId: string };

const tagOf = (row: NpcRow): string => (isArriving(row) ? 'arriving' : row.archived ? 'archived' : 'live');

const evolveRow = (row: NpcRow, event: MindEventToFold): NpcRow => {
  const { facts: _, ...next } = evolveSummary({ ...row, facts: null }, event);
  return next;
};

const mind = [''];
const none: readonly string[] = [];

/** The minds of each tenant, by npcId, one row each. Minds that are archived or still being imported have another tag than live ones. */
export const npcs: Projection<NpcRow> = {
  name: 'npcs',
  version: 12,
  // Every event of a mind moves its revision.
  handles: npcEvents.types,
  idsOf: ({ stream }) => (isNpcStream(stream) ? mind : none),
  evolve: (row, event) => {
    if (row !== null) return evolveRow(row, event);
    const named = parseNpcStream(event.stream);
    return named === null ? null : evolveRow({ ...named, ...initialSummary }, event);
  },
  indexOf: (row) => ({ partition: row.tenant, order: row.npcId, tag: tagOf(row) }),
};
