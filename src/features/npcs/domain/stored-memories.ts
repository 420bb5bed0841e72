import type { UnknownEvent } from '../../../kernel/base/decoder.js';
import { shortDigest } from '../../../kernel/crypto/sha256.js';
import type { NpcEvent, Speaker } from './events.js';
import { isStranger, toldApart } from './told-apart.js';

/** How many of its last memories a mind's state holds (promise 3.2e). */
export const MEMORIES_KEPT = 256;
/** How many changes are kept in addition to a list. */
const CHANGES_KEPT = 64;

/** The facts that a confirmation needs about a stored memory. */
export type StoredMemory = {
  readonly memoryId: string;
  readonly turnId: string | null;
  /** `shortDigest` of its text. */
  readonly digest: string;
  /** Who told it: `tellerDigest`. */
  readonly teller: string | null;
  /** The revision of the event that stored it. */
  readonly revision: number;
  readonly atMs: number;
  readonly confirmed: boolean;
  /** Kept only to prevent storing it again by mistake. */
  readonly retracted: boolean;
};

/** The `shortDigest` of the id of a player who is told apart; `?` for a stranger, null without a player. */
export const tellerDigest = (player: Speaker | undefined): string | null => {
  const teller = toldApart(player);
  if (teller === undefined) return null;
  return isStranger(teller) ? UNKNOWN_TELLER : shortDigest(teller);
};
export const UNKNOWN_TELLER = '?';

type Change = { readonly stored: string } | { readonly confirmed: string };

/**
 * A mind's memories as part of its state: their number, and the necessary facts about the last ones. As with open turns, many states share one list
 * and only every CHANGES_KEPT-th change makes a new one, so the cost of storing a memory does not depend on how many are known.
 */
export type StoredMemories = {
  /** The number of memories stored since the last clear. */
  readonly count: number;
  /** The number of these that were retracted. */
  readonly retracted: number;
  /** The revision of the last clear, -1 if there was none. */
  readonly clearedAt: number;
  /** The revision of the last retraction, -1 if there was none. */
  readonly retractedAt: number;
  /** The revision of the last confirmation, -1 if there was none. */
  readonly confirmedAt: number;
  /** The last memories since the clear, oldest first, each packed into a string: as objects they would take five times the memory. */
  readonly list: readonly string[];
  readonly changes: readonly Change[];
};

export const noMemories: StoredMemories = {
  count: 0,
  retracted: 0,
  clearedAt: -1,
  retractedAt: -1,
  confirmedAt: -1,
  list: [],
  changes: [],
};

/** The first character of a packed memory that was retracted. */
const RETRACTED = 'x';

type Unretracted = Omit<StoredMemory, 'retracted'>;

/** The id comes last. The id of a turn's memory begins with the turn's id, so only its length is kept. */
const pack = ({ memoryId, turnId, digest, teller, revision, atMs, confirmed }: Unretracted): string => {
  const turnLength = turnId !== null && memoryId.startsWith(turnId) ? turnId.length : 0;
  const numbers = [revision, atMs, turnLength].map((number) => number.toString(36)).join(' ');
  return `${confirmed ? '+' : '-'}${digest}${teller === null ? '' : `~${teller}`} ${numbers} ${memoryId}`;
};

const packed = /^([+x-])([^\s~]+)(?:~(\S+))? ([0-9a-z]+) ([0-9a-z]+) ([0-9a-z]+) (.*)$/s;

/** Whether a string is a packed memory. */
export const isPackedMemory = (text: string): boolean => packed.test(text);

const unpack = (text: string): StoredMemory => {
  const [, mark = '', digest = '', teller = null, revision = '', at = '', turnLength = '', memoryId = ''] =
    packed.exec(text) ?? [];
  const length = parseInt(turnLength, 36);
  return {
    memoryId,
    turnId: length === 0 ? null : memoryId.slice(0, length),
    digest,
    teller,
    revision: parseInt(revision, 36),
    atMs: parseInt(at, 36),
    confirmed: mark === '+',
    retracted: mark === RETRACTED,
  };
};

