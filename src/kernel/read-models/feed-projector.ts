import type { FeedBatch, EventFeed } from '../../ports/event-feed.js';
import type { Projection } from '../../ports/read-models.js';
import { feedOf, openWithin, swapInAt } from './feed.js';
import { FeedInbox, type InboxBounds } from './feed-inbox.js';
import { type PartitionPlace, placeOf } from './partition-progress.js';
import { PartitionedBuild, type PartitionedBuildDeps } from './partitioned-build.js';
import { pause, retryMs } from '../concurrency/pause.js';

/** How long events gather while no reader waits, in milliseconds, so that a row that many of them change is written once. */
export const FEED_GATHER_MS = 25;
/** How much is applied together: in one transaction, unless it touches more than a portion of rows (apply-events.ts). */
const ROUND: InboxBounds = { links: 2_000, bytes: 4 * 1024 * 1024 };

export type FeedProjectorDeps = PartitionedBuildDeps & { readonly feed: EventFeed };

/**
 * Keeps the read models current from a partitioned log, in parallel with other processes. Each applies the events of its own partitions. A row
 * belongs to one stream, and a stream to one partition. Every failure is retried while the projector runs.
 */
export class FeedProjector implements AsyncDisposable {
  readonly #deps: FeedProjectorDeps;
  readonly #projections: readonly Projection[];
  readonly #stop = new AbortController();
  readonly #inbox = new FeedInbox(ROUND);
  readonly #catchingUp = new Map<PartitionedBuild, Promise<void>>();
  #builds: readonly PartitionedBuild[] = [];
  #owned: ReadonlySet<number> = new Set();
  #places: readonly PartitionPlace[] = [];
  /** The last position of the event store when the builds were opened. Readers see a new build once it has reached this position. */
  #target = 0;
  #running: Promise<void> | null = null;

  constructor(deps: FeedProjectorDeps, projections: readonly Projection[]) {
    this.#deps = deps;
    this.#projections = projections;
  }

  /** Starts, and waits for any server that is unavailable. A second call does nothing. */
  start(): void {
    this.#running ??= this.#run();
  }

  /**
   * How far the slowest read model is behind in this process's partitions, in global positions; null if it has no partitions.
   * @throws what the event store throws
   */
  async lag(): Promise<number | null> {
    const last = await this.#deps.events.lastPosition();
    const reached = this.#builds.flatMap((build) => this.#places.map((place) => build.reached(place)));
    return reached.length === 0 ? null : Math.max(0, last - Math.min(...reached));
  }

  /** The number of parked events, which no read model could apply. @throws what the writer throws */
  parked(): Promise<number> {
    return this.#deps.writer.parkedCount(this.#projections);
  }

  /** Ends after the write in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#inbox.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    await this.#untilDone(() => this.#open());
    if (signal.aborted) return;
    const handlers = {
      assigned: (partitions: readonly number[], count: number): void => this.#assigned(partitions, count),
      handle: (batch: FeedBatch): Promise<boolean> => this.#inbox.put(batch),
    };
    await Promise.all([this.#deps.feed.follow(handlers, signal), this.#pump()]);
    await Promise.all(this.#catchingUp.values());
  }

  async #open(): Promise<void> {
    const { events, writer } = this.#deps;
    const builds = [];
    for (const projection of this.#projections) {
      const build = await openWithin(events, writer, projection);
      builds.push(new PartitionedBuild(feedOf(projection, build), this.#deps));
    }
    this.#target = await events.lastPosition();
    this.#builds = builds;
    await this.#swapIn();
  }

  #assigned(partitions: readonly number[], count: number): void {
    this.#owned = new Set(partitions);
    this.#places = [...this.#owned].map((partition) => placeOf(partition, count));
    for (const build of this.#builds) build.retain(this.#owned);
    this.#takeUp();
  }

  /** Takes over the partitions. A new build reads its history from the store, because the log may have lost it. */
  #takeUp(): void {
    for (const build of this.#builds) {
      if (build.feed.build.live) continue;
      for (const place of this.#places) build.want(place, this.#target);
    }
    this.#catchUp();
  }

  async #pump(): Promise<void> {
    const { signal } = this.#stop;
    const { clock, writer } = this.#deps;
    while (!signal.aborted) {
      const round = await this.#inbox.take();
      await this.#untilDone(() => this.#apply(round.map(({ batch }) => batch)));
      for (const { batch, done } of round) {
        done(!this.#stopped && !this.#builds.some((build) => build.isBehind(batch.partition)));
      }
      if (writer.awaited() || this.#inbox.isFull) continue;
      await pause(clock, FEED_GATHER_MS, signal, (wake) => {
        const stops = [writer.onAwaited(wake), this.#inbox.onFull(wake)];
        return () => stops.forEach((stop) => stop());
      });
    }
  }

  async #apply(batches: readonly FeedBatch[]): Promise<void> {
    const own = batches.filter((batch) => !batch.isStale());
    const applied = await Promise.allSettled(this.#builds.map((build) => build.apply(own, this.#owned)));
    for (const result of applied) if (result.status === 'rejected') throw result.reason;
    this.#catchUp();
    await this.#swapIn();
  }

  /** Brings up the partitions that are behind, while the rest continues, so that a build that must read its history does not block the others. */
  #catchUp(): void {
    for (const build of this.#builds) {
      if (!build.anyBehind || this.#catchingUp.has(build)) continue;
      const running = this.#bringUp(build).finally(() => this.#catchingUp.delete(build));
      this.#catchingUp.set(build, running);
    }
  }

  async #bringUp(build: PartitionedBuild): Promise<void> {
    const { signal } = this.#stop;
    let waits = 0;
    while (build.anyBehind && !signal.aborted) {
      await this.#untilDone(async () => {
        waits = (await build.catchUp(this.#owned)) ? 0 : waits + 1;
      });
      if (waits > 0) await pause(this.#deps.clock, retryMs(waits), signal);
    }
    await this.#untilDone(() => this.#swapIn());
  }

  #swapIn(): Promise<void> {
    const feeds = this.#builds.map(({ feed }) => feed);
    return swapInAt(this.#target, this.#deps.writer, feeds);
  }

  /** Runs until it succeeds or the projector is stopped. After a failure the builds are opened again. */
  async #untilDone(run: () => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted;) {
      try {
        if (failures > 0) {
          for (const build of this.#builds) await build.reopen();
          this.#builds = this.#builds.filter(({ replaced }) => !replaced);
          this.#takeUp();
        }
        await run();
        return;
      } catch (err) {
        failures += 1;
        this.#deps.log.error({ err }, 'Failed to update the read models; retrying');
        await pause(this.#deps.clock, retryMs(failures), signal);
      }
    }
  }

  get #stopped(): boolean {
    return this.#stop.signal.aborted;
  }
}
