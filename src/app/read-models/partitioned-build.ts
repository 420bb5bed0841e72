import { partitionOf } from '../../domain/shared/partition.js';
import type { Clock } from '../../ports/clock.js';
import type { FeedBatch } from '../../ports/event-feed.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { ReadModelWriter } from '../../ports/read-model-writer.js';
import { KeyedMutex } from '../../concurrency/keyed-mutex.js';
import { yieldToEventLoop } from '../../concurrency/yield-to-event-loop.js';
import { commitGathered, logParked } from './apply-events.js';
import type { Feed } from './feed.js';
import { FeedGap, type Gathered, gatherEvents, nothingGathered } from './gather-events.js';
import { PartitionProgress, type PartitionPlace, placeOf } from './partition-progress.js';
import { lackingStreams } from './stream-gaps.js';

/** How many times events are folded at most when another writer moves one of their streams or partitions. */
const COMMIT_ATTEMPTS = 8;
/** How many events are read from the store at once to fill in what the feed lacks. */
export const BUILD_READ_EVENTS = 512;

export type PartitionedBuildDeps = {
  readonly events: EventStore;
  readonly writer: ReadModelWriter;
  readonly clock: Clock;
  readonly log: Pick<Log, 'error'>;
};

/** A partition that is behind, up to `wanted`: the position of an event that the store has. */
type Behind = { readonly place: PartitionPlace; readonly wanted: number };

/**
 * A build fed from the partitions of a log: from some by this process, from the others by other processes. The event store is the truth. Where the
 * log lacks something (a link does not follow, a build begins), the partition is behind, and is brought up from the store.
 */
export class PartitionedBuild {
  readonly feed: Feed;
  readonly #deps: PartitionedBuildDeps;
  readonly #behind = new Map<string, Behind>();
  #progress: PartitionProgress;
  readonly #mutex = new KeyedMutex();

  constructor(feed: Feed, deps: PartitionedBuildDeps) {
    this.feed = feed;
    this.#deps = deps;
    this.#progress = new PartitionProgress(deps.writer, feed.build);
  }

  /** The global order is handled up to here, as far as this process knows. */
  get position(): number {
    return this.#progress.position;
  }

  get anyBehind(): boolean {
    return this.#behind.size > 0;
  }

  isBehind(partition: number): boolean {
    return [...this.#behind.values()].some(({ place }) => place.partition === partition);
  }

  /** Up to where a partition is handled. */
  reached(partition: number, of: number): number {
    return this.#progress.reached(placeOf(partition, of));
  }

  /** Brings a partition up to an event of the store, at the position `wanted`. */
  want(partition: number, of: number, wanted: number): void {
    this.#want(placeOf(partition, of), wanted);
  }

  /** Keeps only these partitions and leaves the rest to others. What others have written of these partitions counts. */
  retain(partitions: ReadonlySet<number>): void {
    this.#progress.forget();
    for (const [key, { place }] of this.#behind) if (!partitions.has(place.partition)) this.#behind.delete(key);
  }

  /** Begins again from what the writer has, after a failure. @throws what the writer throws */
  reopen(): Promise<void> {
    return this.#exclusively(async () => {
      this.feed.build = await this.#deps.writer.open(this.feed.projection);
      this.#progress = new PartitionProgress(this.#deps.writer, this.feed.build);
    });
  }

