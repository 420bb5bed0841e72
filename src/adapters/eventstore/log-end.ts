import { setTimeout as sleep } from 'node:timers/promises';

import { freshFlight } from '../../kernel/concurrency/fresh-flight.js';
import type { LogPlaceStore, LogPlaces } from '../../ports/log-places.js';
import type { Log } from '../../ports/log.js';
import type { LogHorizon } from './log-horizon.js';
import { NOTHING_KNOWN, startAfter, withEvent, withLast, withPlace } from './log-places.js';

/** How many events at the end of the log are read before a filter searches for this server's: in an unshared store the last one is among them. */
const TAIL_EVENTS = 32;
/** The same while nothing is known yet: it is cheaper than to search the complete log, including this server's own events. */
const FIRST_TAIL_EVENTS = 512;
/** How often the log's identity is checked, in milliseconds, and how long a new leader may be behind. */
const CHECK_EVERY_MS = 10_000;
const ELECTED_MS = 250;
/** How often positions are stored, in milliseconds. */
const KEEP_EVERY_MS = 30_000;

/** An event of the log, whoever wrote it. */
export type LoggedEvent = { readonly position: number; readonly id: string; readonly isOurs: boolean };

export type Mark = Pick<LoggedEvent, 'position' | 'id'>;
type Tail = { end: LoggedEvent | null; last: number | null; mark: LoggedEvent | null };

export type LogEndDeps = {
  readonly horizon: LogHorizon;
  readonly reader: {
    /** The last events of the log, the last one first, until `take` returns that it is enough. */
    readTail(limit: number, take: (event: LoggedEvent) => boolean): Promise<void>;
    /** Whether the log may be the one that held this event: it exists, or no event exists there any longer, as after a scavenge. */
    mayHold(event: Mark): Promise<boolean>;
  };
  /** Passes on the positions of this server's events after a position, and positions between them, up to the present. */
  readonly readOn: (
    after: number,
    take: (found: { readonly event?: number; readonly place?: number }) => void,
  ) => Promise<void>;
  readonly kept: LogPlaceStore;
  readonly log: Pick<Log, 'warn'>;
};

/**
 * The position of this server's last event, in a log that others write to as well. The store searches what they wrote, once for each process, and
 * reports a position after every thousand events. The next start continues where this process ended.
 */
export class LogEnd {
  readonly #deps: LogEndDeps;
  readonly #look: () => Promise<void>;
  #places: LogPlaces = NOTHING_KNOWN;
  #loading: Promise<Error | null> | null = null;
  /** An event of the log, whoever wrote it, that identifies the log. */
  #mark: Mark | null = null;
  #checkedAt = -Infinity;
  #keptAt = -Infinity;

  constructor(deps: LogEndDeps) {
    this.#deps = deps;
    this.#look = freshFlight(() => this.#lookOnce());
  }

  /** 0 if there is none. @throws Rejection STORE_UNAVAILABLE, DATABASE_UNAVAILABLE */
  async position(): Promise<number> {
    await this.#look();
    return Math.max(this.#places.own, this.#deps.horizon.own);
  }

  /**
   * Where a reader of what comes after a position may begin, skipping the events of others in between; that position itself if nothing better is
   * known.
   */
  async startAfter(position: number): Promise<number> {
    await this.#known();
    return startAfter(this.#places, position);
  }

  async #lookOnce(): Promise<void> {
    const whyUnknown = await this.#known();
    const { readOn, horizon, log } = this.#deps;
    // A log never ends before anything that was seen of it.
    const seen = Math.max(this.#places.place, horizon.log);
    let tail = await this.#readTail();
    if (!(await this.#isSameLog(tail, seen))) {
      // A newly elected leader may be a moment behind.
      await sleep(ELECTED_MS);
      tail = await this.#readTail();
      if (!(await this.#isSameLog(tail, seen))) {
        const found = { ...this.#places, seen, end: tail.end?.position ?? 0, mark: this.#mark };
        log.warn(found, 'The event store is not the one seen before; reading it from the start');
        this.#places = NOTHING_KNOWN;
        this.#mark = null;
        horizon.forget();
        tail = await this.#readTail();
      }
    }
    const { end, last } = tail;
    if (end === null) return;
    if (last !== null) this.#places = withLast(this.#places, last, end.position);
    else if (end.position > this.#places.place) {
      // While a database is unavailable, it would not help to search everything that others ever wrote.
      if (whyUnknown !== null) throw whyUnknown;
      if (horizon.own > this.#places.place && horizon.own <= end.position)
        this.#places = withLast(this.#places, horizon.own, horizon.own);
      await readOn(this.#places.place, ({ event, place: passed = 0 }) => {
        this.#places = event === undefined ? withPlace(this.#places, passed) : withEvent(this.#places, event);
      });
      this.#places = withPlace(this.#places, end.position);
    }
    this.#mark = end;
    this.#keep(end);
  }

  /** The end of the log, this server's last event if it is near, and the event that identifies the log, if it is near. */
  async #readTail(): Promise<Tail> {
    const tail: Tail = { end: null, last: null, mark: null };
    const { place, own } = this.#places;
    const limit = place === 0 ? FIRST_TAIL_EVENTS : TAIL_EVENTS;
    await this.#deps.reader.readTail(limit, (event) => {
      tail.end ??= event;
      if (event.position === this.#mark?.position) tail.mark = event;
      if (event.position > place && !event.isOurs) return false;
      // Events after a position that was searched are new, those before it are not, whoever wrote them.
      tail.last = event.position > place ? event.position : own;
      return true;
    });
    return tail;
  }

  /** Whether the log is still the one that was searched: after a restore it ends earlier, or has other events there. */
  async #isSameLog({ end, mark: near }: Tail, seen: number): Promise<boolean> {
    if ((end?.position ?? 0) < seen) return false;
    const mark = this.#mark;
    if (mark === null) return true;
    const now = performance.now();
    if (near === null && now - this.#checkedAt < CHECK_EVERY_MS) return true;
    const isSame = near === null ? await this.#deps.reader.mayHold(mark) : near.id === mark.id;
    if (isSame) this.#checkedAt = now;
    return isSame;
  }

  /** Loads what an earlier process has stored, once. @returns why that is not known yet; null once it is */
  #known(): Promise<Error | null> {
    return (this.#loading ??= this.#load().then(
      () => null,
      (error: unknown) => {
        this.#loading = null;
        return error instanceof Error ? error : new Error(String(error));
      },
    ));
  }

  async #load(): Promise<void> {
    const { kept, reader, log } = this.#deps;
    const found = await kept.load();
    if (found === null) return;
    const { id, ...places } = found;
    const mark = { position: places.place, id };
    // In a log that was restored and has grown since, other events may be there.
    if (await reader.mayHold(mark)) {
      this.#places = places;
      this.#mark = mark;
    } else log.warn(places, 'The event store is not the one whose positions were saved; reading it from the start');
  }

  #keep(end: Mark): void {
    const now = performance.now();
    const { first, own } = this.#places;
    if (own > end.position || now - this.#keptAt < KEEP_EVERY_MS) return;
    this.#keptAt = now;
    // A failed write is made up for after the next search.
    this.#deps.kept.keep({ first, own, place: end.position, id: end.id }).catch(() => undefined);
  }
}
