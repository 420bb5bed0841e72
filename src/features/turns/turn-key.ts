import { npcEvents, type NpcEvent, type RecalledMemory, type Speaker } from '../npcs/domain/events.js';
import { toldApart } from '../npcs/domain/told-apart.js';
import { comparisonSlices, comparisonText } from './domain/same.js';
import type { Json } from '../../kernel/base/json.js';
import { drained, type Sliced } from '../../kernel/base/sliced.js';
import { defined } from '../../kernel/base/defined.js';
import type { RecordedEvent } from '../../ports/event-store.js';
import { parseProcessId } from '../../kernel/crypto/process-id.js';
import { shortDigest } from '../../kernel/crypto/sha256.js';

/** The kinds of results, in the order in which a turn takes them. */
export const resultKinds = ['actor', 'memories', 'output'] as const;
export type ResultKind = (typeof resultKinds)[number];

/**
 * The data for finding a turn among its mind's recent ones. Texts are digests of their comparison form, so a key is small however long they are. The
 * turn itself is read from its stream.
 */
export type TurnKey = {
  readonly turnId: string;
  /** The revision in its id, by which others name it that were opened with it. */
  readonly made?: number;
  /** The result it waits for; null once it has ended. */
  readonly awaits: ResultKind | null;
  readonly expired: boolean;
  /** It runs on this server: no body's step belongs to it. */
  readonly agent: boolean;
  readonly deadlineMs: number;
  readonly commandId: string;
  /** The id of the lost turn that it resumes. */
  readonly successorOf?: string;
  readonly said: string;
  /** The player who opened it, if told apart from others. */
  readonly player?: string;
  /** With whom it was: the player who opened it, however named; absent if nobody was. */
  readonly partner?: string;
  /** The memories that it recalled or stored, and whether one of them was retracted. */
  readonly touched?: readonly string[];
  /** The exchanges that it was opened with, by the revisions in their ids. */
  readonly heard?: readonly number[];
  readonly retracted?: true;
  readonly actor?: string;
  readonly memories?: string;
  readonly output?: string;
  /** The event that opened it. */
  readonly began: TurnPlace;
  /** Its verdict, once it has one. */
  readonly ended?: TurnPlace;
  /** The results that came with the opening. */
  readonly atFirst: readonly ResultKind[];
};

/** An event of a turn: where it is in its stream, and when it was recorded, in milliseconds since the epoch. */
export type TurnPlace = { readonly revision: number; readonly atMs: number };

/** Up to this length, in characters, a text is kept unchanged: a digest is hardly shorter and costs more. JSON never looks like a digest. */
const KEPT_CHARACTERS = 64;

const compact = (json: string): string => (json.length <= KEPT_CHARACTERS ? json : shortDigest(json));

/** The comparison form of the values that a turn is opened with. It yields whenever the driver may pause. */
export function* saidSlices(observation: string, context: Json): Sliced<string> {
  return compact(`${JSON.stringify(observation)}${yield* comparisonSlices(context)}`);
}

/** The comparison form of an id that a client chose, which may be long. */
export const idKey = (id: string): string => compact(comparisonText(id));

/** What tells the turns of players apart. */
export const playerKey = (player: Speaker | undefined): Pick<TurnKey, 'player'> => {
  const id = toldApart(player);
  return id === undefined ? {} : { player: idKey(id) };
};

/** Whose conversation a turn belongs to. A player whom only the context names is another one than a player who is told apart. */
export const partnerKey = (player: Speaker | undefined): Pick<TurnKey, 'partner'> =>
  player === undefined ? {} : { partner: `${player.from === 'context' ? '?' : ''}${idKey(player.id)}` };

export const memoriesKey = (memories: readonly RecalledMemory[]): string =>
  compact(comparisonText(memories.map(({ text }) => text)));

export const outputKey = (generatedOutput: string): string => compact(comparisonText(generatedOutput));

const opened = (
  data: Extract<NpcEvent, { type: 'TurnOpened' }>['data'],
  commandId: string,
  began: TurnPlace,
): TurnKey => {
  const { turnId, observation, context, deadlineAt, actor, memories, resumedFrom, player, conversation = [] } = data;
  const heard = conversation.flatMap((exchange) => parseProcessId(exchange.turnId)?.revision ?? []);
  return {
    turnId,
    ...defined({ made: parseProcessId(turnId)?.revision }),
    awaits: actor === undefined && data.agent !== true ? 'actor' : memories === undefined ? 'memories' : 'output',
    expired: false,
    agent: data.agent === true,
    deadlineMs: Date.parse(deadlineAt),
    commandId,
    began,
    ...(resumedFrom === undefined ? {} : { successorOf: idKey(resumedFrom) }),
    said: drained(saidSlices(observation, context)),
    ...playerKey(player),
    ...partnerKey(player),
    ...(heard.length === 0 ? {} : { heard }),
    ...(actor === undefined ? {} : { actor: idKey(actor.npcId) }),
    ...(memories === undefined ? {} : { memories: memoriesKey(memories) }),
    atFirst: [
      ...(actor === undefined ? [] : (['actor'] as const)),
      ...(memories === undefined ? [] : (['memories'] as const)),
    ],
  };
};

/** One update of a key, or of the keys of all turns that recalled or stored one of these memories. It is made from an event, so the event itself need not be kept. */
export type KeyChange = { readonly revision: number } & (
  | { readonly turnId: string; readonly next: (before: TurnKey | undefined) => TurnKey | undefined }
  | { readonly retracts: readonly string[] }
  /** All that was said before is forgotten. */
  | { readonly clears: true }
);

const touching = (before: TurnKey, ids: readonly string[]): TurnKey =>
  ids.length === 0 ? before : { ...before, touched: [...(before.touched ?? []), ...ids] };

/** The change of a turn's key by an event; null if there is none. */
export const keyChange = (recorded: Pick<RecordedEvent, 'type' | 'data' | 'revision' | 'meta'>): KeyChange | null => {
  const event = npcEvents.decode(recorded);
  const { revision } = recorded;
  const place = (): TurnPlace => ({ revision, atMs: Date.parse(recorded.meta.at) });
  const later = (turnId: string, changed: Partial<TurnKey>): KeyChange => ({
    turnId,
    revision,
    next: (before) => before && { ...before, ...changed },
  });
  switch (event.type) {
    case 'TurnOpened': {
      const key = opened(event.data, recorded.meta.commandId, place());
      return { turnId: key.turnId, revision, next: (before) => before ?? key };
    }
    case 'ActorIdentified':
      return later(event.data.turnId, { awaits: 'memories', actor: idKey(event.data.actor.npcId) });
    case 'MemoriesRecalled': {
      const { turnId, memories } = event.data;
      const ids = memories.flatMap(({ memoryId = [] }) => memoryId);
      return {
        turnId,
        revision,
        next: (before) => before && { ...touching(before, ids), awaits: 'output', memories: memoriesKey(memories) },
      };
    }
    case 'VerdictReached':
    case 'VerdictRefused': {
      const { turnId, generatedOutput } = event.data;
      return later(turnId, { awaits: null, output: outputKey(generatedOutput), ended: place() });
    }
    case 'TurnExpired':
    case 'TurnFailed':
      return later(event.data.turnId, { awaits: null, expired: true });
    case 'MemoryStored': {
      const { turnId, memoryId } = event.data;
      if (turnId === undefined) return null;
      return { turnId, revision, next: (before) => before && touching(before, [memoryId]) };
    }
    case 'MemoriesRetracted':
      return { revision, retracts: event.data.memoryIds };
    case 'MemoriesCleared':
      return { revision, clears: true };
    default:
      return null;
  }
};
