import type { Clock } from '../../ports/clock.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import type { Projection } from '../../ports/read-models.js';
import type { ReadModelWriter } from '../../ports/read-model-writer.js';
import { applyEvents, logParked } from './apply-events.js';
import { type Feed, feedOf, openWithin, swapInAt } from './feed.js';
import { pause, retryMs } from '../concurrency/pause.js';
import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';

/** How many events one transaction applies. */
const PROJECTOR_BATCH_EVENTS = 500;
/** How long events gather while no reader waits, in milliseconds, so that a row that many of them change is written once. */
export const GATHER_MS = 25;

export type ProjectorDeps = {
  readonly events: EventStore;
  readonly writer: ReadModelWriter;
  readonly clock: Clock;
  readonly log: { error(details: object, message: string): void };
};

/**
 * Keeps the read models current. It follows the event store from the position of each build, applies events, and swaps a new version in once it has
 * reached the store's last position at the start. Every failure is retried from the last commit, while the projector runs.
 */
export class Projector implements AsyncDisposable {
  readonly #deps: ProjectorDeps;
  readonly #projections: readonly Projection[];
  readonly #abort = new AbortController();
  #feeds: readonly Feed[] = [];
  #following: readonly Promise<void>[] = [];

  constructor(deps: ProjectorDeps, projections: readonly Projection[]) {
    this.#deps = deps;
    this.#projections = projections;
  }

  /**
   * Opens the builds and begins to follow; resolves before everything is applied.
   * @throws what the event store and the writer throw
   */
  async start(): Promise<void> {
    const { events, writer } = this.#deps;
    const feeds = [];
    for (const projection of this.#projections)
      feeds.push(feedOf(projection, await openWithin(events, writer, projection)));
    const target = await events.lastPosition();
    this.#feeds = feeds;
    await swapInAt(target, this.#deps.writer, feeds);
    // Builds at the same position share one subscription, so that a build with history to read does not block the others.
    const groups = new Map<string, Feed[]>();
    for (const feed of feeds) {
      const group = feed.build.live ? 'live' : String(feed.build.position);
      groups.set(group, [...(groups.get(group) ?? []), feed]);
    }
    this.#following = [...groups.values()].map((group) => this.#follow(group, target));
  }

  /** How far the slowest read model is behind, in global positions. @throws what the event store throws */
  async lag(): Promise<number> {
    const last = await this.#deps.events.lastPosition();
    return last - Math.min(last, ...this.#feeds.map(({ build }) => build.position));
  }

  /** The number of parked events, which no read model could apply. @throws what the writer throws */
  parked(): Promise<number> {
    return this.#deps.writer.parkedCount(this.#projections);
  }

  /** Ends after the batch that is being applied. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await Promise.all(this.#following);
  }

  async #follow(feeds: readonly Feed[], target: number): Promise<void> {
    for (let failures = 0; !this.#stopped; failures += 1) {
      try {
        const after = Math.min(...feeds.map(({ build }) => build.position));
        for await (const batch of this.#deps.events.subscribe({ after, signal: this.#abort.signal })) {
          for (let from = 0; from < batch.length; from += PROJECTOR_BATCH_EVENTS) {
            await this.#apply(feeds, batch.slice(from, from + PROJECTOR_BATCH_EVENTS));
          }
          await swapInAt(target, this.#deps.writer, feeds);
          failures = 0;
          await this.#gather(batch.at(-1)?.position ?? 0);
        }
      } catch (error) {
        const projections = feeds.map(({ projection }) => projection.name);
        this.#deps.log.error({ err: error, projections }, 'Failed to update the read models; retrying');
      }
      await pause(this.#deps.clock, retryMs(failures + 1), this.#abort.signal);
    }
  }

  async #apply(feeds: readonly Feed[], events: readonly RecordedEvent[]): Promise<void> {
    const at = this.#deps.clock.now().toISOString();
    for (const feed of feeds) {
      logParked(this.#deps.log, feed, await applyEvents(this.#deps.writer, feed, events, at));
    }
  }

  /** Lets events gather, unless a full batch or a reader already waits. */
  async #gather(position: number): Promise<void> {
    const behind = (await this.#deps.events.lastPosition()) - position >= PROJECTOR_BATCH_EVENTS;
    if (behind || this.#deps.writer.awaited()) await yieldToEventLoop();
    else await pause(this.#deps.clock, GATHER_MS, this.#abort.signal, (wake) => this.#deps.writer.onAwaited(wake));
  }

  get #stopped(): boolean {
    return this.#abort.signal.aborted;
  }
}
