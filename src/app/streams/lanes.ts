import { LRUCache } from 'lru-cache';

import { weightOf } from '../../domain/shared/weight.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Moment } from '../../ports/snapshots.js';
import type { Fold, Place } from './fold.js';
import { foldStream } from './fold-stream.js';
import { Lane } from './lane.js';
import { Lines } from '../pacing/line.js';
import { type Snapshotting, withoutSnapshots } from './snapshotting.js';

/** How much memory the states of streams may take, in bytes as `weightOf` counts; the longest unused streams go first. */
export const LANES_BYTES = 256 * 1024 * 1024;
/** How many streams' heads and states are kept in memory at most. */
export const LANES_KEPT = 10_000;
/** How much a state may have grown since it was weighed, in characters of JSON, and as a share of its weight, before it is weighed again. */
const GROWN_CHARS = 64 * 1024;
const GROWN_SHARE = 1 / 4;
/** How long a lane that was let go can be taken back, in milliseconds: somebody who has just opened it may be about to write. */
const LEAVING_MS = 1_000;

type KeptLane = { readonly lane: Lane<unknown>; readonly bytes: number };

/** The lanes of this process: one per stream, made when first asked for. */
export class Lanes {
  readonly #lanes: LRUCache<string, KeptLane>;
  /** Lanes that had to go a moment ago, or while something was in flight: still the only ones of their streams until that is over. */
  readonly #leaving = new Map<string, KeptLane>();
  readonly #store: EventStore;
  readonly #clock: Clock;
  readonly #snapshots: Snapshotting;
  readonly #shared: boolean;
  readonly #bytes: number;
  readonly #lines = new Lines();

  /**
   * @param shared whether other programs write these streams too
   * @param snapshots where long streams begin to be folded
   */
  constructor(
    store: EventStore,
    clock: Clock,
    {
      kept = LANES_KEPT,
      bytes = LANES_BYTES,
      shared = false,
      snapshots = withoutSnapshots,
    }: {
      readonly kept?: number;
      readonly bytes?: number;
      readonly shared?: boolean;
      readonly snapshots?: Snapshotting;
    } = {},
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#snapshots = snapshots;
    this.#shared = shared;
    this.#bytes = bytes;
    this.#lanes = new LRUCache({
      max: kept,
      maxSize: bytes,
      sizeCalculation: (entry) => entry.bytes,
      dispose: (gone, stream, reason) => {
        if (reason === 'evict') this.#letGo(stream, gone);
      },
    });
  }

  /** Lets those who carry out the same command go one behind the other. @throws Rejection BUSY */
  inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.#lines.inTurn(name, work);
  }

  /** Whether other programs write these streams too. */
  get shared(): boolean {
    return this.#shared;
  }

  /**
   * The loaded lane of a stream. What others appended since it was loaded may be missing: an append shows that. A stream is always folded the same
   * way: callers of one stream pass the same fold. Nobody keeps a lane for later: it may be let go, and then takes no more appends.
   */
  async open<State>(stream: string, fold: Fold<State>): Promise<Lane<State>> {
    const kept = this.#lanes.get(stream) ?? this.#takeBack(stream) ?? this.#make(stream, fold);
    await kept.lane.load();
    return kept.lane as Lane<State>;
  }

  /** A stream's durable state, for those who answer from it: with everything that was appended before this call, by whomever. */
  async current<State>(stream: string, fold: Fold<State>): Promise<Place<State>> {
    const lane = await this.open(stream, fold);
    return this.#shared ? lane.latest() : { state: lane.confirmedState, revision: lane.confirmedRevision };
  }

  /** A stream's state after its last event not beyond `moment`, folded for this answer alone. */
  asOf<State>(stream: string, fold: Fold<State>, moment: Moment): Promise<Place<State>> {
    return foldStream({ events: this.#store, snapshots: this.#snapshots }, stream, fold, moment);
  }

  /** The last revision of a stream, or an earlier one that is known without reading; -1 when it has none. */
  async revisionOf(stream: string): Promise<number> {
    const known = this.#lanes.peek(stream)?.lane.confirmedRevision ?? -1;
    return known >= 0 ? known : (await this.#store.read(stream, { direction: 'backwards', limit: 1 })).lastRevision;
  }

  #make<State>(stream: string, fold: Fold<State>): KeptLane {
    const onGrown = (grown: number): boolean => this.#weigh(stream, grown);
    const lane: Lane<State> = new Lane(stream, fold, this.#store, this.#clock, onGrown, this.#snapshots);
    const kept = { lane: lane as unknown as Lane<unknown>, bytes: 1 };
    this.#lanes.set(stream, kept);
    return kept;
  }

  /** @param grown in characters of JSON, since it was weighed @returns whether it was weighed */
  #weigh(stream: string, grown: number): boolean {
    const kept = this.#lanes.peek(stream);
    if (kept === undefined || grown < Math.max(GROWN_CHARS, kept.bytes * GROWN_SHARE)) return false;
    // One that is too large to be kept at all would never be found again by those who use it now.
    const bytes = Math.min(weightOf(kept.lane.confirmedState), this.#bytes);
    // A new entry: the cache weighs no value twice.
    this.#lanes.set(stream, { ...kept, bytes });
    return true;
  }

  #takeBack(stream: string): KeptLane | undefined {
    const kept = this.#leaving.get(stream);
    if (kept === undefined) return undefined;
    this.#leaving.delete(stream);
    this.#lanes.set(stream, kept);
    return kept;
  }

  /** Two lanes of one stream must never write: the second could stand behind what the first one loses. */
  #letGo(stream: string, kept: KeptLane): void {
    this.#leaving.set(stream, kept);
    const retire = (): void => {
      if (this.#leaving.get(stream) !== kept) return;
      if (kept.lane.writing) {
        void kept.lane.settled().then(retire);
        return;
      }
      this.#leaving.delete(stream);
      kept.lane.retire();
    };
    this.#clock.after(LEAVING_MS, retire);
  }
}
