import { LRUCache } from 'lru-cache';

import { defined } from '../base/defined.js';
import { weightOf } from '../base/weight.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Moment } from '../../ports/snapshots.js';
import type { Fold, Place } from './fold.js';
import { foldStream } from './fold-stream.js';
import { type Claim, StreamWriter } from './stream-writer.js';
import type { Seals } from '../crypto/seals.js';
import { KeyedMutex } from '../concurrency/keyed-mutex.js';
import { type Snapshotting, withoutSnapshots } from './snapshotting.js';

/** How much memory the states of streams may use, in bytes as `weightOf` counts; the least recently used streams are evicted first. */
export const LANES_BYTES = 256 * 1024 * 1024;
/** The maximum number of streams whose heads and states are kept in memory. */
export const LANES_KEPT = 10_000;
/** A state is weighed again when it has grown by this much since: in characters of JSON, and as a share of its weight. */
const GROWN_CHARS = 64 * 1024;
const GROWN_SHARE = 1 / 4;
/** How long an evicted writer can be reused, in milliseconds: a caller that has just opened it may be about to write. */
const LEAVING_MS = 1_000;

/** A writer, the weight of its state in bytes, and how much it has grown since it was weighed, in characters of JSON. */
type CachedWriter = { readonly writer: StreamWriter<unknown>; readonly bytes: number; grown: number };

/** The stream writers of this process: one for each stream, created on first use. */
export class StreamWriters {
  readonly #writers: LRUCache<string, CachedWriter>;
  /** Writers that were evicted a moment ago, or that still write. Until that ends, each is the only writer of its stream. */
  readonly #leaving = new Map<string, CachedWriter>();
  readonly #store: EventStore;
  readonly #clock: Clock;
  readonly #snapshots: Snapshotting;
  readonly #shared: boolean;
  readonly #bytes: number;
  readonly #claim: Claim | undefined;
  readonly #seals: Seals | undefined;
  readonly #mutex = new KeyedMutex();

  /**
   * @param shared whether other programs write these streams too
   * @param snapshots where the folding of long streams begins
   * @param claim makes the claims that changes need
   * @param seals seals what is appended
   */
  constructor(
    store: EventStore,
    clock: Clock,
    {
      kept = LANES_KEPT,
      bytes = LANES_BYTES,
      shared = false,
      snapshots = withoutSnapshots,
      claim,
      seals,
    }: {
      readonly kept?: number;
      readonly bytes?: number;
      readonly shared?: boolean;
      readonly snapshots?: Snapshotting;
      readonly claim?: Claim;
      readonly seals?: Seals;
    } = {},
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#snapshots = snapshots;
    this.#shared = shared;
    this.#bytes = bytes;
    this.#claim = claim;
    this.#seals = seals;
    this.#writers = new LRUCache({
      max: kept,
      maxSize: bytes,
      sizeCalculation: (entry) => entry.bytes,
      dispose: (gone, stream, reason) => {
        if (reason === 'evict') this.#letGo(stream, gone);
      },
    });
  }

  /** Runs attempts at the same command one at a time. @throws Rejection BUSY */
  runExclusive<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.#mutex.runExclusive(name, work);
  }

  /** Whether other programs write these streams too. */
  get shared(): boolean {
    return this.#shared;
  }

  /**
   * The loaded writer of a stream. It may lack what others appended since it was loaded; an append shows that. All callers of one stream pass the
   * same fold. Do not keep the writer for later: it may be evicted, and then accepts no more appends.
   */
  async open<State>(stream: string, fold: Fold<State>): Promise<StreamWriter<State>> {
    const kept = this.#writers.get(stream) ?? this.#takeBack(stream) ?? this.#make(stream, fold);
    await kept.writer.load();
    return kept.writer as StreamWriter<State>;
  }

  /** A stream's durable state, to answer from: with everything that any writer appended before this call. */
  async current<State>(stream: string, fold: Fold<State>): Promise<Place<State>> {
    const writer = await this.open(stream, fold);
    return this.#shared ? writer.latest() : { state: writer.confirmedState, revision: writer.confirmedRevision };
  }

  /** A stream's state after its last event not beyond `moment`, folded for this call only. */
  asOf<State>(stream: string, fold: Fold<State>, moment: Moment): Promise<Place<State>> {
    return foldStream({ events: this.#store, snapshots: this.#snapshots }, stream, fold, moment);
  }

  /** The last revision of a stream, or an earlier one that is known without reading; -1 if it has none. */
  async revisionOf(stream: string): Promise<number> {
    const known = this.#writers.peek(stream)?.writer.confirmedRevision ?? -1;
    return known >= 0 ? known : (await this.#store.read(stream, { direction: 'backwards', limit: 1 })).lastRevision;
  }

  #make<State>(stream: string, fold: Fold<State>): CachedWriter {
    const writer: StreamWriter<State> = new StreamWriter(stream, fold, this.#store, this.#clock, {
      snapshots: this.#snapshots,
      shared: this.#shared,
      onGrown: (chars) => this.#grow(stream, chars),
      ...defined({ claim: this.#claim, seals: this.#seals }),
    });
    const kept = { writer: writer as unknown as StreamWriter<unknown>, bytes: 1, grown: 0 };
    this.#writers.set(stream, kept);
    return kept;
  }

  /** Weighs the state of a kept writer again once it has grown considerably. */
  #grow(stream: string, chars: number): void {
    const kept = this.#writers.peek(stream);
    const grown = kept ?? this.#leaving.get(stream);
    if (grown === undefined) return;
    grown.grown += chars;
    if (kept === undefined || kept.grown < Math.max(GROWN_CHARS, kept.bytes * GROWN_SHARE)) return;
    // A state too large for the cache would be dropped, and its current users would no longer find it.
    const bytes = Math.min(weightOf(kept.writer.confirmedState), this.#bytes);
    // A new entry: the cache never weighs the same entry twice.
    this.#writers.set(stream, { writer: kept.writer, bytes, grown: 0 });
  }

  #takeBack(stream: string): CachedWriter | undefined {
    const kept = this.#leaving.get(stream);
    if (kept === undefined) return undefined;
    this.#leaving.delete(stream);
    this.#writers.set(stream, kept);
    return kept;
  }

  /** Evicts a writer. Two writers of one stream must never write at the same time: the second could follow events that the first one loses. */
  #letGo(stream: string, kept: CachedWriter): void {
    this.#leaving.set(stream, kept);
    const retire = (): void => {
      if (this.#leaving.get(stream) !== kept) return;
      if (kept.writer.writing) {
        void kept.writer.settled().then(retire);
        return;
      }
      this.#leaving.delete(stream);
      kept.writer.retire();
    };
    this.#clock.after(LEAVING_MS, retire);
  }
}