  /**
   * Applies, in one transaction, what follows on what is handled, and notes what does not.
   * @throws what the writer and the event store throw: then nothing was written, or all of it
   */
  apply(batches: readonly FeedBatch[], owned: ReadonlySet<number>): Promise<void> {
    const counts = new Set(batches.flatMap(({ links }) => links.map(({ partitions }) => partitions)));
    return this.#exclusively(async () => {
      await this.#attempt(counts, owned, () => Promise.resolve(this.#following(batches)));
    });
  }

  /**
   * Brings the partitions that are behind one step further.
   * @returns false when the store does not have the wanted events yet
   * @throws as apply
   */
  catchUp(owned: ReadonlySet<number>): Promise<boolean> {
    return this.#exclusively(async () => {
      const counts = new Set([...this.#behind.values()].map(({ place }) => place.of));
      return this.#attempt(counts, owned, () => this.#lacking());
    });
  }

  async #attempt(
    counts: ReadonlySet<number>,
    owned: ReadonlySet<number>,
    make: () => Promise<BuildStep | null>,
  ): Promise<boolean> {
    for (let attempt = 0; attempt < COMMIT_ATTEMPTS; attempt += 1) {
      for (const of of counts) await this.#progress.know(of);
      const step = await make();
      if (step === null) return false;
      if (step.moved.size === 0 || (await this.#write(step))) {
        for (const of of counts) await this.#settle(of, owned);
        this.#dropReached();
        return true;
      }
      this.#progress.forget();
    }
    throw new Error(`Another writer kept moving ${this.feed.projection.name}; the events were not applied.`);
  }

  /** The part of the batches that follows on what is handled. */
  #following(batches: readonly FeedBatch[]): BuildStep {
    const events: RecordedEvent[] = [];
    const moved = new Map<string, number>();
    for (const { partition, links } of batches) {
      for (const { partitions, follows, position, event } of links) {
        const place = placeOf(partition, partitions);
        const reached = moved.get(place.key) ?? this.#progress.reached(place);
        if (position <= reached) continue;
        if (this.#behind.has(place.key) || follows > reached) {
          this.#want(place, position);
          continue;
        }
        if (event !== null) events.push(event);
        moved.set(place.key, position);
      }
    }
    return { events, moved, counts: new Set(batches.flatMap(({ links }) => links.map((link) => link.partitions))) };
  }

  /** The next events of the store that the partitions behind lack; null when the store has none yet. */
  async #lacking(): Promise<BuildStep | null> {
    this.#dropReached();
    const places = [...this.#behind.values()].map(({ place }) => ({ place, reached: this.#progress.reached(place) }));
    const moved = new Map<string, number>();
    if (places.length === 0) return { events: [], moved, counts: new Set() };
    const from = Math.min(...places.map(({ reached }) => reached));
    const found = await this.#deps.events.readAll(from, BUILD_READ_EVENTS);
    const end = found.at(-1)?.position;
    if (end === undefined) return null;
    for (const { place, reached } of places) if (end > reached) moved.set(place.key, end);
    const events = found.filter(({ stream, position }) =>
      places.some(({ place, reached }) => position > reached && partitionOf(stream, place.of) === place.partition),
    );
    return { events, moved, counts: new Set(places.map(({ place }) => place.of)) };
  }

  /** Writes a step. False when another writer has moved something: nothing was written then. */
  async #write({ events, moved, counts }: BuildStep): Promise<boolean> {
    let gathered = nothingGathered();
    for (let rest = events; ;) {
      const taken = await this.#gather(gathered, rest);
      if (taken === null) return false;
      rest = rest.slice(taken);
      if (rest.length === 0) break;
      // More rows than one transaction takes. The rows count from now on, the partitions once the last rows are written.
      if (!(await this.#commit(gathered, this.position))) return false;
      await yieldToEventLoop();
      gathered = nothingGathered();
    }
    for (const [key, to] of moved) {
      gathered.streams.set(key, { from: this.#progress.stored({ key }), to, parked: false });
    }
    const position = Math.max(this.position, ...[...counts].map((of) => this.#progress.positionWith(of, moved)));
    if (!(await this.#commit(gathered, position))) return false;
    this.#progress.noted(moved, position);
    return true;
  }

  /** How many of the events were gathered. Null when earlier ones were missing: these were applied from the store instead. */
  async #gather(gathered: Gathered, events: readonly RecordedEvent[]): Promise<number | null> {
    const { writer, clock } = this.#deps;
    try {
      return await gatherEvents(writer, this.feed, gathered, events, clock.now().toISOString());
    } catch (error) {
      if (!(error instanceof FeedGap)) throw error;
      await this.#mend(events);
      return null;
    }
  }

  async #commit(gathered: Gathered, position: number): Promise<boolean> {
    const { writer, log } = this.#deps;
    gathered.position = position;
    if (!(await commitGathered(writer, this.#at(position), gathered))) return false;
    logParked(log, this.feed, gathered.parked);
    return true;
  }

  /** Applies from the store the events that streams lack before and between these. */
  async #mend(events: readonly RecordedEvent[]): Promise<void> {
    const { writer, events: store } = this.#deps;
    for (const { stream, from, to } of await lackingStreams(writer, this.feed.build, events)) {
      for (let next = from; next <= to;) {
        const page = (await store.read(stream, { direction: 'forwards', from: next, to, limit: BUILD_READ_EVENTS }))
          .events;
        const last = page.at(-1);
        if (last === undefined) throw new Error(`The event store lacks revision ${next} of ${stream}.`);
        if (!(await this.#write({ events: page, moved: new Map(), counts: new Set() }))) return;
        next = last.revision + 1;
      }
    }
  }

  /** Moves the position over what other processes have handled meanwhile. When two finish at the same time, one of them sees both. */
  async #settle(of: number, owned: ReadonlySet<number>): Promise<void> {
    if (Array.from({ length: of }, (_, partition) => partition).every((partition) => owned.has(partition))) return;
    await this.#progress.read(of);
    const position = this.#progress.positionWith(of, new Map());
    if (position <= this.position) return;
    if (await commitGathered(this.#deps.writer, this.#at(position), nothingGathered())) {
      this.#progress.noted(new Map(), position);
    }
  }

  #at(position: number): Feed {
    return { ...this.feed, build: { ...this.feed.build, position } };
  }

  #want(place: PartitionPlace, wanted: number): void {
    if (this.#progress.reached(place) >= wanted) return;
    const before = this.#behind.get(place.key)?.wanted ?? 0;
    this.#behind.set(place.key, { place, wanted: Math.max(before, wanted) });
  }

  #dropReached(): void {
    for (const [key, { place, wanted }] of this.#behind) {
      if (this.#progress.reached(place) >= wanted) this.#behind.delete(key);
    }
  }

  /** Runs one call at a time: each write depends on the known progress. */
  #exclusively<T>(run: () => Promise<T>): Promise<T> {
    return this.#mutex.runExclusive(this.feed.projection.name, run);
  }
}

/** Events to apply, where their partitions are afterwards, and the partition counts that these places belong to. */
type BuildStep = {
  readonly events: readonly RecordedEvent[];
  readonly moved: ReadonlyMap<string, number>;
  readonly counts: ReadonlySet<number>;
};
