import { BatchQueue } from '../../kernel/concurrency/batch-queue.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';

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
import { serialise, type SerialisedEvent } from '../shared/append-rules.js';
import { ChangeSignal, follow } from '../shared/follow.js';
import type { Log } from '../../ports/log.js';
import { asStartProblem, damagedPart, Database, fileUnavailable, isDamage, sqliteRejection } from './database.js';
import { EventLog, type LoggedAppend, type Pausing } from './event-log.js';
import { streamSubject } from './stream-subject.js';

/** Bounds of the store. An append that finds the queue full is refused as BUSY. */
export type EventStoreBounds = {
  /** The maximum number of appends written in one commit. */
  readonly appendsPerCommit: number;
  /** The maximum number of waiting appends, and of the characters of JSON in them. */
  readonly appendsWaiting: number;
  readonly textWaiting: number;
  /** The number of streams whose last revision is kept in memory; others are looked up by index. */
  readonly headsKept: number;
};

const BOUNDS: EventStoreBounds = {
  appendsPerCommit: 1_024,
  appendsWaiting: 8_192,
  textWaiting: 64 * 1024 * 1024,
  headsKept: 50_000,
};
/** The characters of JSON after which a commit accepts no more: one flush must not take long. */
const TEXT_PER_COMMIT = 8 * 1024 * 1024;

const textOf = (events: readonly SerialisedEvent[]): number =>
  events.reduce((sum, { data, meta }) => sum + data.length + meta.length, 0);

const marksOf = (stream: string, events: readonly EventToAppend[]): LoggedAppend['marks'] =>
  events.flatMap(({ meta: { process: mark } }) =>
    mark === undefined ? [] : [{ stream, name: mark.name, id: mark.id, due: mark.due, open: mark.open }],
  );

/**
 * The event store in one SQLite file of this process. All appends of one turn of the event loop share one flushed commit. While it runs, the next
 * ones gather in the sockets, so each append gets cheaper as the load grows.
 */
export class EmbeddedEventStore implements EventStore {
  /** The data directory is locked for this process. */
  readonly soleWriter = true;
  readonly #database: Database;
  readonly #log: EventLog;
  readonly #changes = new ChangeSignal();
  readonly #queue: BatchQueue<LoggedAppend, AppendOutcome>;
  readonly #operatorLog: Pick<Log, 'error'> | undefined;
  #closed = false;

  private constructor(database: Database, bounds: EventStoreBounds, log: Pick<Log, 'error'> | undefined) {
    this.#database = database;
    this.#operatorLog = log;
    this.#log = new EventLog(database, bounds.headsKept);
    this.#queue = new BatchQueue(
      {
        queued: bounds.appendsWaiting,
        queuedWeight: bounds.textWaiting,
        batched: bounds.appendsPerCommit,
        batchedWeight: TEXT_PER_COMMIT,
      },
      (appends) => this.#commit(appends),
    );
  }

  /**
   * Opens the store on a file, or on a database that is already open with FULL. The store closes it in either case.
   * @param log receives what cannot be read
   * @throws StartProblem if the file cannot be opened as durably as events need
   */
  static open(
    file: string | Database,
    bounds: Partial<EventStoreBounds> = {},
    log?: Pick<Log, 'error'>,
  ): EmbeddedEventStore {
    const database = typeof file === 'string' ? Database.open(file, { synchronous: 'FULL' }) : file;
    try {
      database.assertFlushed();
      return new EmbeddedEventStore(database, { ...BOUNDS, ...bounds }, log);
    } catch (error) {
      database[Symbol.dispose]();
      throw asStartProblem(database.path, error);
    }
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]): Promise<AppendOutcome> {
    if (this.#closed) throw fileUnavailable();
    const stored = serialise(events);
    return this.#queue.add({ stream, expected, events: stored, marks: marksOf(stream, events) }, textOf(stored));
  }

  async read(stream: string, range: ReadRange): Promise<StreamPage> {
    return this.#withPauses(this.#log.read(stream, range), streamSubject(stream));
  }

  async readAll(after: number, limit: number): Promise<readonly RecordedEvent[]> {
    return this.#withPauses(this.#log.readAll(after, limit), `an event after position ${String(after)}`);
  }

  async lastPosition(): Promise<number> {
    return this.#reading((log) => log.lastPosition);
  }

  subscribe(options: Subscription): AsyncIterable<readonly RecordedEvent[]> {
    return follow(this, this.#changes, options);
  }

  async openProcesses(): Promise<readonly OpenProcess[]> {
    return this.#reading((log) => log.openProcesses);
  }

  /** Resolves if the file accepts an append and can be read. @throws Rejection STORE_FULL, STORE_UNAVAILABLE */
  async probe(): Promise<void> {
    this.#reading((log) => log.probe(), 'the last event');
  }

  /** Writes what is waiting, then closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#queue.flush();
    this.#changes.announceAll();
    this.#database[Symbol.dispose]();
  }

  #commit(appends: readonly LoggedAppend[]): readonly AppendOutcome[] {
    const outcomes = this.#log.commit(appends);
    const changed = appends.filter((_, at) => outcomes[at]?.ok === true && !outcomes[at].repeated);
    if (changed.length > 0) this.#changes.announce(new Set(changed.map(({ stream }) => stream)));
    return outcomes;
  }

  /** Appends and other reads continue during the pauses, and the store may be closed. */
  async #withPauses<T>(work: Pausing<T>, what: string): Promise<T> {
    for (;;) {
      const { done, value } = this.#reading(() => work.next(), what);
      if (done === true) return value;
      await yieldToEventLoop();
    }
  }

  #reading<T>(read: (log: EventLog) => T, what = 'the index of events'): T {
    if (this.#closed) throw fileUnavailable();
    try {
      return read(this.#log);
    } catch (error) {
      if (!isDamage(error)) throw sqliteRejection(error);
      this.#operatorLog?.error({ err: error, file: this.#database.path }, `Cannot read ${what}: the file is damaged`);
      throw damagedPart(this.#database.path, what);
    }
  }
}
