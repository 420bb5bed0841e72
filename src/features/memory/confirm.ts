import { type Confirmation, confirmMemory, knownOfTurn, meantMemory } from './domain/decide.js';
import type { MindState } from '../npcs/domain/state.js';
import { lastMemories, type StoredMemory } from '../npcs/domain/stored-memories.js';
import { parseProcessId } from '../../kernel/crypto/process-id.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { EventStore } from '../../ports/event-store.js';
import { mindFold } from '../npcs/mind-fold.js';
import { parseCommandId } from '../../kernel/streams/command-id.js';
import type { StreamEvent } from '../../kernel/streams/fold.js';
import { type Command, type CommandDeps, runCommand } from '../../kernel/streams/run-command.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import { memoriesOfTurn, TURN_MEMORY_EVENTS, type TurnMemories } from './turn-memories.js';

/** How often an old turn's memories are read again because other requests confirmed memories of the mind in the meantime. */
const SEARCHES = 8;

const NO_LONGER_KNOWN =
  'This request was already carried out. Its memory has since been cleared, or is no longer among the latest of this NPC. Read the list of memories.';

/** The event that stored the memory, and the end of the stream. */
export type Confirmed = {
  readonly stored: StreamEvent;
  /** It was retracted and stays retracted: nothing was confirmed. */
  readonly retracted: boolean;
  readonly revision: number;
  readonly position: number;
};

/** The revision that a memory's id begins with, from its own command or its turn. The memory was stored after it. */
const revisionIn = (memoryId: string): number =>
  (parseProcessId(memoryId) ?? parseProcessId(memoryId.replace(/-\d+$/, '')))?.revision ?? 0;

/**
 * The event that stored a memory.
 * @param revision its revision, if known
 * @returns null if it is not among the TURN_MEMORY_EVENTS events after the revision in its id; propagates errors from the event store
 */
const storedEvent = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  memoryId: string,
  revision: number | undefined,
): Promise<StreamEvent | null> => {
  const from = revision ?? revisionIn(memoryId);
  const most = revision === undefined ? TURN_MEMORY_EVENTS : 1;
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from }, most)) {
    const found = page.events.find(
      ({ type, data }) => (type === 'MemoryStored' || type === 'MemoryArrived') && data['memoryId'] === memoryId,
    );
    if (found !== undefined) return found;
  }
  return null;
};

/**
 * Confirms a memory, or stores a new one. Whether it is new is decided from the events. The memories of a turn that ended long ago are not in the
 * mind's state, and are then read from the stream.
 * @param withinMs for how long the same text counts as the same memory
 * @throws Rejection CONFLICT if others keep confirming, or if the memory of an earlier attempt can no longer be found; and as runCommand
 */
export const confirm = async (
  deps: CommandDeps,
  stream: string,
  { withinMs, ...confirmation }: Confirmation & { readonly withinMs: number },
  by: Command,
): Promise<Confirmed> => {
  const { turnId } = confirmation;
  const openedAt = turnId === undefined ? undefined : parseProcessId(turnId)?.revision;
  // A command that was done before and recorded nothing had found a memory that needed no change.
  const met = by.done === true;
  const timeMs = met ? parseCommandId(by.commandId).timeMs : deps.clock.now().getTime();
  let searched: TurnMemories | null = null;

  /** Null if too little is known of the turn to decide. */
  const ofTurn = (mind: MindState): readonly StoredMemory[] | null => {
    const known = turnId === undefined ? [] : knownOfTurn(mind, turnId, openedAt);
    if (known !== null || searched === null) return known;
    const { confirmedAt, retractedAt } = mind.memories;
    return searched.through >= Math.max(confirmedAt, retractedAt) ? searched.memories : null;
  };
  const meantIn = (mind: MindState, memories: readonly StoredMemory[]): StoredMemory | undefined =>
    meantMemory(mind, confirmation, memories, { timeMs, withinMs, met });

  for (let search = 0; search <= SEARCHES; search += 1) {
    const { events, state, revision, position } = await runCommand(deps, stream, mindFold, by, (mind) => {
      const memories = ofTurn(mind);
      if (memories === null) return [];
      return confirmMemory(mind, meantIn(mind, memories), confirmation, { timeMs, commandId: by.commandId });
    });
    const memories = ofTurn(state);
    if (events.length === 0 && memories === null) {
      searched = await memoriesOfTurn(deps.events, stream, turnId ?? '', openedAt ?? 0);
      continue;
    }
    const known = [...lastMemories(state.memories), ...(searched?.memories ?? [])];
    const memoryId = confirmedIn(events) ?? meantIn(state, memories ?? [])?.memoryId ?? '';
    const { revision: at, retracted = false } = known.find((memory) => memory.memoryId === memoryId) ?? {};
    const stored =
      events.find(({ type }) => type === 'MemoryStored') ??
      (memoryId === '' ? null : await storedEvent(deps.events, stream, memoryId, at));
    if (stored === null && by.done === true) throw new Rejection('MEMORY_NOT_FOUND', { message: NO_LONGER_KNOWN });
    if (stored === null) break;
    return { stored, retracted, revision, position };
  }
  throw new Rejection('CONFLICT', {
    message: 'Concurrent requests kept writing to this stream. Try again.',
    retryAfter: 1,
  });
};

/** The memory that a command confirmed, in this or an earlier attempt. */
const confirmedIn = (events: readonly StreamEvent[]): string | undefined =>
  events.find(({ type }) => type === 'MemoryConfirmed')?.data['memoryId'] as string | undefined;
