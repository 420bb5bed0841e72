import type { JsonObject } from '../shared/json.js';
import { mergePatch } from '../shared/merge-patch.js';
import type { Actor, NpcEvent } from './events.js';
import { noOpenTurns, type OpenTurns, withTurn } from './open-turns.js';

/** A mind as its events leave it. `null` in persona or data: it has none yet (contract 2.1). */
export type MindState = {
  readonly persona: string | null;
  readonly data: JsonObject | null;
  readonly archived: boolean;
  readonly openTurns: OpenTurns;
  /** The last event folded in; -1: no event yet, the mind does not exist. */
  readonly revision: number;
  readonly updatedAt: string;
};

export const initialMind: MindState = {
  persona: null,
  data: null,
  archived: false,
  openTurns: noOpenTurns,
  revision: -1,
  updatedAt: '',
};

/** What folding needs of a recorded event. */
export type Folded = {
  readonly type: string;
  readonly data: JsonObject;
  readonly revision: number;
  readonly meta: { readonly at: string };
};

const identified = (
  state: MindState,
  { actor, actorDataKept }: { readonly actor?: Actor; readonly actorDataKept?: false },
): Pick<MindState, 'persona' | 'data'> => ({
  persona: state.persona ?? actor?.persona ?? null,
  data: state.data ?? (actorDataKept === false ? null : (actor?.data ?? null)),
});

const change = (state: MindState, event: NpcEvent): Partial<MindState> => {
  switch (event.type) {
    case 'NpcRegistered':
    case 'NpcUpdated':
      return { persona: event.data.persona ?? state.persona, data: event.data.data ?? state.data };
    case 'NpcArchived':
      return { archived: true };
    case 'TurnOpened':
      return { ...identified(state, event.data), openTurns: withTurn(state.openTurns, event.data.turnId, true) };
    case 'ActorIdentified':
      return identified(state, event.data);
    case 'StateChanged':
      return { data: mergePatch(state.data ?? {}, event.data.patch) };
    case 'VerdictReached':
    case 'VerdictRefused':
      return { openTurns: withTurn(state.openTurns, event.data.turnId, false) };
    // No act of the NPC, nor is a question about it or its history: an archived mind stays archived.
    case 'TurnExpired':
      return { openTurns: withTurn(state.openTurns, event.data.turnId, false), archived: state.archived };
    case 'BridgeChecked':
    case 'ChainBreakRecorded':
      return { archived: state.archived };
    default:
      return {};
  }
};

/** Folds one event into a mind; total: a type it does not know only moves the revision. */
export const evolveMind = (state: MindState, event: Folded): MindState => ({
  ...state,
  archived: false,
  ...change(state, { type: event.type, data: event.data } as unknown as NpcEvent),
  revision: event.revision,
  updatedAt: event.meta.at,
});
