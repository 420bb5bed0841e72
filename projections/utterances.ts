import type { Action } from '../src/features/rules/domain/bridge/action.js';
import { npcEvents, type Speaker, type Verdict } from '../src/features/npcs/domain/events.js';
import type { Json, JsonObject } from '../src/kernel/base/json.js';
import { isNpcStream, parseNpcStream } from '../src/kernel/base/stream-names.js';
import { eachPlayerIn } from '../src/features/npcs/domain/player-names.js';
import type { RecordedEvent } from '../src/ports/event-store.js';
import type { Projection } from '../src/ports/read-models.js';
import { revisionOrder } from '../src/kernel/read-models/row-order.js';
import { turnOfMemory } from '../src/features/npcs/domain/memory-id.js';
import { refusingRule } from '../src/features/npcs/domain/refusing-rule.js';
import { defined } from '../src/kernel/base/defined.js';
import { retractedIds } from './memories.js';

/** The kinds of utterances, in the order of their positions within one event. */
export const UTTERANCE_KINDS = ['memory', 'heard', 'said', 'did'] as const;
export type UtteranceKind = (typeof UTTERANCE_KINDS)[number];
/** How many positions an event has. */
const PLACES = UTTERANCE_KINDS.length;

/** Something that was heard, said, done or remembered. */
export type UtteranceEntry = {
  readonly kind: UtteranceKind;
  /** The position among all utterances. */
  readonly place: number;
  readonly revision: number;
  readonly at: string;
  /** All names of the speaker, and of the addressee; the first is shown. */
  readonly by: readonly string[];
  readonly to: readonly string[];
  readonly text: string;
  /** The key whose request recorded it, or `system`. Rows of earlier versions lack it. */
  readonly actor?: string;
  /** For a verdict: the type of its action. */
  readonly action?: string;
  /** For a verdict: the rule that refused it, or replaced its action. */
  readonly drRuleId?: string;
  /** For a verdict that was refused, with its code. */
  readonly refused?: true;
  readonly code?: string;
  /** Of a memory, also if it only repeats what its turn heard or said. */
  readonly memoryId?: string;
  readonly retracted?: true;
};

/** The utterances of one turn with its memories, or a memory that no turn stored. */
export type UtterancesRow = {
  readonly tenant: string;
  readonly npcId: string;
  readonly turnId: string | null;
  /** The names of the player who spoke when the turn began, or who was named with the memory. */
  readonly player: readonly string[];
  readonly utterances: readonly UtteranceEntry[];
  /** The revision of the first event. */
  readonly revision: number;
};

/**
 * The names of the player whom a body named first: the name, then the id. The relations of the NPC are not used, since they need not be players, or
 * present.
 */
const playerIn = (...values: readonly Json[]): readonly string[] => {
  for (const value of values) {
    const players: (readonly string[])[] = [];
    eachPlayerIn(
      value,
      ({ id, name }) => players.push([name, id].filter((named) => named !== undefined)),
      () => undefined,
    );
    const [first] = players;
    if (first !== undefined) return first;
  }
  return [];
};

/** The names of who speaks: the player recorded with the turn, who may be a stranger; only without one, whom its texts name. */
const speakerIn = (player: Speaker | undefined, ...naming: readonly Json[]): readonly string[] =>
  player === undefined
    ? playerIn(...naming)
    : [player.name, player.id === '' ? undefined : player.id].filter((named) => named !== undefined);

/** An action in words: its type, its target and its reason. */
const actionText = ({ type, target = '', reason = '' }: Action): string =>
  `${type}${target === '' ? '' : ` -> ${target}`}${reason === '' ? '' : `: ${reason}`}`;

type UtteranceDraft = Omit<UtteranceEntry, 'place' | 'revision' | 'at' | 'actor' | 'retracted'>;

const withUtterances = (
  row: UtterancesRow,
  { position, revision, meta }: RecordedEvent,
  all: readonly UtteranceDraft[],
): UtterancesRow => ({
  ...row,
  utterances: [
    ...row.utterances,
    ...all
      // A refusal is found even if nothing was said.
      .filter(({ kind, text, refused }) => text !== '' || (refused === true && kind === 'said'))
      .map((said) => ({
        ...said,
        place: position * PLACES + UTTERANCE_KINDS.indexOf(said.kind),
        revision,
        at: meta.at,
        actor: meta.actor,
      })),
  ],
});

const begun = (
  { stream, revision }: RecordedEvent,
  turnId: string | null,
  player: readonly string[],
): UtterancesRow | null => {
  const named = parseNpcStream(stream);
  return named === null ? null : { ...named, turnId, player, utterances: [], revision };
};

const heard = ({ npcId, player }: UtterancesRow, text: string): UtteranceDraft => ({
  kind: 'heard',
  by: player,
  to: [npcId],
  text,
});

/** What a verdict says and does: to the target of its action, and to the player. */
const acted = (
  { npcId, player }: UtterancesRow,
  verdict: Verdict,
  replacedBy: string | undefined,
): readonly UtteranceDraft[] => {
  const { valid, dialogue, action, refusedAction, code } = verdict;
  const done = action ?? refusedAction ?? null;
  const target = done?.target ?? '';
  const said = {
    by: [npcId],
    to: [...new Set([...(target === '' ? [] : [target]), ...player])],
    ...defined({ action: done?.type, drRuleId: replacedBy ?? refusingRule(verdict) }),
    ...(valid ? {} : ({ refused: true, ...defined({ code }) } as const)),
  };
  return [
    { kind: 'said', ...said, text: dialogue },
    { kind: 'did', ...said, text: done === null ? '' : actionText(done) },
  ];
};

