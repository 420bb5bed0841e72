import { setImmediate as nextTurn } from 'node:timers/promises';

import { Rejection } from '../../domain/shared/rejection.js';
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
import { serialise, type StoredEvent } from '../shared/append-rules.js';
import { ChangeSignal, follow } from '../shared/follow.js';
import { sqliteRejection, asStartProblem, Database, fileUnavailable } from './database.js';
import { EventLog, type LoggedAppend, type Pausing } from './event-log.js';

/** Bounds of the store. An append that finds the queue full is refused as BUSY. */
export type EventStoreBounds = {
  /** Appends written in one commit. */
  readonly appendsPerCommit: number;
  /** Appends waiting to be written, and the characters of JSON in them. */
  readonly appendsWaiting: number;
  readonly textWaiting: number;
  /** Streams whose last revision is kept in memory; that of others is looked up by index. */
  readonly headsKept: number;
};

const BOUNDS: EventStoreBounds = {
  appendsPerCommit: 1_024,
  appendsWaiting: 8_192,
  textWaiting: 64 * 1024 * 1024,
  headsKept: 50_000,
};
/** The characters of JSON after which a commit takes no more: one flush must not take long. */
const TEXT_PER_COMMIT = 8 * 1024 * 1024;
const BUSY_RETRY_SECONDS = 1;

type WaitingAppend = LoggedAppend & {
  readonly text: number;
  readonly resolve: (outcome: AppendOutcome) => void;
  readonly reject: (reason: unknown) => void;
};

const textOf = (events: readonly StoredEvent[]): number =>
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
  readonly #bounds: EventStoreBounds;
  readonly #changes = new ChangeSignal();
  #queue: WaitingAppend[] = [];
  #text = 0;
  #scheduled = false;
  #closed = false;

  private constructor(database: Database, bounds: EventStoreBounds) {
    this.#database = database;
    this.#bounds = bounds;
    this.#log = new EventLog(database, bounds.headsKept);
  }

  /**
   * Opens the store on a file, or on a database that is already open with FULL. The store closes it in either case.
   * @throws StartProblem when the file cannot be opened as durably as events need.
   */
  static open(file: string | Database, bounds: Partial<EventStoreBounds> = {}): EmbeddedEventStore {
    const database = typeof file === 'string' ? Database.open(file, { synchronous: 'FULL' }) : file;
    try {
      database.assertFlushed();
      return new EmbeddedEventStore(database, { ...BOUNDS, ...bounds });
    } catch (error) {
      database[Symbol.dispose]();
      throw asStartProblem(database.path, error);
    }
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]): Promise<AppendOutcome> {
    if (this.#closed) throw fileUnavailable();
    const stored = serialise(events);
    const text = textOf(stored);
    if (this.#queue.length >= this.#bounds.appendsWaiting || this.#text + text > this.#bounds.textWaiting)
      throw new Rejection('BUSY', { retryAfter: BUSY_RETRY_SECONDS });
    const marks = marksOf(stream, events);
    return new Promise((resolve, reject) => {
      this.#queue.push({ stream, expected, events: stored, marks, text, resolve, reject });
      this.#text += text;
      this.#schedule();
    });
  }

  async read(stream: string, range: ReadRange): Promise<StreamPage> {
    return this.#withPauses(this.#log.read(stream, range));
  }

  async readAll(after: number, limit: number): Promise<readonly RecordedEvent[]> {
    return this.#withPauses(this.#log.readAll(after, limit));
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

  /** Writes what is waiting, then closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    while (this.#queue.length > 0) this.#flush();
    this.#changes.announceAll();
    this.#database[Symbol.dispose]();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
      if (this.#queue.length > 0) this.#schedule();
    });
  }

  #flush(): void {
    const batch = this.#take();
    if (batch.length === 0) return;
    try {
      const outcomes = this.#log.commit(batch);
      const changed = new Set<string>();
      outcomes.forEach((outcome, index) => {
        const append = batch[index];
        if (append === undefined) return;
        if (outcome.ok && !outcome.repeated) changed.add(append.stream);
        append.resolve(outcome);
      });
      if (changed.size > 0) this.#changes.announce(changed);
    } catch (error) {
      for (const append of batch) append.reject(error);
    }
  }

  #take(): readonly WaitingAppend[] {
    let count = 0;
    let text = 0;
    for (const append of this.#queue) {
      if (count >= this.#bounds.appendsPerCommit || (count > 0 && text + append.text > TEXT_PER_COMMIT)) break;
      count += 1;
      text += append.text;
    }
    this.#text -= text;
    return this.#queue.splice(0, count);
  }

  /** Appends and other reads go on during the pauses, and the store may be closed. */
  async #withPauses<T>(work: Pausing<T>): Promise<T> {
    for (;;) {
      const { done, value } = this.#reading(() => work.next());
      if (done === true) return value;
      await nextTurn();
    }
  }

  #reading<T>(read: (log: EventLog) => T): T {
    if (this.#closed) throw fileUnavailable();
    try {
      return read(this.#log);
    } catch (error) {
      throw sqliteRejection(error);
    }
  }
}
