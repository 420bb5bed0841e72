import { LRUCache } from 'lru-cache';

import type { EventStore } from '../../ports/event-store.js';
import type { StreamTail } from '../../kernel/processes/process-repository.js';
import type { StreamEvent } from '../../kernel/streams/fold.js';
import { idKey, keyChange, type KeyChange, type TurnKey } from './turn-key.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';

/** How far back in a mind's stream its recent turns are looked for, in events. */
export const TURN_SEARCH_EVENTS = 2_000;
/** How many turns of one mind are remembered: ended ones, and in total. */
export const TURNS_KEPT_PER_MIND = 128;
const OPEN_TURNS_KEPT_PER_MIND = 4 * TURNS_KEPT_PER_MIND;
/** How many turns of all minds are remembered, about 800 bytes each. The turns of minds that were silent longest are dropped first. */
export const TURNS_KEPT = 400_000;

/** How many of the events that were read are returned. */
const TAIL_EVENTS = 64;

type Recent = { readonly turns: Map<string, TurnKey>; readonly successors: Map<string, string>; upTo: number };

type FoundMind = { readonly mind: Recent; readonly tail: StreamTail | undefined };

/**
 * The recent turns of each mind, newest last. Typed clients drop members that they do not know, so finding a turn without its id is their main path.
 * The index holds only the data that distinguishes turns. It is built by one bounded backward read of the stream, and updated from newly recorded
 * events.
 */
