import { type Kysely, type RawBuilder, sql } from 'kysely';

import type { Clock } from '../../ports/clock.js';
import type { Projection } from '../../ports/read-models.js';
import { ABANDONED } from '../../ports/read-model-writer.js';
import { servingBuild } from './builds.js';
import { Notifications } from './notifications.js';
import type { Postgres } from './open.js';
import type { Tables } from './tables.js';

/** The maximum number of waiting readers. A further one is immediately answered that its target is not reached. */
const MAX_WAITERS = 10_000;
/** How often waiting readers are checked without a notification, in milliseconds: rarely while the database reports every commit. */
const POLL_LISTENING_MS = 500;
const POLL_DEAF_MS = 50;

type CommitWaiter = {
  readonly projection: Projection;
  /** The stream whose revision `target` is awaited; null if `target` is a global position. */
  readonly stream: string | null;
  readonly target: number;
  /** Whether it is checked only once. */
  readonly once: boolean;
  readonly end: (result: boolean | Error) => void;
};

type StreamReach = { readonly revision: number; readonly stopped: boolean };

/**
 * Readers that wait for commits of any process. All readers of this process share one query of the database at a time: after this process commits,
 * after another process reports a commit, and now and then. Each wait is bounded by its own timeout.
 */
export class ReadWaits implements AsyncDisposable {
  readonly #postgres: Postgres;
  readonly #clock: Clock;
  readonly #notifications: Notifications;
  readonly #waiters = new Set<CommitWaiter>();
  readonly #listeners = new Set<() => void>();
  /** The names to check next; null for all. */
  #due: Set<string> | null = new Set();
  #looking = false;
  #cancelPoll: (() => void) | null = null;

  constructor(postgres: Postgres, clock: Clock) {
    this.#postgres = postgres;
    this.#clock = clock;
    this.#notifications = new Notifications(postgres, (name) => this.changed(name));
  }

  get any(): boolean {
    return this.#waiters.size > 0;
  }

