import type { EventStore, RecordedEvent } from '../ports/event-store.js';
import type { OpenedTurn, TurnState } from '../../workflows/turn-state.js';
import { turn } from '../../workflows/turn.js';

/** How far back in a mind's stream its recent turns are looked for. */
export const TURN_SEARCH_EVENTS = 2_000;
/** How many new events are read at once; where there are more, the newest are read. */
const REFRESH_EVENTS = 100;
/** How many turns of one mind are remembered, and of how many minds. */
export const TURNS_KEPT_PER_MIND = 128;
export const MINDS_KEPT = 10_000;

type Recent = { readonly turns: Map<string, OpenedTurn>; readonly successors: Map<string, string>; upTo: number };

/**
 * The recent turns of each mind, newest last: finding a turn without its id is the main path of typed clients, which drop members that they
 * do not know. Made by one backward read of the stream, bounded, and kept current by what is recorded.
 */
export class TurnIndex {
  readonly #events: EventStore;
  readonly #shared: boolean;
  readonly #minds = new Map<string, Recent>();

  /** @param shared whether other programs write these streams too: `recent` then reads first what they have appended. */
  constructor(events: EventStore, { shared = false }: { readonly shared?: boolean } = {}) {
    this.#events = events;
    this.#shared = shared;
  }

  /** Recent turns of a mind, newest first, as known here. */
  async recent(stream: string): Promise<readonly OpenedTurn[]> {
    return this.#shared ? this.refresh(stream) : newestFirst(await this.#mind(stream));
  }

  /** The turn that went on where `turnId` was lost or expired. */
  async successor(stream: string, turnId: string): Promise<string | undefined> {
    return (await this.#mind(stream)).successors.get(turnId);
  }

  /** Reads what was appended by others since, the newest TURN_SEARCH_EVENTS of it. @returns as `recent` */
  async refresh(stream: string): Promise<readonly OpenedTurn[]> {
    const mind = await this.#mind(stream);
    const next = { direction: 'forwards', from: mind.upTo + 1, limit: REFRESH_EVENTS } as const;
    const { events, lastRevision } = await this.#events.read(stream, next);
    if (events.length < REFRESH_EVENTS || lastRevision === events.at(-1)?.revision) {
      this.#fold(mind, events);
      return newestFirst(mind);
    }
    const newest = { direction: 'backwards', to: mind.upTo + 1, limit: TURN_SEARCH_EVENTS } as const;
    this.#fold(mind, [...(await this.#events.read(stream, newest)).events].reverse());
    return newestFirst(mind);
  }

  /** Takes note of a turn after a step. Where other programs write too nothing is noted: `recent` reads on in any case. */
  async noted(stream: string, load: () => Promise<TurnState>): Promise<void> {
    if (this.#shared || !this.#minds.has(stream)) return;
    const state = await load();
    const mind = this.#minds.get(stream);
    if (mind !== undefined && state.name !== 'new') this.#put(mind, state);
  }

  async #mind(stream: string): Promise<Recent> {
    let mind = this.#minds.get(stream);
    if (mind === undefined) {
      const { events, lastRevision } = await this.#events.read(stream, {
        direction: 'backwards',
        limit: TURN_SEARCH_EVENTS,
      });
      mind = this.#minds.get(stream);
      if (mind === undefined) {
        mind = { turns: new Map(), successors: new Map(), upTo: lastRevision };
        this.#fold(mind, [...events].reverse());
      }
    } else this.#minds.delete(stream);
    this.#minds.set(stream, mind);
    if (this.#minds.size > MINDS_KEPT) {
      const [oldest] = this.#minds.keys();
      if (oldest !== undefined) this.#minds.delete(oldest);
    }
    return mind;
  }

  #fold(mind: Recent, events: readonly RecordedEvent[]): void {
    let missing: RecordedEvent | null = null;
    for (const event of events) {
      const turnId = event.data['turnId'];
      mind.upTo = Math.max(mind.upTo, event.revision);
      if (typeof turnId !== 'string') continue;
      const known = mind.turns.get(turnId);
      if (event.type === 'RulesetMissing') missing = event;
      if (known === undefined && event.type !== 'TurnOpened') continue;
      const before = known ?? (missing === null ? turn.initial : turn.evolve(turn.initial, missing));
      // Folding an event twice would double its round.
      if (known !== undefined && known.rounds.some(({ revision }) => revision >= event.revision)) continue;
      const after = turn.evolve(before, event);
      if (after.name !== 'new') this.#put(mind, after);
    }
  }

  #put(mind: Recent, state: OpenedTurn): void {
    mind.turns.set(state.turnId, state);
    if (state.resumedFrom !== undefined) mind.successors.set(state.resumedFrom, state.turnId);
    if (mind.turns.size <= TURNS_KEPT_PER_MIND) return;
    for (const [turnId, kept] of mind.turns) {
      if (kept.name !== 'ended' && kept.name !== 'expired' && mind.turns.size <= 4 * TURNS_KEPT_PER_MIND) continue;
      mind.turns.delete(turnId);
      if (kept.resumedFrom !== undefined) mind.successors.delete(kept.resumedFrom);
      return;
    }
  }
}

const newestFirst = ({ turns }: Recent): readonly OpenedTurn[] => [...turns.values()].reverse();