const idOf = (text: string): string => text.slice(text.lastIndexOf(' ') + 1);

/** The list with all changes applied. Folding does this often, so packed strings are not unpacked for it. */
const settled = ({ list, changes }: StoredMemories): readonly string[] => {
  const texts = new Map(list.map((text) => [idOf(text), text]));
  for (const change of changes) {
    if ('stored' in change) {
      texts.set(idOf(change.stored), change.stored);
      continue;
    }
    const text = texts.get(change.confirmed);
    if (text?.startsWith(RETRACTED) === false) texts.set(change.confirmed, `+${text.slice(1)}`);
  }
  return [...texts.values()].slice(-MEMORIES_KEPT);
};

/** The last memories since the last clear, oldest first, at most MEMORIES_KEPT. */
export const lastMemories = (memories: StoredMemories): readonly StoredMemory[] => settled(memories).map(unpack);

const withChange = (memories: StoredMemories, change: Change): StoredMemories => {
  const changed = { ...memories, changes: [...memories.changes, change] };
  return changed.changes.length < CHANGES_KEPT ? changed : { ...changed, list: settled(changed), changes: [] };
};

/** Where and when an event was recorded. */
type StoredPlace = { readonly revision: number; readonly meta: { readonly at: string } };

/** A memory as its event stored it. */
export const storedMemory = (
  { memoryId, turnId, text, player }: Extract<NpcEvent, { type: 'MemoryStored' }>['data'],
  { revision, meta }: StoredPlace,
): StoredMemory => ({
  memoryId,
  turnId: turnId ?? null,
  digest: shortDigest(text),
  teller: tellerDigest(player),
  revision,
  atMs: Date.parse(meta.at),
  confirmed: false,
  retracted: false,
});

const arrivedMemory = (
  { memoryId, text, storedAt, confirmed, player }: Extract<NpcEvent, { type: 'MemoryArrived' }>['data'],
  { revision }: StoredPlace,
): Unretracted => ({
  memoryId,
  // Its turn belongs to another mind.
  turnId: null,
  digest: shortDigest(text),
  teller: tellerDigest(player),
  revision,
  atMs: Math.max(0, Date.parse(storedAt)),
  confirmed,
});

/** Retractions are rare, so each one makes a new list. */
const without = (memories: StoredMemories, memoryIds: readonly string[], revision: number): StoredMemories => {
  const gone = new Set(memoryIds);
  const list = settled(memories).map((text) => (gone.has(idOf(text)) ? `${RETRACTED}${text.slice(1)}` : text));
  return { ...memories, list, changes: [], retracted: memories.retracted + gone.size, retractedAt: revision };
};

/** A mind's memories after one of its events; the same value if the event does not concern memories. */
export const memoriesAfter = (
  memories: StoredMemories,
  event: NpcEvent | UnknownEvent,
  place: StoredPlace,
): StoredMemories => {
  switch (event.type) {
    case 'MemoryStored': {
      const stored = pack(storedMemory(event.data, place));
      return withChange({ ...memories, count: memories.count + 1 }, { stored });
    }
    case 'MemoryArrived': {
      const stored = pack(arrivedMemory(event.data, place));
      return withChange({ ...memories, count: memories.count + 1 }, { stored });
    }
    case 'MemoryConfirmed':
      return withChange({ ...memories, confirmedAt: place.revision }, { confirmed: event.data.memoryId });
    case 'MemoriesCleared':
      return {
        ...noMemories,
        clearedAt: place.revision,
        retractedAt: memories.retractedAt,
        confirmedAt: memories.confirmedAt,
      };
    case 'MemoriesRetracted':
      return without(memories, event.data.memoryIds, place.revision);
    default:
      return memories;
  }
};