  /** Calls `listener` whenever a reader begins to wait. Returns a function that removes it. */
  onBegin(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * True when the target is reached within `timeoutMs`. False if it is not, or never will be. With no time left the target is checked once.
   * @throws Rejection DATABASE_UNAVAILABLE
   */
  async wait(projection: Projection, stream: string | null, target: number, timeoutMs: number): Promise<boolean> {
    if (this.#waiters.size >= MAX_WAITERS) return false;
    return new Promise<boolean>((resolve, reject) => {
      let cancel = (): void => undefined;
      const waiter: CommitWaiter = {
        projection,
        stream,
        target,
        once: timeoutMs <= 0,
        end: (result) => {
          cancel();
          this.#waiters.delete(waiter);
          if (result instanceof Error) reject(result);
          else resolve(result);
        },
      };
      this.#waiters.add(waiter);
      if (timeoutMs > 0) {
        cancel = this.#clock.after(timeoutMs, () => waiter.end(false));
        for (const listener of this.#listeners) listener();
      }
      this.#notifications.start();
      this.changed(projection.name);
    });
  }

  /** Checks the readers that wait for this projection; null for all. */
  changed(name: string | null): void {
    if (this.#waiters.size === 0) return;
    if (name === null) this.#due = null;
    else this.#due?.add(name);
    if (this.#looking) return;
    this.#looking = true;
    void this.#look().finally(() => {
      this.#looking = false;
      if (this.#due === null || this.#due.size > 0) this.changed(null);
      else this.#pollLater();
    });
  }

  /** Answers the waiting readers that the target was not reached. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancelPoll?.();
    for (const waiter of [...this.#waiters]) waiter.end(false);
    await this.#notifications[Symbol.asyncDispose]();
  }

  #pollLater(): void {
    this.#cancelPoll?.();
    this.#cancelPoll = null;
    if (this.#waiters.size === 0) return;
    const wait = this.#notifications.isListening ? POLL_LISTENING_MS : POLL_DEAF_MS;
    this.#cancelPoll = this.#clock.after(wait, () => this.changed(null));
  }

  async #look(): Promise<void> {
    // Readers that ask in the same turn of the event loop share the query.
    await Promise.resolve();
    const due = this.#due;
    this.#due = new Set();
    const groups = new Map<string, CommitWaiter[]>();
    for (const waiter of this.#waiters) {
      const { name, version } = waiter.projection;
      if (due !== null && !due.has(name)) continue;
      const group = groups.get(`${name} ${version}`);
      if (group === undefined) groups.set(`${name} ${version}`, [waiter]);
      else group.push(waiter);
    }
    await Promise.all([...groups.values()].map((group) => this.#lookAfter(group)));
  }

  async #lookAfter(waiters: readonly CommitWaiter[]): Promise<void> {
    const [first] = waiters;
    if (first === undefined) return;
    const { projection } = first;
    const streams = [...new Set(waiters.flatMap(({ stream }) => (stream === null ? [] : [stream])))];
    try {
      const standings = await this.#postgres.run('request', (db) => standingsOf(db, projection, streams));
      const positions = waiters.some(({ stream }) => stream === null);
      const position = positions ? await this.#postgres.run('request', (db) => positionOf(db, projection)) : 0;
      for (const waiter of waiters) {
        const standing = waiter.stream === null ? undefined : standings.get(waiter.stream);
        const reached = waiter.stream === null ? position : (standing?.revision ?? -1);
        if (reached >= waiter.target) waiter.end(true);
        else if (standing?.stopped === true || waiter.once) waiter.end(false);
      }
    } catch (error) {
      for (const waiter of waiters) waiter.end(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/** The build that readers see, as a subquery. An abandoned one has reached nothing that readers wait for. */
const awaitedBuild = (projection: Projection): RawBuilder<number> =>
  sql<number>`(SELECT id FROM builds WHERE id = ${servingBuild(projection)} AND position < ${ABANDONED})`;

/** The builds that may still bring readers what they wait for, as a subquery: the one that they see, and those of this version or newer. */
const goingBuilds = (projection: Projection): RawBuilder<number> => sql<number>`(
  SELECT id FROM builds WHERE name = ${projection.name} AND position < ${ABANDONED}
    AND (version >= ${projection.version} OR id = ${servingBuild(projection)}))`;

/** The progress of streams. `stopped` means that no build can continue with the stream: each that might has parked one of its events. */
const standingsOf = async (
  db: Kysely<Tables>,
  projection: Projection,
  streams: readonly string[],
): Promise<ReadonlyMap<string, StreamReach>> => {
  if (streams.length === 0) return new Map();
  const reached = await sql<{ stream: string; revision: number }>`
    SELECT stream, revision FROM progress
    WHERE build = ${awaitedBuild(projection)} AND stream = ANY(${streams}::text[])`.execute(db);
  const parked = await sql<{ stream: string }>`
    SELECT k.stream FROM parked k WHERE k.stream = ANY(${streams}::text[])
      AND k.build = ANY(ARRAY${goingBuilds(projection)})
    GROUP BY k.stream
    HAVING count(*) = (SELECT count(*) FROM ${goingBuilds(projection)} AS g)`.execute(db);
  const revisions = new Map(reached.rows.map(({ stream, revision }) => [stream, revision]));
  const stopped = new Set(parked.rows.map(({ stream }) => stream));
  const standing = (stream: string): StreamReach => ({
    revision: revisions.get(stream) ?? -1,
    stopped: stopped.has(stream),
  });
  return new Map(streams.map((stream) => [stream, standing(stream)]));
};

const positionOf = async (db: Kysely<Tables>, projection: Projection): Promise<number> => {
  const select = db.selectFrom('builds').select('position').where('id', '=', awaitedBuild(projection));
  return (await select.executeTakeFirst())?.position ?? 0;
};
