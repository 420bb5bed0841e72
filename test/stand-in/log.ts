import { join } from 'node:path';

import { Database } from '../../src/adapters/embedded/database.js';
import { judge, KnownIds } from './expectation.js';
import type { Expected } from './expectation.js';
import { writeForeign } from './foreign.js';

/** The input of a filter. */
export type Header = {
  readonly stream: string;
  readonly type: string;
  readonly revision: number;
  readonly position: number;
};

export type ProposedEvent = {
  readonly id: string;
  readonly type: string;
  /** All that a server stores of a content type. */
  readonly json: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
};

/** `position` is the position in the log. As in a real log, there are gaps between events. `created` counts milliseconds since 1970. */
export type LoggedEvent = ProposedEvent & Header & { readonly created: number };

export type Write = { readonly stream: string; readonly expected: Expected; readonly events: readonly ProposedEvent[] };

/** `revision` of the last event, -1 for none; on a conflict the stream's current one. */
export type Outcome =
  | { readonly ok: true; readonly revision: number; readonly position: number }
  | { readonly ok: false; readonly revision: number };

type Waiting = Write & { readonly answer: (outcome: Outcome) => void };
type Row = Omit<LoggedEvent, 'json'> & { readonly json: 0 | 1 };

/** How many appends one flushed commit contains. */
const APPENDS_PER_COMMIT = 1_024;
/** The size of a record in the log besides data and metadata. */
const RECORD_OVERHEAD = 64;
const FIRST_POSITION = RECORD_OVERHEAD;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS streams (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE IF NOT EXISTS events (
    position INTEGER PRIMARY KEY, stream INTEGER NOT NULL, revision INTEGER NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL,
    json INTEGER NOT NULL, data BLOB NOT NULL, metadata BLOB NOT NULL, created INTEGER NOT NULL, UNIQUE (stream, revision)
  );
  CREATE INDEX IF NOT EXISTS headers ON events (position, stream, revision, type);`;
const SELECT = `SELECT name AS stream, revision, events.id AS id, type, json, data, metadata, created, position
  FROM events JOIN streams ON streams.id = events.stream`;
/** Reads only the index: without it, a filter that matches little reads the data of the entire log. */
const SELECT_HEADERS = `SELECT name AS stream, type, revision, position
  FROM events INDEXED BY headers JOIN streams ON streams.id = events.stream`;

/** A started server has already written something: $all is never empty. */
const FIRST_WRITE: Write = {
  stream: '$$$stats',
  expected: 'any',
  events: [
    {
      id: 'a2b7f6d0-5c53-4f0c-9f0e-6d1f8a3b7c11',
      type: '$metadata',
      json: true,
      data: Buffer.from('{"$maxAge":864000}'),
      metadata: new Uint8Array(),
    },
  ],
};

const sizeOf = ({ data, metadata }: ProposedEvent): number => RECORD_OVERHEAD + data.length + metadata.length;

/**
 * The log in one SQLite file. Appends of one turn of the event loop share one flushed commit. A disk error is not caught: as with a real server, the
 * process ends, and after the next start everything that was answered is in the log.
 */
export class Log implements Disposable {
  readonly #database: Database;
  readonly #sql;
  readonly #known = new KnownIds();
  readonly #listeners = new Set<(events: readonly LoggedEvent[]) => void>();
  #queue: Waiting[] = [];
  #end: number;

  private constructor(database: Database, foreign: number) {
    database.exec(SCHEMA);
    this.#database = database;
    this.#sql = {
      stream: database.prepare(
        'SELECT id, (SELECT max(revision) FROM events WHERE stream = streams.id) AS last FROM streams WHERE name = ?',
      ),
      addStream: database.prepare('INSERT INTO streams (name) VALUES (?)'),
      addEvent: database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
      place: database.prepare('SELECT id, position FROM events WHERE stream = ? AND revision = ?'),
      at: database.prepare(`${SELECT} WHERE position = ?`),
      headers: database.prepare(`${SELECT_HEADERS} WHERE position >= ? ORDER BY position LIMIT ?`),
      streamForwards: database.prepare(`${SELECT} WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?`),
      streamBackwards: database.prepare(`${SELECT} WHERE stream = ? AND revision <= ? ORDER BY revision DESC LIMIT ?`),
      allForwards: database.prepare(`${SELECT} WHERE position >= ? ORDER BY position LIMIT ?`),
      allBackwards: database.prepare(`${SELECT} WHERE position < ? ORDER BY position DESC LIMIT ?`),
    };
    const last = database.prepare(`${SELECT} ORDER BY position DESC LIMIT 1`).get() as Row | undefined;
    this.#end = last === undefined ? FIRST_POSITION : last.position + sizeOf({ ...last, json: true });
    if (last !== undefined) return;
    database.transaction(() => {
      this.#write(FIRST_WRITE, []);
      const firstStream = 1 + (this.#head(FIRST_WRITE.stream)?.id ?? 0);
      this.#end = writeForeign(database, { count: foreign, from: this.#end, firstStream, overhead: RECORD_OVERHEAD });
    });
  }

  /**
   * Opens the log in an existing directory, or creates it there: a new one begins with that many events of other programs.
   * @throws StartProblem when the file cannot be opened.
   */
  static open(directory: string, foreign = 0): Log {
    return new Log(Database.open(join(directory, 'eventstore.db'), { synchronous: 'FULL' }), foreign);
  }

  /** The position of the next event. */
  get end(): number {
    return this.#end;
  }

  append(write: Write, answer: (outcome: Outcome) => void): void {
    if (this.#queue.push({ ...write, answer }) === 1) setImmediate(() => this.#flush());
  }

  /** The last revision; undefined for a stream without events. */
  lastRevision(stream: string): number | undefined {
    return this.#head(stream)?.last;
  }

  /** The event at exactly this position; undefined if none begins there. */
  at(position: number): LoggedEvent | undefined {
    const row = this.#sql.at.get(position) as Row | undefined;
    return row && logged(row);
  }

  /** Up to `limit` headers of the log, from `position` on (inclusive). */
  headers(position: number, limit: number): Header[] {
    return this.#sql.headers.all(position, limit) as Header[];
  }

  /** Up to `limit` events of a stream, from `revision` on (inclusive). */
  readStream(stream: string, direction: 'forwards' | 'backwards', revision: number, limit: number): LoggedEvent[] {
    const head = this.#head(stream);
    if (head === undefined) return [];
    const statement = direction === 'forwards' ? this.#sql.streamForwards : this.#sql.streamBackwards;
    return (statement.all(head.id, revision, limit) as Row[]).map(logged);
  }

  /** Up to `limit` events of the log: forwards from `position` (inclusive), backwards from before it. */
  readAll(direction: 'forwards' | 'backwards', position: number, limit: number): LoggedEvent[] {
    const statement = direction === 'forwards' ? this.#sql.allForwards : this.#sql.allBackwards;
    return (statement.all(position, limit) as Row[]).map(logged);
  }

  /** Calls `listener` with the events of each commit once they are durable. Returns a function that ends this. */
  onCommit(listener: (events: readonly LoggedEvent[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  [Symbol.dispose](): void {
    while (this.#queue.length > 0) this.#flush();
    this.#database[Symbol.dispose]();
  }

  #flush(): void {
    const batch = this.#queue.splice(0, APPENDS_PER_COMMIT);
    if (this.#queue.length > 0) setImmediate(() => this.#flush());
    const written: LoggedEvent[] = [];
    const outcomes = this.#database.transaction(() => batch.map((write) => this.#write(write, written)));
    if (written.length > 0) for (const listener of [...this.#listeners]) listener(written);
    outcomes.forEach((outcome, index) => batch[index]?.answer(outcome));
  }

  #write({ stream, expected, events }: Write, written: LoggedEvent[]): Outcome {
    const head = this.#head(stream);
    const last = head?.last ?? -1;
    const placeOf = (revision: number) =>
      head && (this.#sql.place.get(head.id, revision) as { id: string; position: number } | undefined);
    const verdict = judge(expected, events, {
      last,
      idAt: (revision) => placeOf(revision)?.id,
      knownAt: (id) => this.#known.revisionOf(id, stream),
    });
    if (verdict === 'conflict') return { ok: false, revision: last };
    if (verdict !== 'write') {
      return { ok: true, revision: verdict.repeated, position: placeOf(verdict.repeated)?.position ?? 0 };
    }
    if (events.length === 0) return { ok: true, revision: last, position: this.#advance(RECORD_OVERHEAD) };
    const id = head?.id ?? Number(this.#sql.addStream.run(stream).lastInsertRowid);
    const created = Date.now();
    let [revision, position] = [last, 0];
    for (const event of events) {
      revision += 1;
      position = this.#advance(sizeOf(event));
      const { type, data, metadata } = event;
      this.#sql.addEvent.run(position, id, revision, event.id, type, event.json ? 1 : 0, data, metadata, created);
      this.#known.remember(event.id, stream, revision);
      written.push({ ...event, stream, revision, position, created });
    }
    return { ok: true, revision, position };
  }

  #advance(size: number): number {
    const position = this.#end;
    this.#end += size;
    return position;
  }

  #head(stream: string): { readonly id: number; readonly last: number } | undefined {
    return this.#sql.stream.get(stream) as { id: number; last: number } | undefined;
  }
}

const logged = ({ json, ...row }: Row): LoggedEvent => ({ ...row, json: json === 1 });
