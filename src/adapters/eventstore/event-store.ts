import { setMaxListeners } from 'node:events';

import type {
  AppendOutcome,
  EventStore,
  EventToAppend,
  ExpectedRevision,
  OpenProcess,
  ReadRange,
  RecordedEvent,
  StreamPage,
  Subscription,
} from '../../ports/event-store.js';
import type { LogPlaceStore } from '../../ports/log-places.js';
import type { Log } from '../../ports/log.js';
import { serialise } from '../shared/append-rules.js';
import { LogEnd } from './log-end.js';
import { LogHorizon } from './log-horizon.js';
import { APPEND_BOUNDS, type AppendBounds, StoreAppender } from './store-appender.js';
import { StoreConnection } from './store-connection.js';
import { storeUnavailable } from './store-failures.js';
import { StoreReader } from './store-reader.js';
import { storePresence } from './store-watch.js';
import { type Followed, followStore, readFiltered, readOn } from './store-subscription.js';
import { streamNames, toPosition } from './stored-event.js';

export type EventStoreDbOptions = {
  /** Connection string, such as `esdb://127.0.0.1:2113?tls=false`. */
  readonly url: string;
  /** The prefix of this server's streams; other streams in the store are not visible. */
  readonly namespace: string;
  /** Lists the open processes from a read model: the store has no such index. */
  readonly listOpen: () => Promise<readonly OpenProcess[]>;
  readonly bounds?: Partial<AppendBounds>;
  /** Where this server's events are in the log, as an earlier process recorded it. */
  readonly places?: LogPlaceStore;
  readonly log?: Pick<Log, 'error' | 'warn'>;
};

/** How long the store may search the events of others before it reports a position, in milliseconds: a thousand events may be large. */
const LOOK_SILENCE_MS = 15_000;

const quiet: Pick<Log, 'error' | 'warn'> = { error: () => undefined, warn: () => undefined };
const notKept: LogPlaceStore = { load: () => Promise.resolve(null), keep: () => Promise.resolve() };

/**
 * The event store on EventStoreDB 23.10 or later. The first call makes the connection, and it is made again whenever it was lost. While the server is
 * down every call is refused within 2 s, and subscriptions wait for it.
 *
 * `repeated` is derived from positions: it is true if the event's position is not above one that this process knew before it sent the append. A
 * repeat of what another process wrote at the same moment, or of an append whose outcome remained unknown, is answered like any other success.
 */
export class EventStoreDb implements EventStore {
  readonly #connection: StoreConnection;
  readonly #reader: StoreReader;
  readonly #appender: StoreAppender;
  readonly #followed: Followed;
  readonly #end: LogEnd;
  readonly #listOpen: EventStoreDbOptions['listOpen'];
  readonly #closing = new AbortController();
  #closed: Promise<void> | null = null;

  /**
   * Connects to nothing yet.
   * @throws StartProblem for an invalid connection string; Error for an invalid namespace
   */
  constructor({ url, namespace, listOpen, bounds, places = notKept, log = quiet }: EventStoreDbOptions) {
    const names = streamNames(namespace);
    const horizon = new LogHorizon();
    const connection = new StoreConnection(url);
    this.#connection = connection;
    const presence = storePresence(connection);
    this.#reader = new StoreReader(connection, names, horizon, presence);
    const appending = { connection, reader: this.#reader, presence, names, horizon };
    this.#appender = new StoreAppender({ ...appending, bounds: { ...APPEND_BOUNDS, ...bounds } });
    const followed = { connection, names, horizon, closing: this.#closing.signal, log, presence };
    const end = new LogEnd({
      ...{ horizon, log, kept: places, reader: this.#reader },
      readOn: (after, take) =>
        readOn(
          followed,
          after,
          ({ event, checkpoint }) => {
            if (event !== undefined) take({ event: event.position });
            else if (checkpoint !== undefined) take({ place: toPosition(checkpoint.commit) });
            return false;
          },
          LOOK_SILENCE_MS,
        ),
    });
    this.#end = end;
    this.#followed = { ...followed, startAfter: (position) => end.startAfter(position) };
    this.#listOpen = listOpen;
    setMaxListeners(0, this.#closing.signal);
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]): Promise<AppendOutcome> {
    this.#assertOpen();
    return this.#appender.append(stream, expected, serialise(events));
  }

  async read(stream: string, range: ReadRange): Promise<StreamPage> {
    this.#assertOpen();
    return this.#reader.read(stream, range);
  }

  async readAll(after: number, limit: number): Promise<readonly RecordedEvent[]> {
    this.#assertOpen();
    // No event is at a position below 1.
    return readFiltered(this.#followed, Math.max(after, 0), limit);
  }

  async lastPosition(): Promise<number> {
    this.#assertOpen();
    return this.#end.position();
  }

  /**
   * Resolves if the store answers and grants the needed rights. Its cost does not depend on the size of the store. @throws Rejection
   * STORE_UNAVAILABLE
   */
  async probe(): Promise<void> {
    this.#assertOpen();
    await this.#reader.meetEnd();
    if (this.#appender.denied !== null) throw storeUnavailable(this.#appender.denied);
  }

  subscribe(options: Subscription): AsyncIterable<readonly RecordedEvent[]> {
    return followStore(this.#followed, options);
  }

  async openProcesses(): Promise<readonly OpenProcess[]> {
    this.#assertOpen();
    return this.#listOpen();
  }

  /** Waits for the answers to what was sent, then closes the connection. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#appender.drained();
    this.#closing.abort();
    await this.#connection[Symbol.asyncDispose]();
  }

  #assertOpen(): void {
    if (this.#closed !== null) throw storeUnavailable();
  }
}
