import type { NpcEventType } from '../src/domain/npc/events.js';
import { evolveSummary, initialSummary, type MindSummary } from '../src/domain/npc/state.js';
import { isNpcStream, parseNpcStream } from '../src/domain/shared/stream-names.js';
import type { Projection } from '../src/ports/read-models.js';

/** A mind as lists show it, with its name. */
export type NpcRow = MindSummary & { readonly tenant: string; readonly npcId: string };

const mind = [''];
const none: readonly string[] = [];

/** Every event of a mind moves its revision, so none may be left out: a missing one does not compile. */
const handled = {
  NpcRegistered: true,
  NpcUpdated: true,
  NpcArchived: true,
  TurnOpened: true,
  RulesetMissing: true,
  ActorIdentified: true,
  MemoriesRecalled: true,
  VerdictReached: true,
  VerdictRefused: true,
  StateChanged: true,
  MemoryStored: true,
  TurnExpired: true,
  TapeMismatchNoticed: true,
  DirectiveGiven: true,
  ContextBuilt: true,
  BridgeChecked: true,
  ChainBreakRecorded: true,
} satisfies Record<NpcEventType, true>;

/** The minds of each tenant, by npcId (contract 2.1). A mind has one row; archived minds have another tag than live ones. */
export const npcs: Projection<NpcRow> = {
  name: 'npcs',
  version: 1,
  handles: Object.keys(handled),
  idsOf: ({ stream }) => (isNpcStream(stream) ? mind : none),
  evolve: (row, event) => {
    if (row !== null) return evolveSummary(row, event);
    const named = parseNpcStream(event.stream);
    return named === null ? null : evolveSummary({ ...named, ...initialSummary }, event);
  },
  indexOf: ({ tenant, npcId, archived }) => ({ partition: tenant, order: npcId, tag: archived ? 'archived' : 'live' }),
};
