import type { JsonObject } from '../../../kernel/base/json.js';
import { isSameJson } from '../../../kernel/base/same-json.js';
import { mergePatch } from '../../../kernel/base/merge-patch.js';
import type { UnknownEvent } from '../../../kernel/base/decoder.js';
import { npcEvents, type Actor, type NpcEvent } from './events.js';
import { noOpenTurns, type OpenTurns, withTurn } from './open-turns.js';
import { memoriesAfter, noMemories, type StoredMemories } from './stored-memories.js';

/** A mind as decisions see it. A persona, data or facts of `null` means that it has none yet. */
export type MindSummary = {
  readonly persona: string | null;
  readonly data: JsonObject | null;
  /** What the game reported. No text of a player or a model changes it. */
  readonly facts: JsonObject | null;
  readonly archived: boolean;
  /** The id of the ruleset that the mind is bound to; null if it is not bound. */
  readonly rulesetId: string | null;
  /** Whether what one player told is kept from others. */
  readonly players: 'apart' | 'shared';
  /** The soul that the mind began with; null for a mind that began here. */
  readonly origin: Origin | null;
  /** The revision of the last event that changed persona, data, players or binding, 0 if none did since the first event; -1 if there is no event yet. */
  readonly changedAt: number;
  /** The last folded event; -1 if there is no event yet and the mind does not exist. */
  readonly revision: number;
  readonly updatedAt: string;
};

/** `arrivedAt`: the revision from which the mind exists, -1 while the soul is still arriving. `stored`: the number of memories that have arrived. */
export type Origin = { readonly importId: string; readonly stored: number; readonly arrivedAt: number };

/** The character card of a mind: its digest, and the revision of the event that holds it. */
export type HeldCard = { readonly digest: string; readonly revision: number };

/**
 * A mind folded from its events: the summary, its open turns, its last memories and its card. The last three are not part of the summary, because
 * they would make the rows of lists long.
 */
export type MindState = MindSummary & {
  readonly openTurns: OpenTurns;
  readonly memories: StoredMemories;
  readonly card: HeldCard | null;
};

export const initialSummary: MindSummary = {
  persona: null,
  data: null,
  facts: null,
  archived: false,
  rulesetId: null,
  players: 'apart',
  origin: null,
  changedAt: -1,
  revision: -1,
  updatedAt: '',
};
export const initialMind: MindState = {
  ...initialSummary,
  openTurns: noOpenTurns,
  memories: noMemories,
  card: null,
};

/** Whether a mind's soul is still arriving: until it is complete, the mind is invisible and accepts no other writes. */
export const isArriving = ({ origin }: Pick<MindSummary, 'origin'>): boolean => origin !== null && origin.arrivedAt < 0;

/** Whether the mind exists for callers: it has events, and its soul is not still arriving. */
export const hasBegun = (mind: Pick<MindSummary, 'origin' | 'revision'>): boolean =>
  mind.revision >= 0 && !isArriving(mind);

/** The part of a recorded event that folding needs. */
export type MindEventToFold = {
  readonly type: string;
  readonly data: JsonObject;
  readonly revision: number;
  readonly meta: { readonly at: string; readonly schemaVersion: number };
};

const identified = (
  state: MindSummary,
  { actor, actorDataKept }: { readonly actor?: Actor; readonly actorDataKept?: false },
): Pick<MindSummary, 'persona' | 'data'> => ({
  persona: state.persona ?? actor?.persona ?? null,
  data: state.data ?? (actorDataKept === false ? null : (actor?.data ?? null)),
});

