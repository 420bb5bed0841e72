import { partitionOf } from '../base/partition.js';
import type { Clock } from '../../ports/clock.js';
import type { FeedBatch } from '../../ports/event-feed.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { ReadModelWriter } from '../../ports/read-model-writer.js';
import { KeyedMutex } from '../concurrency/keyed-mutex.js';
import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';
import { COMMIT_ATTEMPTS, commitGathered, logParked, othersKeptMoving } from './apply-events.js';
import type { Feed } from './feed.js';
import { FeedGap, gatherEvents, nothingGathered } from './gather-events.js';
import { PartitionProgress, type PartitionPlace, placeOf } from './partition-progress.js';
import { streamGaps } from './stream-gaps.js';

/** How many events one read from the store fetches to fill in what the feed lacks. */
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
 * A build fed from the partitions of a log: from some by this process, from the others by other processes. The event store is the truth. If the log
 * lacks something (a link does not follow, or a build begins), the partition is behind, and is brought up from the store.
 */
export class PartitionedBuild {
  readonly feed: Feed;
  readonly #deps: PartitionedBuildDeps;
  readonly #behind = new Map<string, Behind>();
  readonly #progress: PartitionProgress;
  readonly #mutex = new KeyedMutex();
  #replaced = false;

  constructor(feed: Feed, deps: PartitionedBuildDeps) {
    this.feed = feed;
    this.#deps = deps;
    this.#progress = new PartitionProgress(deps.writer, feed);
  }

  /** Whether a newer version has replaced it: it then applies nothing more. */
  get replaced(): boolean {
    return this.#replaced;
  }

  get anyBehind(): boolean {
    return this.#behind.size > 0;
  }

  isBehind(partition: number): boolean {
    return [...this.#behind.values()].some(({ place }) => place.partition === partition);
  }

  /** The position up to which a partition is handled. */
  reached(place: PartitionPlace): number {
    return this.#progress.reached(place);
  }

  /** Requests that a partition be brought up to an event of the store, at the position `wanted`. */
  want(place: PartitionPlace, wanted: number): void {
    if (this.reached(place) >= wanted) return;
    const before = this.#behind.get(place.key)?.wanted ?? 0;
    this.#behind.set(place.key, { place, wanted: Math.max(before, wanted) });
  }

  /** Keeps only these partitions and leaves the rest to others. What others have written of these partitions counts. */
  retain(partitions: ReadonlySet<number>): void {
    this.#progress.forget();
    for (const [key, { place }] of this.#behind) if (!partitions.has(place.partition)) this.#behind.delete(key);
  }

  /** Restarts from what the writer has, after a failure. @throws what the writer throws */
  reopen(): Promise<void> {
    return this.#exclusively(async () => {
      const build = await this.#deps.writer.reopen(this.feed.projection, this.feed.build);
      this.#progress.forget();
      if (build !== null) this.feed.build = build;
      else {
        this.#replaced = true;
        this.#behind.clear();
      }
    });
  }

