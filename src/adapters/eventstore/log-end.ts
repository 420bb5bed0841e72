import { freshFlight } from '../../concurrency/fresh-flight.js';
import type { KeptLogPlaces, LogPlaces } from '../../ports/log-places.js';
import type { Log } from '../../ports/log.js';
import type { LogHorizon } from './log-horizon.js';
import { NOTHING_KNOWN, startAfter, withEvent, withLast, withPlace } from './log-places.js';

/** How many events at the end of the log are looked at before a filter looks for ours: in a store of our own the last one is ours. */
const TAIL_EVENTS = 32;
/** How often places are kept, in milliseconds. */
const KEEP_EVERY_MS = 30_000;

/** An event of the log, whoever wrote it. */
export type LoggedEvent = { readonly position: number; readonly id: string; readonly isOurs: boolean };

export type LogEndDeps = {
  readonly horizon: LogHorizon;
  /** The last events of the log, the last one first, until `take` says that it is enough. */
  readonly readTail: (limit: number, take: (event: LoggedEvent) => boolean) => Promise<void>;
  /** The id of the event at a position; null where none is. */
  readonly idAt: (position: number) => Promise<string | null>;
  /** Passes on the positions of our events after a place, and places between them, up to the present. */
  readonly readOn: (
    after: number,
    take: (found: { readonly event?: number; readonly place?: number }) => void,
  ) => Promise<void>;
  readonly kept: KeptLogPlaces;
  readonly log: Pick<Log, 'warn'>;
};

/**
 * The position of our last event, in a log that others write to as well. The server looks through what they wrote, once for each process, and passes on a
 * place after every thousand events. The next start goes on from where this process was.
 */
export class LogEnd {
  readonly #deps: LogEndDeps;
  readonly #look: () => Promise<void>;
  #places: LogPlaces = NOTHING_KNOWN;
  #loading: Promise<Error | null> | null = null;
  #keptAt = -Infinity;

  constructor(deps: LogEndDeps) {
    this.#deps = deps;
    this.#look = freshFlight(() => this.#lookOnce());
  }

  /** 0 when there is none. @throws Rejection STORE_UNAVAILABLE, DATABASE_UNAVAILABLE */
  async position(): Promise<number> {
    await this.#look();
    return Math.max(this.#places.own, this.#deps.horizon.own);
  }

  /** Where a reader of what comes after a position may begin, without what others wrote in between; that position itself where nothing better is known. */
  async startAfter(position: number): Promise<number> {
    await this.#known();
    return startAfter(this.#places, position);
  }

  async #lookOnce(): Promise<void> {
    const whyUnknown = await this.#known();
    const { readTail, readOn, horizon, log } = this.#deps;
    const found: { end?: LoggedEvent; last?: number } = {};
    const { place, own } = this.#places;
    await readTail(TAIL_EVENTS, (event) => {
      found.end ??= event;
      if (event.position > place && !event.isOurs) return false;
      // What lies behind a place that was looked at is not new, whoever wrote it.
      found.last = event.position > place ? event.position : own;
      return true;
    });
    const at = found.end?.position ?? 0;
    if (at < place) {
      log.warn({ place, end: at }, 'the event store ends before what was seen of it; it is looked through anew');
      this.#places = NOTHING_KNOWN;
    }
    if (found.last !== undefined && at >= place) this.#places = withLast(this.#places, found.last, at);
    else if (at > this.#places.place) {
      // To look through all that others ever wrote, because a database is away, would help nobody.
      if (whyUnknown !== null) throw whyUnknown;
      if (horizon.own > this.#places.place && horizon.own <= at)
        this.#places = withLast(this.#places, horizon.own, horizon.own);
      await readOn(this.#places.place, ({ event, place: passed = 0 }) => {
        this.#places = event === undefined ? withPlace(this.#places, passed) : withEvent(this.#places, event);
      });
      this.#places = withPlace(this.#places, at);
    }
    this.#keep(found.end);
  }

  /** Takes up what an earlier process has kept, once. @returns why that is not known yet; null once it is */
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
    const { kept, idAt, log } = this.#deps;
    const found = await kept.load();
    if (found === null) return;
    const { id, ...places } = found;
    // In a log that was restored and has grown since, other events may lie there.
    if ((await idAt(places.place)) === id) this.#places = places;
    else log.warn(places, 'the event store is not the one whose places were kept; it is looked through anew');
  }

  #keep(end: LoggedEvent | undefined): void {
    const now = performance.now();
    const { first, own } = this.#places;
    if (end === undefined || own > end.position || now - this.#keptAt < KEEP_EVERY_MS) return;
    this.#keptAt = now;
    // What is not kept now is kept after another look.
    this.#deps.kept.keep({ first, own, place: end.position, id: end.id }).catch(() => undefined);
  }
}