export class TurnIndex {
  readonly #events: EventStore;
  readonly #shared: boolean;
  /** Changes noted for minds whose streams are being read. */
  readonly #loading = new Map<string, KeyChange[]>();
  readonly #minds = new LRUCache<string, Recent>({
    maxSize: TURNS_KEPT,
    sizeCalculation: ({ turns }) => 1 + turns.size,
  });

  /** @param shared whether other programs also write these streams; `recent` then first reads their appends. */
  constructor(events: EventStore, { shared = true }: { readonly shared?: boolean } = {}) {
    this.#events = events;
    this.#shared = shared;
  }

  /** Notes events that were recorded here, so a sole writer need not read them back. */
  note(stream: string, events: readonly StreamEvent[]): void {
    if (this.#shared) return;
    const changes = changesOf(events);
    const mind = this.#minds.get(stream);
    if (mind === undefined) this.#loading.get(stream)?.push(...changes);
    else if (changes.length > 0) {
      for (const change of changes) apply(mind, change);
      this.#weighAgain(stream, mind);
    }
  }

  /** The turn that resumed `turnId` after it was lost or expired. */
  async successor(stream: string, turnId: string): Promise<string | undefined> {
    return (await this.#mind(stream)).mind.successors.get(idKey(turnId));
  }

  /** Recent turns of a mind, newest first, including everything recorded before this call, within its newest TURN_SEARCH_EVENTS events. */
  async recent(stream: string): Promise<readonly TurnKey[]> {
    return (await this.recentWithTail(stream)).turns;
  }

  /** The same, with the last events that were read for it, so the next fold of the turn need not read them again. */
  async recentWithTail(
    stream: string,
  ): Promise<{ readonly turns: readonly TurnKey[]; readonly tail: StreamTail | undefined }> {
    const { mind, tail } = await this.#mind(stream);
    // Another call has read further in the meantime: a turn that it found is not in this tail.
    return { turns: newestFirst(mind), tail: tail !== undefined && tail.through >= mind.upTo ? tail : undefined };
  }

  async #mind(stream: string): Promise<FoundMind> {
    const known = this.#minds.get(stream);
    if (known !== undefined) return this.#shared ? this.#readOn(stream, known) : { mind: known, tail: undefined };
    const noted = this.#loading.get(stream) ?? [];
    this.#loading.set(stream, noted);
    const empty: Recent = { turns: new Map(), successors: new Map(), upTo: -1 };
    const { mind: made, tail } = await this.#readOn(stream, empty).finally(() => {
      if (this.#loading.get(stream) === noted) this.#loading.delete(stream);
    });
    // Another call may have created it in the meantime, and have noted more.
    const other = this.#minds.get(stream);
    if (other !== undefined && (!this.#shared || other.upTo >= made.upTo)) return { mind: other, tail };
    for (const change of noted) apply(made, change);
    this.#minds.set(stream, made);
    return { mind: made, tail };
  }

  /** Reads back to the known events, at most TURN_SEARCH_EVENTS, and folds what it read in the order in which it happened. */
  async #readOn(stream: string, mind: Recent): Promise<FoundMind> {
    const changes: KeyChange[] = [];
    let upTo = mind.upTo;
    let newest: readonly StreamEvent[] = [];
    const range = { direction: 'backwards', to: mind.upTo + 1 } as const;
    for await (const { events } of pagesOf(this.#events, stream, range, TURN_SEARCH_EVENTS)) {
      upTo = Math.max(upTo, events[0]?.revision ?? -1);
      if (newest.length === 0) newest = events.slice(0, TAIL_EVENTS);
      changes.push(...changesOf(events));
    }
    // Another call may have read the same in the meantime.
    const known = mind.upTo;
    for (const change of together(changes.reverse())) if (change.revision > known) apply(mind, change);
    mind.upTo = Math.max(mind.upTo, upTo);
    if (changes.length > 0) this.#weighAgain(stream, mind);
    return { mind, tail: { events: [...newest].reverse(), through: upTo } };
  }

  /** Its size has changed, which the cache does not notice. A mind that was dropped in the meantime is not added again. */
  #weighAgain(stream: string, mind: Recent): void {
    if (this.#minds.peek(stream) !== mind) return;
    this.#minds.delete(stream);
    this.#minds.set(stream, mind);
  }
}

const changesOf = (events: readonly StreamEvent[]): readonly KeyChange[] =>
  events.map(keyChange).filter((change) => change !== null);

/** Changes in their order, with retractions in a row as one: each looks at every turn. */
const together = (changes: readonly KeyChange[]): readonly KeyChange[] => {
  const joined: KeyChange[] = [];
  let row: string[] = [];
  for (const change of changes) {
    if (!('retracts' in change)) {
      joined.push(change);
      continue;
    }
    const last = joined.at(-1);
    if (last !== undefined && 'retracts' in last) joined.pop();
    else row = [];
    row.push(...change.retracts);
    joined.push({ revision: change.revision, retracts: row });
  }
  return joined;
};

/** Whether a turn was opened with another one. */
const hasHeard = ({ heard = [], partner }: TurnKey, { made, partner: other }: TurnKey): boolean =>
  partner === other && made !== undefined && heard.includes(made);

/**
 * Marks the earlier turns that stored or recalled one of these memories, and those that were opened with such a turn: they may have repeated it. A turn
 * is marked once, together with those that heard it.
 */
const retract = (turns: Map<string, TurnKey>, memoryIds: readonly string[], revision: number): void => {
  const retracted = new Set(memoryIds);
  const gone: TurnKey[] = [];
  for (const [turnId, turn] of turns) {
    if (turn.retracted === true || turn.began.revision > revision) continue;
    const { touched = [] } = turn;
    if (!touched.some((id) => retracted.has(id)) && !gone.some((one) => hasHeard(turn, one))) continue;
    turns.set(turnId, { ...turn, retracted: true });
    gone.push(turn);
  }
};

/** Marks the turns before a clear. */
const forget = (turns: Map<string, TurnKey>, revision: number): void => {
  for (const [turnId, turn] of turns)
    if (turn.retracted !== true && turn.began.revision < revision) turns.set(turnId, { ...turn, retracted: true });
};

/** Whether a turn was opened with what was retracted or cleared in the meantime. */
const heardRetracted = (turns: ReadonlyMap<string, TurnKey>, turn: TurnKey): boolean => {
  if (turn.heard === undefined) return false;
  for (const one of turns.values()) if (one.retracted === true && hasHeard(turn, one)) return true;
  return false;
};

const apply = (mind: Recent, change: KeyChange): void => {
  if ('retracts' in change) {
    retract(mind.turns, change.retracts, change.revision);
    return;
  }
  if ('clears' in change) {
    forget(mind.turns, change.revision);
    return;
  }
  const { turnId, next } = change;
  const before = mind.turns.get(turnId);
  const after = next(before);
  if (after === undefined || after === before) return;
  const isRetracted = before === undefined && heardRetracted(mind.turns, after);
  mind.turns.set(turnId, isRetracted ? { ...after, retracted: true } : after);
  if (after.successorOf !== undefined) mind.successors.set(after.successorOf, turnId);
  if (mind.turns.size > TURNS_KEPT_PER_MIND) forgetOne(mind);
};

/** Drops the oldest ended turn; an open one only if there are too many. */
const forgetOne = ({ turns, successors }: Recent): void => {
  for (const [turnId, { awaits, successorOf }] of turns) {
    if (awaits !== null && turns.size <= OPEN_TURNS_KEPT_PER_MIND) continue;
    turns.delete(turnId);
    if (successorOf !== undefined) successors.delete(successorOf);
    return;
  }
};

const newestFirst = ({ turns }: Recent): readonly TurnKey[] => [...turns.values()].reverse();