const change = (state: MindSummary, event: NpcEvent | UnknownEvent, revision: number): Partial<MindSummary> => {
  switch (event.type) {
    case 'SoulArrivalBegun':
      return { origin: { importId: event.data.importId, stored: 0, arrivedAt: -1 } };
    case 'MemoryArrived':
      return { origin: state.origin && { ...state.origin, stored: state.origin.stored + 1 } };
    case 'SoulArrived': {
      const { persona = null, data = null, facts = null, ruleset } = event.data;
      const bound = ruleset?.bound === true ? ruleset.rulesetId : null;
      return {
        persona,
        data,
        facts,
        rulesetId: bound,
        origin: state.origin && { ...state.origin, arrivedAt: revision },
      };
    }
    case 'NpcRegistered':
    case 'NpcUpdated':
      return {
        persona: event.data.persona ?? state.persona,
        data: event.data.data ?? state.data,
        players: event.data.players ?? state.players,
      };
    case 'RulesetBound':
      return { rulesetId: event.data.rulesetId };
    case 'NpcArchived':
      return { archived: true };
    case 'TurnOpened':
    case 'ActorIdentified':
      return identified(state, event.data);
    case 'StateChanged':
      return { data: mergePatch(state.data ?? {}, event.data.patch) };
    // Reports about many NPCs include archived ones.
    case 'FactsReported':
      return { archived: state.archived, facts: mergePatch(state.facts ?? {}, event.data.facts) };
    // These are not acts of the NPC, so an archived mind stays archived. Events of a newer version may be anything.
    case 'TurnExpired':
    case 'TurnFailed':
    case 'AnswerMissing':
    case 'PromptShortened':
    case 'BridgeChecked':
    case 'ChainBreakRecorded':
    case 'MemoriesCleared':
    case 'MemoriesRetracted':
    case 'SoulExportRequested':
    case 'SoulSealed':
    case 'SoulExported':
    case 'SoulExportFailed':
    case 'SoulExportExpired':
    case 'SoulWithdrawn':
    case 'Unknown':
      return { archived: state.archived };
    default:
      return {};
  }
};

const turnsAfter = (turns: OpenTurns, event: NpcEvent | UnknownEvent): OpenTurns => {
  switch (event.type) {
    case 'TurnOpened':
      return withTurn(turns, event.data.turnId, true);
    case 'VerdictReached':
    case 'VerdictRefused':
    case 'TurnExpired':
    case 'TurnFailed':
      return withTurn(turns, event.data.turnId, false);
    default:
      return turns;
  }
};

const cardAfter = (card: HeldCard | null, event: NpcEvent | UnknownEvent, revision: number): HeldCard | null => {
  if (event.type !== 'NpcRegistered' && event.type !== 'NpcUpdated') return card;
  const brought = event.data.card;
  return brought === undefined ? card : { digest: brought.digest, revision };
};

/** A merge patch keeps what it does not touch, so this compares no more than an event brings. */
const isSameNpc = (before: MindSummary, after: MindSummary): boolean =>
  before.revision >= 0 &&
  before.persona === after.persona &&
  before.rulesetId === after.rulesetId &&
  before.players === after.players &&
  isSameJson(before.data, after.data);

/** Folds one event into a mind's summary; total: an unknown type only moves the revision. Other members of `state` are kept unchanged. */
export const evolveSummary = <State extends MindSummary>(state: State, event: MindEventToFold): State => {
  const { revision, meta } = event;
  const next = { ...state, archived: false, ...change(state, npcEvents.decode(event), revision) };
  const changedAt = isSameNpc(state, next) ? state.changedAt : revision;
  return { ...next, changedAt, revision, updatedAt: meta.at };
};

/** Folds one event into a mind; total, like `evolveSummary`. */
export const evolveMind = (state: MindState, event: MindEventToFold): MindState => {
  const next = evolveSummary(state, event);
  const known = npcEvents.decode(event);
  const openTurns = turnsAfter(state.openTurns, known);
  const memories = memoriesAfter(state.memories, known, event);
  const card = cardAfter(state.card, known, event.revision);
  const isSame = openTurns === state.openTurns && memories === state.memories && card === state.card;
  return isSame ? next : { ...next, openTurns, memories, card };
};