  /**
   * Applies, in one transaction, the links that follow on what is handled, and notes those that do not.
   * @throws what the writer and the event store throw: then either nothing was written, or all of it
   */
  apply(batches: readonly FeedBatch[], owned: ReadonlySet<number>): Promise<void> {
    const counts = new Set(batches.flatMap(({ links }) => links.map(({ partitions }) => partitions)));
    return this.#exclusively(async () => {
      await this.#advance(counts, owned, () => this.#following(batches));
    });
  }

  /**
   * Brings the partitions that are behind one step further.
   * @returns false if the store does not have the wanted events yet
   * @throws as apply
   */
  catchUp(owned: ReadonlySet<number>): Promise<boolean> {
    return this.#exclusively(() => {
      const counts = new Set([...this.#behind.values()].map(({ place }) => place.of));
      return this.#advance(counts, owned, () => this.#lacking());
    });
  }

  /**
   * Makes a step and writes it. While partitions move between processes, two processes may write the same one. Each commit names the progress that it
   * was made on, so the second is refused; it reads what the first has written and makes its step again.
   * @returns false if there is no step to make
   */
  async #advance(
    counts: ReadonlySet<number>,
    owned: ReadonlySet<number>,
    makeStep: () => BuildStep | Promise<BuildStep | null>,
  ): Promise<boolean> {
    for (let attempt = 0; attempt < COMMIT_ATTEMPTS; attempt += 1) {
      await this.#progress.know(counts);
      const step = await makeStep();
      if (step === null) return false;
      if (step.moved.size === 0 || (await this.#write(step))) {
        await this.#moveOverOthers(counts, owned);
        this.#dropReached();
        return true;
      }
      this.#progress.forget();
    }
    throw othersKeptMoving(this.feed);
  }

  /** The part of the batches that follows on what is handled. */
  #following(batches: readonly FeedBatch[]): BuildStep {
    const events: RecordedEvent[] = [];
    const moved = new Map<string, number>();
    for (const { partition, links } of batches) {
      for (const { partitions, follows, position, event } of links) {
        const place = placeOf(partition, partitions);
        const reached = moved.get(place.key) ?? this.reached(place);
        if (position <= reached) continue;
        if (this.#behind.has(place.key) || follows > reached) {
          this.want(place, position);
          continue;
        }
        if (event !== null) events.push(event);
        moved.set(place.key, position);
      }
    }
    return { events, moved };
  }

  /** The next events of the store that the lagging partitions lack; null if the store has none yet. */
  async #lacking(): Promise<BuildStep | null> {
    this.#dropReached();
    const places = [...this.#behind.values()].map(({ place }) => ({
      ...place,
      reached: this.reached(place),
    }));
    const moved = new Map<string, number>();
    if (places.length === 0) return { events: [], moved };
    const from = Math.min(...places.map(({ reached }) => reached));
    const found = await this.#deps.events.readAll(from, BUILD_READ_EVENTS);
    const end = found.at(-1)?.position;
    if (end === undefined) return null;
    for (const { key, reached } of places) if (end > reached) moved.set(key, end);
    const events = found.filter(({ stream, position }) =>
      places.some(({ partition, of, reached }) => position > reached && partitionOf(stream, of) === partition),
    );
    return { events, moved };
  }

  /**
   * Writes a step, in several transactions if it has more rows than one holds: the rows count immediately, the partitions with the last of them.
   * @returns false if the step must be made again: another writer has moved something, or a stream lacked events and has them now
   */
  async #write({ events, moved }: BuildStep): Promise<boolean> {
    const { writer, clock, log } = this.#deps;
    for (let rest = events; ;) {
      const gathered = nothingGathered();
      try {
        rest = rest.slice(await gatherEvents(writer, this.feed, gathered, rest, clock.now().toISOString()));
      } catch (error) {
        if (!(error instanceof FeedGap)) throw error;
        await this.#fillGaps(rest);
        return false;
      }
      const isLast = rest.length === 0;
      if (isLast) {
        for (const [key, to] of moved)
          gathered.streams.set(key, { from: this.#progress.stored(key), to, parked: false });
      }
      gathered.position = isLast ? this.#progress.positionWith(moved) : this.feed.build.position;
      if (!(await commitGathered(writer, this.feed, gathered))) return false;
      logParked(log, this.feed, gathered.parked);
      if (isLast) break;
      await yieldToEventLoop();
    }
    this.#progress.noted(moved);
    return true;
  }

  /** Applies from the store the events that streams lack before and between these. */
  async #fillGaps(events: readonly RecordedEvent[]): Promise<void> {
    const { writer, events: store } = this.#deps;
    for (const { stream, from, to } of await streamGaps(writer, this.feed.build, events)) {
      for (let next = from; next <= to;) {
        const range = { direction: 'forwards', from: next, to, limit: BUILD_READ_EVENTS } as const;
        const page = (await store.read(stream, range)).events;
        const last = page.at(-1);
        if (last === undefined) throw new Error(`The event store lacks revision ${next} of ${stream}.`);
        if (!(await this.#write({ events: page, moved: new Map() }))) return;
        next = last.revision + 1;
      }
    }
  }

  /** Moves the position past what other processes have handled meanwhile. If two finish at the same time, one of them sees both. */
  async #moveOverOthers(counts: ReadonlySet<number>, owned: ReadonlySet<number>): Promise<void> {
    await this.#progress.readOthers(counts, owned);
    const position = this.#progress.positionWith(new Map());
    if (position > this.feed.build.position)
      await commitGathered(this.#deps.writer, this.feed, { ...nothingGathered(), position });
  }

  #dropReached(): void {
    for (const [key, { place, wanted }] of this.#behind) {
      if (this.reached(place) >= wanted) this.#behind.delete(key);
    }
  }

  /** Runs one call at a time: each write depends on the known progress. */
  #exclusively<T>(run: () => Promise<T>): Promise<T> {
    return this.#mutex.runExclusive(this.feed.projection.name, run);
  }
}

/** Events to apply, and the resulting positions of their partitions, by key. */
type BuildStep = { readonly events: readonly RecordedEvent[]; readonly moved: ReadonlyMap<string, number> };
