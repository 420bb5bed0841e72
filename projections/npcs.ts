import type { NpcEventType } from '../src/domain/npc/events.js';
import { noOpenTurns } from '../src/domain/npc/open-turns.js';
import { evolveMind, type Folded, initialMind, type MindState } from '../src/domain/npc/state.js';
import { isNpcStream, parseNpcStream } from '../src/domain/shared/stream-names.js';
import type { Projection } from '../src/ports/read-models.js';

/** A mind as lists show it: all of its state at `revision` but its open turns, which would make a row as long as there are many. */
export type NpcRow = Omit<MindState, 'openTurns'> & { readonly tenant: string; readonly npcId: string };

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

const rowAfter = (before: MindState & Pick<NpcRow, 'tenant' | 'npcId'>, event: Folded): NpcRow => {
  const { tenant, npcId } = before;
  const { openTurns: _, ...row } = { tenant, npcId, ...evolveMind({ ...before, openTurns: noOpenTurns }, event) };
  return row;
};

/** The minds of each tenant, by npcId (contract 2.1). A row's key is its stream; archived minds have another tag than live ones. */
export const npcs: Projection<NpcRow> = {
  name: 'npcs',
  version: 1,
  handles: Object.keys(handled),
  keyOf: ({ stream }) => (isNpcStream(stream) ? stream : null),
  evolve: (row, event) => {
    const named = row ?? parseNpcStream(event.stream);
    return named === null ? null : rowAfter({ ...initialMind, ...named }, event);
  },
  indexOf: ({ tenant, npcId, archived }) => ({ partition: tenant, order: npcId, tag: archived ? 'archived' : 'live' }),
};