type RememberedText = { readonly memoryId: string; readonly text: string; readonly player?: Speaker };

/** A memory of a turn mostly repeats what it heard: then that is marked, and not found twice. */
const remembered = (row: UtterancesRow, recorded: RecordedEvent, { memoryId, text }: RememberedText): UtterancesRow => {
  const repeats = row.utterances.findIndex((said) => said.text === text && said.memoryId === undefined);
  if (repeats < 0) return withUtterances(row, recorded, [{ kind: 'memory', by: [], to: [], text, memoryId }]);
  return { ...row, utterances: row.utterances.map((said, at) => (at === repeats ? { ...said, memoryId } : said)) };
};

/** Each row of an event is asked for alone. */
const idsIn = new WeakMap<JsonObject, ReadonlySet<string>>();

const withRetracted = (row: UtterancesRow, { data }: RecordedEvent): UtterancesRow => {
  const ids = idsIn.get(data) ?? new Set(retractedIds(data));
  idsIn.set(data, ids);
  const marked = (said: UtteranceEntry): UtteranceEntry =>
    said.memoryId !== undefined && ids.has(said.memoryId) ? { ...said, retracted: true } : said;
  return { ...row, utterances: row.utterances.map(marked) };
};

const evolve = (row: UtterancesRow | null, recorded: RecordedEvent): UtterancesRow | null => {
  const event = npcEvents.decode(recorded);
  const opened = (turnId: string, observation: string, player: readonly string[]): UtterancesRow | null => {
    const turn = row ?? begun(recorded, turnId, player);
    return turn && withUtterances(turn, recorded, [heard(turn, observation)]);
  };
  switch (event.type) {
    case 'TurnOpened':
    case 'DirectiveGiven': {
      const { turnId, observation, context, npcState, player } = event.data;
      return opened(turnId, observation, speakerIn(player, context, npcState));
    }
    case 'ContextBuilt': {
      const { turnId, observation, npcState, player } = event.data;
      return opened(turnId, observation, speakerIn(player, npcState));
    }
    case 'VerdictReached':
    case 'VerdictRefused': {
      const { turnId, asked, verdict, grounds } = event.data;
      const turn =
        asked === undefined ? row : opened(turnId, asked.observation, speakerIn(asked.player, asked.npcState));
      return turn && withUtterances(turn, recorded, acted(turn, verdict, grounds.replacedBy));
    }
    case 'MemoryStored':
    case 'MemoryArrived': {
      const turnId = event.type === 'MemoryStored' ? (event.data.turnId ?? null) : null;
      const memory = row ?? begun(recorded, turnId, speakerIn(event.data.player));
      return memory && remembered(memory, recorded, event.data);
    }
    case 'MemoriesRetracted':
      return row && withRetracted(row, recorded);
    default:
      return row;
  }
};

/** What filters select by. */
export type UtteranceFilter = 'kind' | 'npc' | 'by' | 'to' | 'refused' | 'rule' | 'action' | 'player' | 'actor';

/** The tag of a name that a filter selects by. */
export const utteranceTag = (filter: UtteranceFilter, name: string): string => `${filter} ${name}`;

const tagsOf = ({ npcId, player }: UtterancesRow, said: UtteranceEntry): readonly string[] => {
  const { kind, by, to, refused = false, drRuleId, action, actor } = said;
  const tagged = (filter: UtteranceFilter, ...names: readonly (string | undefined)[]): readonly string[] =>
    names.flatMap((name) => (name === undefined ? [] : [utteranceTag(filter, name)]));
  return [
    ...tagged('kind', kind),
    ...tagged('npc', npcId),
    ...tagged('by', ...by),
    ...tagged('to', ...to),
    ...tagged('refused', String(refused)),
    ...tagged('rule', drRuleId),
    ...tagged('action', action),
    ...tagged('player', ...player),
    ...tagged('actor', actor),
  ];
};

const none: readonly string[] = [];

/** The id of the row of a memory. No turn has such an id. */
const memoryRowId = (memoryId: string): string => `memory ${memoryId}`;

/** The rows in which a memory may be. */
const rowsOfMemory = (memoryId: string): readonly string[] => {
  const turnId = turnOfMemory(memoryId);
  return [memoryRowId(memoryId), ...(turnId === undefined ? [] : [turnId])];
};

/**
 * What was said, by whom and to whom, in all minds of a tenant: a row for each turn, and for each memory that no turn stored. Rows are never removed.
 */
export const utterances: Projection<UtterancesRow> = {
  name: 'utterances',
  version: 5,
  handles: [
    'TurnOpened',
    'DirectiveGiven',
    'ContextBuilt',
    'VerdictReached',
    'VerdictRefused',
    'MemoryStored',
    'MemoryArrived',
    'MemoriesRetracted',
  ],
  idsOf: ({ stream, type, data }) => {
    if (!isNpcStream(stream)) return none;
    const { turnId, memoryId } = data;
    if (type === 'MemoriesRetracted') return [...new Set(retractedIds(data).flatMap(rowsOfMemory))];
    if (type === 'MemoryArrived' || (type === 'MemoryStored' && turnId === undefined))
      return typeof memoryId === 'string' ? [memoryRowId(memoryId)] : none;
    return typeof turnId === 'string' ? [turnId] : none;
  },
  evolve,
  indexOf: ({ tenant, npcId, revision }) => ({
    partition: `${tenant} ${npcId}`,
    order: revisionOrder(revision),
    tag: '',
  }),
  passagesOf: (row) =>
    row.utterances.map((said) => ({
      place: said.place,
      partition: row.tenant,
      at: said.at,
      tags: tagsOf(row, said),
      text: said.text,
    })),
};
