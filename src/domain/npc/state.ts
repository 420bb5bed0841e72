import type { JsonObject } from '../shared/json.js';
import { mergePatch } from '../shared/merge-patch.js';
import type { Actor, NpcEvent } from './events.js';

/** A mind as its events leave it. `null` in persona or data: it has none yet (contract 2.1). */
export type MindState = {
  readonly persona: string | null;
  readonly data: JsonObject | null;
  readonly archived: boolean;
  readonly openTurns: readonly string[];
  /** The last event folded in; -1: no event yet, the mind does not exist. */
  readonly revision: number;
  readonly updatedAt: string;
};

export const initialMind: MindState = {
  persona: null,
  data: null,
  archived: false,
  openTurns: [],
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

const identified = (state: MindState, actor: Actor | undefined): Pick<MindState, 'persona' | 'data'> => ({
  persona: state.persona ?? actor?.persona ?? null,
  data: state.data ?? actor?.data ?? null,
});

const without = (turns: readonly string[], turnId: string): readonly string[] =>
  turns.includes(turnId) ? turns.filter((open) => open !== turnId) : turns;

const change = (state: MindState, event: NpcEvent): Partial<MindState> => {
  switch (event.type) {
    case 'NpcRegistered':
    case 'NpcUpdated':
      return { persona: event.data.persona ?? state.persona, data: event.data.data ?? state.data };
    case 'NpcArchived':
      return { archived: true };
    case 'TurnOpened':
      return { ...identified(state, event.data.actor), openTurns: [...state.openTurns, event.data.turnId] };
    case 'ActorIdentified':
      return identified(state, event.data.actor);
    case 'StateChanged':
      return { data: mergePatch(state.data ?? {}, event.data.patch) };
    case 'VerdictReached':
    case 'VerdictRefused':
      return { openTurns: without(state.openTurns, event.data.turnId) };
    case 'BridgeChecked':
      // A question about an NPC is no act of it: an archived mind stays archived.
      return { archived: state.archived };
    case 'TurnExpired':
      return { openTurns: without(state.openTurns, event.data.turnId), archived: state.archived };
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
