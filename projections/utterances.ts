import type { Action } from '../src/features/rules/domain/bridge/action.js';
import { npcEvents, type Verdict } from '../src/features/npcs/domain/events.js';
import type { Json } from '../src/kernel/base/json.js';
import { isNpcStream, parseNpcStream } from '../src/kernel/base/stream-names.js';
import { eachPlayerIn } from '../src/features/npcs/domain/player-names.js';
import type { RecordedEvent } from '../src/ports/event-store.js';
import type { Projection } from '../src/ports/read-models.js';
import { revisionOrder } from '../src/kernel/read-models/row-order.js';

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
  /** For a verdict that was refused. */
  readonly refused?: true;
};

/** The utterances of one turn, or a memory that no turn stored. */
export type UtterancesRow = {
  readonly tenant: string;
  readonly npcId: string;
  readonly turnId: string | null;
  /** The names of the player whom the body named when the turn began. */
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

/** An action in words: its type, its target and its reason. */
const actionText = ({ type, target = '', reason = '' }: Action): string =>
  `${type}${target === '' ? '' : ` -> ${target}`}${reason === '' ? '' : `: ${reason}`}`;

type UtteranceDraft = Pick<UtteranceEntry, 'kind' | 'by' | 'to' | 'text' | 'refused'>;

const withUtterances = (
  row: UtterancesRow,
  { position, revision, meta }: RecordedEvent,
  all: readonly UtteranceDraft[],
): UtterancesRow => ({
  ...row,
  utterances: [
    ...row.utterances,
    ...all
      .filter(({ text }) => text !== '')
      .map((said) => ({
        ...said,
        place: position * PLACES + UTTERANCE_KINDS.indexOf(said.kind),
        revision,
        at: meta.at,
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
  { valid, dialogue, action, refusedAction }: Verdict,
): readonly UtteranceDraft[] => {
  const done = action ?? refusedAction ?? null;
  const target = done?.target ?? '';
  const said = {
    by: [npcId],
    to: [...new Set([...(target === '' ? [] : [target]), ...player])],
    ...(valid ? {} : ({ refused: true } as const)),
  };
  return [
    { kind: 'said', ...said, text: dialogue },
    { kind: 'did', ...said, text: done === null ? '' : actionText(done) },
  ];
};

const evolve = (row: UtterancesRow | null, recorded: RecordedEvent): UtterancesRow | null => {
  const event = npcEvents.decode(recorded);
  const opened = (turnId: string, observation: string, ...naming: readonly Json[]): UtterancesRow | null => {
    const turn = row ?? begun(recorded, turnId, playerIn(...naming));
    return turn && withUtterances(turn, recorded, [heard(turn, observation)]);
  };
  switch (event.type) {
    case 'TurnOpened':
    case 'DirectiveGiven': {
      const { turnId, observation, context, npcState } = event.data;
      return opened(turnId, observation, context, npcState);
    }
    case 'ContextBuilt':
      return opened(event.data.turnId, event.data.observation, event.data.npcState);
    case 'VerdictReached':
    case 'VerdictRefused': {
      const { turnId, asked, verdict } = event.data;
      const turn = asked === undefined ? row : opened(turnId, asked.observation, asked.npcState);
      return turn && withUtterances(turn, recorded, acted(turn, verdict));
    }
    case 'MemoryStored':
    case 'MemoryArrived': {
      const memory = row ?? begun(recorded, null, []);
      return memory && withUtterances(memory, recorded, [{ kind: 'memory', by: [], to: [], text: event.data.text }]);
    }
    default:
      return row;
  }
};

/** The tag of a name that filters select by. */
export const utteranceTag = (filter: 'kind' | 'npc' | 'by' | 'to', name: string): string => `${filter} ${name}`;

const tagsOf = (npcId: string, { kind, by, to }: UtteranceEntry): readonly string[] => [
  utteranceTag('kind', kind),
  utteranceTag('npc', npcId),
  ...by.map((name) => utteranceTag('by', name)),
  ...to.map((name) => utteranceTag('to', name)),
];

const none: readonly string[] = [];

/**
 * What was said, by whom and to whom, in all minds of a tenant: a row for each turn, and for each memory that no turn stored. Rows are never removed.
 */
export const utterances: Projection<UtterancesRow> = {
  name: 'utterances',
  version: 2,
  handles: [
    'TurnOpened',
    'DirectiveGiven',
    'ContextBuilt',
    'VerdictReached',
    'VerdictRefused',
    'MemoryStored',
    'MemoryArrived',
  ],
  idsOf: ({ stream, type, data }) => {
    if (!isNpcStream(stream)) return none;
    const { turnId, memoryId } = data;
    if (type === 'MemoryArrived' || type === 'MemoryStored')
      return typeof memoryId === 'string' && turnId === undefined ? [`memory ${memoryId}`] : none;
    return typeof turnId === 'string' ? [turnId] : none;
  },
  evolve,
  indexOf: ({ tenant, npcId, revision }) => ({
    partition: `${tenant} ${npcId}`,
    order: revisionOrder(revision),
    tag: '',
  }),
  passagesOf: ({ tenant, npcId, utterances: all }) =>
    all.map((said) => ({
      place: said.place,
      partition: tenant,
      at: said.at,
      tags: tagsOf(npcId, said),
      text: said.text,
    })),
};
