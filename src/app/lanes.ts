import type { Clock } from '../ports/clock.js';
import type { EventStore } from '../ports/event-store.js';
import { type Fold, Lane } from './lane.js';

/** How many streams' heads and states are kept in memory; the longest unused idle one goes first. */
export const LANES_KEPT = 10_000;

/** The lanes of this process: one per stream, made when first asked for. */
export class Lanes {
  readonly #lanes = new Map<string, Lane<unknown>>();
  readonly #store: EventStore;
  readonly #clock: Clock;
  readonly #kept: number;
  readonly #shared: boolean;

  /** @param shared whether other programs write these streams too */
  constructor(
    store: EventStore,
    clock: Clock,
    { kept = LANES_KEPT, shared = false }: { readonly kept?: number; readonly shared?: boolean } = {},
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#kept = kept;
    this.#shared = shared;
  }

  /** The loaded lane of a stream. A stream is always folded the same way: callers of one stream pass the same fold. */
  async open<State>(stream: string, fold: Fold<State>): Promise<Lane<State>> {
    let lane = this.#lanes.get(stream) as Lane<State> | undefined;
    if (lane === undefined) {
      lane = new Lane(stream, fold, this.#store, this.#clock);
      this.#makeRoom();
    } else this.#lanes.delete(stream);
    this.#lanes.set(stream, lane);
    await lane.load();
    return lane;
  }

  /**
   * As `open`, for who answers from the lane without writing: where other programs write too, what they have appended is read first. While an
   * append of this lane is on its way nothing is read: its outcome shows whether somebody was faster.
   */
  async current<State>(stream: string, fold: Fold<State>): Promise<Lane<State>> {
    const lane = await this.open(stream, fold);
    if (this.#shared && !lane.busy) await lane.refresh();
    return lane;
  }

  #makeRoom(): void {
    if (this.#lanes.size < this.#kept) return;
    for (const [stream, lane] of this.#lanes) {
      if (lane.busy) continue;
      this.#lanes.delete(stream);
      return;
    }
  }
}
