import { defined } from '../../../kernel/base/defined.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { makeProcessId } from '../../../kernel/crypto/process-id.js';
import { shortDigest } from '../../../kernel/crypto/sha256.js';
import { gameTimeOf } from '../../npcs/domain/game-time.js';
import type { NpcEvent, Speaker } from '../../npcs/domain/events.js';
import type { MindState } from '../../npcs/domain/state.js';
import { lastMemories, type StoredMemory, tellerDigest, UNKNOWN_TELLER } from '../../npcs/domain/stored-memories.js';

/** The default importance of a memory that a client stores. */
export const CONFIRMED_IMPORTANCE = 0.8;
/** The default type of a memory that a client stores. */
export const STORED_TYPE = 'observation';

/** A memory as a client sends it. */
export type BroughtMemory = {
  readonly text: string;
  readonly type: string;
  readonly importance: number;
  readonly metadata?: JsonObject;
  readonly player?: Speaker;
};

/** A memory that a body keeps, possibly from a turn. */
/** `verbatim`: it means only a memory with exactly this text; otherwise the text may be what the body observed. */
export type Confirmation = BroughtMemory & { readonly turnId?: string; readonly verbatim?: boolean };

/** The time of a command, in milliseconds since the epoch, and its id. Ids of memories are made from both. */
export type Commanded = { readonly timeMs: number; readonly commandId: string };

/** Whether a memory may be what somebody tells again: what one player told is not the memory of another. */
const isTold = ({ teller }: StoredMemory, by: string | null): boolean =>
  by === null || teller === null || (teller === by && by !== UNKNOWN_TELLER);

/** The first that is not confirmed yet, otherwise the first; a retracted one only if there is no other. */
const firstOpen = (memories: readonly StoredMemory[]): StoredMemory | undefined =>
  memories.find(({ confirmed, retracted }) => !confirmed && !retracted) ??
  memories.find(({ retracted }) => !retracted) ??
  memories[0];

/**
 * The memories of a turn in the mind's state; null if they may be older than those that the state holds.
 * @param openedAt the revision at which the turn was opened, undefined if no turn has such an id
 */
export const knownOfTurn = (
  { memories }: MindState,
  turnId: string,
  openedAt: number | undefined,
): readonly StoredMemory[] | null => {
  const last = lastMemories(memories);
  const [oldest] = last;
  const ofTurn = last.filter((memory) => memory.turnId === turnId);
  if (oldest === undefined || openedAt === undefined || last.length >= memories.count) return ofTurn;
  // The memories of a turn are adjacent: the oldest one in the state may be the second of its turn.
  const isWhole = ofTurn.length > 0 && oldest.turnId !== turnId;
  return isWhole || openedAt >= oldest.revision ? ofTurn : null;
};

/**
 * The existing memory that a confirmation refers to; undefined if it is about a new one.
 * @param ofTurn the memories of its turn, none if it names no turn
 * @param withinMs for how long the same text counts as the same memory
 * @param met whether only memories count that an earlier attempt found confirmed or retracted
 */
export const meantMemory = (
  { memories }: MindState,
  { text, verbatim = false, player }: Confirmation,
  ofTurn: readonly StoredMemory[],
  { timeMs, withinMs, met = false }: { readonly timeMs: number; readonly withinMs: number; readonly met?: boolean },
): StoredMemory | undefined => {
  const digest = shortDigest(text);
  const teller = tellerDigest(player);
  const counts = ({ confirmed, retracted }: StoredMemory): boolean => !met || confirmed || retracted;
  const left = ofTurn.filter((memory) => memory.revision > memories.clearedAt && counts(memory));
  const same = left.filter((memory) => memory.digest === digest);
  const ofText = same.find(({ retracted }) => !retracted) ?? same[0];
  if (ofText !== undefined || (left.length > 0 && !verbatim)) return ofText ?? firstOpen(left);
  return firstOpen(
    lastMemories(memories).filter(
      (memory) =>
        memory.digest === digest && isTold(memory, teller) && timeMs - memory.atMs <= withinMs && counts(memory),
    ),
  );
};

const stored = (
  { revision, facts }: MindState,
  { text, type, importance, metadata, player }: BroughtMemory,
  { timeMs, commandId }: Commanded,
): NpcEvent & { readonly type: 'MemoryStored' } => ({
  type: 'MemoryStored',
  data: {
    memoryId: makeProcessId('m', revision, timeMs, commandId),
    text,
    type,
    importance,
    ...defined({ metadata, player, gameTime: gameTimeOf(type, facts) }),
  },
});

/**
 * Confirms a memory; a new one is stored and confirmed in the same append. Nothing is recorded for a memory that was confirmed before, or that was
 * retracted: a body that still holds it must not restore it.
 */
export const confirmMemory = (
  mind: MindState,
  meant: StoredMemory | undefined,
  confirmation: Confirmation,
  by: Commanded,
): readonly NpcEvent[] => {
  if (meant !== undefined)
    return meant.confirmed || meant.retracted ? [] : [{ type: 'MemoryConfirmed', data: { memoryId: meant.memoryId } }];
  const memory = stored(mind, confirmation, by);
  return [memory, { type: 'MemoryConfirmed', data: { memoryId: memory.data.memoryId } }];
};

/** Stores a memory that an agent's client sends. */
export const storeMemory = (mind: MindState, memory: BroughtMemory, by: Commanded): readonly NpcEvent[] => [
  stored(mind, memory, by),
];

/** Removes all memories from lists and recall. Without memories, it records nothing. */
export const clearMemories = ({ memories }: MindState): readonly NpcEvent[] => {
  const count = memories.count - memories.retracted;
  return count === 0 ? [] : [{ type: 'MemoriesCleared', data: { count } }];
};

/** Removes these memories from lists, recall, confirmations and souls. Without any, it records nothing. */
export const retractMemories = (
  memoryIds: readonly string[],
  why: { readonly reason: string; readonly roots?: readonly string[] },
): readonly NpcEvent[] => (memoryIds.length === 0 ? [] : [{ type: 'MemoriesRetracted', data: { memoryIds, ...why } }]);
