import { LRUCache } from 'lru-cache';

import type { JsonObject } from '../../kernel/base/json.js';
import { PAUSE_BYTES, READ_BYTES } from '../../kernel/base/page-size.js';
import type {
  AppendOutcome,
  EventMeta,
  ExpectedRevision,
  OpenProcess,
  ReadRange,
  RecordedEvent,
  StreamPage,
} from '../../ports/event-store.js';
import { placeAppend, rangeOf, type SerialisedEvent, type StreamView } from '../shared/append-rules.js';
import { damagedRow, type Database } from './database.js';

/**
 * `position` is the rowid and the global order: the one writer assigns it in the order of commits. Each stream's name is stored once; events carry
 * its number. Ids begin with a time, so the index on them grows at its end.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS streams (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE IF NOT EXISTS events (
    position INTEGER PRIMARY KEY, stream INTEGER NOT NULL, revision INTEGER NOT NULL,
    id TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL, meta TEXT NOT NULL
  );
  CREATE UNIQUE INDEX IF NOT EXISTS events_by_revision ON events (stream, revision);
  CREATE TABLE IF NOT EXISTS open_processes (
    stream TEXT NOT NULL, name TEXT NOT NULL, id TEXT NOT NULL, due TEXT, PRIMARY KEY (stream, name, id)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS probes (id INTEGER PRIMARY KEY, count INTEGER NOT NULL);`;

export const EVENT_COLUMNS = 'position, stream, revision, id, type, data, meta';
export type EventRow = readonly [number, number, number, string, string, string, string];

/** @throws Error that `isDamage` recognises, for text that is no JSON */
const objectIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw damagedRow(error);
  }
};

const recorded = ([position, , revision, id, type, data, meta]: EventRow, stream: string): RecordedEvent => ({
  id,
  type,
  data: objectIn(data) as JsonObject,
  meta: objectIn(meta) as EventMeta,
  stream,
  revision,
  position,
});

/** How many rows are fetched at a time: their size is known only then, and each is at most a megabyte. */
const ROWS_FETCHED = 16;

/** Work that lets others run wherever it yields. */
export type Pausing<Result> = Generator<undefined, Result, void>;

/**
 * The events of one page, with a pause after each portion. Events written during a pause come after all that were read before it.
 * @param fetch returns at most `count` rows after the last one
 * @param streamOf the name of a row's stream
 */
export function* readPage(
  limit: number,
  fetch: (last: EventRow | undefined, count: number) => readonly EventRow[],
  streamOf: (row: EventRow) => string,
): Pausing<readonly RecordedEvent[]> {
  const page: RecordedEvent[] = [];
  let last: EventRow | undefined;
  let pausedAt = 0;
  for (let bytes = 0; ;) {
    const count = Math.min(ROWS_FETCHED, limit - page.length);
    const rows = fetch(last, count);
    for (const row of rows) {
      if (bytes - pausedAt >= PAUSE_BYTES) {
        yield;
        pausedAt = bytes;
      }
      page.push(recorded(row, streamOf(row)));
      bytes += Buffer.byteLength(row[5]) + Buffer.byteLength(row[6]);
      if (bytes >= READ_BYTES) return page;
    }
    if (rows.length < count || page.length === limit) return page;
    last = rows.at(-1);
  }
}

/** One append, ready to be written. `marks` are the process marks of its events. */
export type LoggedAppend = {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly SerialisedEvent[];
  readonly marks: readonly (OpenProcess & { readonly open: boolean })[];
};

/** A stream's number and last revision. */
type StreamHead = { readonly id: number; readonly last: number };

/** The changes of a commit in memory. They are adopted only once the commit is durable: a failed commit leaves nothing behind. */
type CommitDraft = {
  position: number;
  readonly heads: Map<string, StreamHead>;
  readonly processes: Map<string, OpenProcess | null>;
};

const processKey = ({ stream, name, id }: OpenProcess): string => `${stream}\n${name}\n${id}`;

/** The events in one SQLite file, synchronously: statements, the heads of streams, the index of open processes. */
export class EventLog {
  readonly #database: Database;
  readonly #sql;
  readonly #heads: LRUCache<string, StreamHead>;
  readonly #names: LRUCache<number, string>;
  readonly #processes = new Map<string, OpenProcess>();
  #position: number;

  /** Reads the last position and the open processes, never the events. `headsKept`: how many streams' names and last revisions stay in memory. */
  constructor(database: Database, headsKept: number) {
    this.#heads = new LRUCache({ max: headsKept });
    this.#names = new LRUCache({ max: headsKept });
    database.exec(SCHEMA);
    this.#database = database;
    const events = `SELECT ${EVENT_COLUMNS} FROM events`;
    this.#sql = {
      streamByName: database.prepare(
        `SELECT id, (SELECT max(revision) FROM events WHERE stream = streams.id) AS last FROM streams WHERE name = ?`,
      ),
      nameOf: database.prepare('SELECT name FROM streams WHERE id = ?'),
      addStream: database.prepare('INSERT INTO streams (name) VALUES (?)'),
      addEvent: database.prepare(`INSERT INTO events (${EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`),
      place: database.prepare('SELECT id, position FROM events WHERE stream = ? AND revision = ?'),
      forwards: database.prepare(
        `${events} WHERE stream = ? AND revision BETWEEN ? AND ? ORDER BY revision LIMIT ?`,
        'arrays',
      ),
      backwards: database.prepare(
        `${events} WHERE stream = ? AND revision BETWEEN ? AND ? ORDER BY revision DESC LIMIT ?`,
        'arrays',
      ),
      after: database.prepare(`${events} WHERE position > ? ORDER BY position LIMIT ?`, 'arrays'),
      openProcess: database.prepare(
        'INSERT OR REPLACE INTO open_processes (stream, name, id, due) VALUES (?, ?, ?, ?)',
      ),
      probe: database.prepare(
        'INSERT INTO probes (id, count) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET count = (count + 1) % 1000000',
      ),
      last: database.prepare(`${events} ORDER BY position DESC LIMIT 1`),
      closeProcess: database.prepare('DELETE FROM open_processes WHERE stream = ? AND name = ? AND id = ?'),
    };
    const last = database.prepare('SELECT max(position) AS position FROM events').get() as { position: number | null };
    this.#position = last.position ?? 0;
    const open = database.prepare('SELECT stream, name, id, due FROM open_processes').all() as OpenProcess[];
    for (const { name, id, stream, due } of open) {
      this.#processes.set(processKey({ name, id, stream, due }), { name, id, stream, due });
    }
  }

  get lastPosition(): number {
    return this.#position;
  }

  /**
   * Makes a flushed write that is not an event, and reads the last event.
   * @throws Rejection STORE_FULL, STORE_UNAVAILABLE; what SQLite throws
   */
  probe(): void {
    this.#database.transaction(() => this.#sql.probe.run());
    this.#sql.last.get();
  }

  get openProcesses(): readonly OpenProcess[] {
    return [...this.#processes.values()];
  }

  /**
   * Writes appends in one transaction, in order. Each sees those before it, and has one outcome. A conflict in one changes nothing for the others.
   * All are durable when this returns.
   * @throws Rejection STORE_FULL, STORE_UNAVAILABLE: then none of them was written
   */
  commit(appends: readonly LoggedAppend[]): readonly AppendOutcome[] {
    const draft: CommitDraft = { position: this.#position, heads: new Map(), processes: new Map() };
    const outcomes = this.#database.transaction(() => {
      const written = appends.map((append) => this.#write(append, draft));
      this.#writeProcesses(draft);
      return written;
    });
    this.#adopt(draft);
    return outcomes;
  }

  /** One page of a stream in its state when this begins. */
  *read(stream: string, range: ReadRange): Pausing<StreamPage> {
    const head = this.#head(stream);
    const { lowest, highest } = rangeOf(range, head?.last ?? -1);
    if (head === undefined || lowest > highest) return { events: [], lastRevision: head?.last ?? -1 };
    const statement = this.#sql[range.direction];
    const fetch = (last: EventRow | undefined, count: number): readonly EventRow[] => {
      const [from, to] =
        range.direction === 'forwards'
          ? [(last?.[2] ?? lowest - 1) + 1, highest]
          : [lowest, (last?.[2] ?? highest + 1) - 1];
      return statement.all(head.id, from, to, count) as EventRow[];
    };
    return { events: yield* readPage(range.limit, fetch, () => stream), lastRevision: head.last };
  }

  readAll(after: number, limit: number): Pausing<readonly RecordedEvent[]> {
    const fetch = (last: EventRow | undefined, count: number) =>
      this.#sql.after.all(last?.[0] ?? after, count) as EventRow[];
    // Most events follow one of their own stream.
    let [id, name] = [-1, ''];
    return readPage(limit, fetch, (row) => {
      if (row[1] !== id) [id, name] = [row[1], this.#nameOf(row[1])];
      return name;
    });
  }

  #write({ stream, expected, events, marks }: LoggedAppend, draft: CommitDraft): AppendOutcome {
    const head = draft.heads.get(stream) ?? this.#head(stream);
    const last = head?.last ?? -1;
    const place = placeAppend(
      this.#view(head),
      expected,
      events.map(({ id }) => id),
    );
    if (place === 'conflict') return { ok: false, actual: last };
    if (place !== 'write') {
      const revision = place.repeatedFrom + events.length - 1;
      return { ok: true, revision, position: this.#at(head, revision)?.position ?? 0, repeated: true };
    }
    const id = head?.id ?? Number(this.#sql.addStream.run(stream).lastInsertRowid);
    let revision = last;
    for (const event of events) {
      revision += 1;
      draft.position += 1;
      this.#sql.addEvent.run(draft.position, id, revision, event.id, event.type, event.data, event.meta);
    }
    draft.heads.set(stream, { id, last: revision });
    for (const { open, ...process } of marks) draft.processes.set(processKey(process), open ? process : null);
    return { ok: true, revision, position: draft.position, repeated: false };
  }

  /** Writes only the differences to the index: most events of a process leave it open with the same deadline. */
  #writeProcesses({ processes }: CommitDraft): void {
    for (const [key, process] of processes) {
      const known = this.#processes.get(key);
      if (process === null) {
        if (known !== undefined) this.#sql.closeProcess.run(known.stream, known.name, known.id);
      } else if (known?.due !== process.due) {
        this.#sql.openProcess.run(process.stream, process.name, process.id, process.due);
      }
    }
  }

  #adopt(draft: CommitDraft): void {
    this.#position = draft.position;
    for (const [stream, head] of draft.heads) this.#heads.set(stream, head);
    for (const [key, process] of draft.processes) {
      if (process === null) this.#processes.delete(key);
      else this.#processes.set(key, process);
    }
  }

  #view(head: StreamHead | undefined): StreamView {
    return {
      last: head?.last ?? -1,
      idAt: (revision) => this.#at(head, revision)?.id,
    };
  }

  #at(head: StreamHead | undefined, revision: number): { id: string; position: number } | undefined {
    if (head === undefined) return undefined;
    return this.#sql.place.get(head.id, revision) as { id: string; position: number } | undefined;
  }

  #head(stream: string): StreamHead | undefined {
    const known = this.#heads.get(stream);
    if (known !== undefined) return known;
    const row = this.#sql.streamByName.get(stream) as { id: number; last: number | null } | undefined;
    if (row === undefined) return undefined;
    const head = { id: row.id, last: row.last ?? -1 };
    this.#heads.set(stream, head);
    return head;
  }

  #nameOf(id: number): string {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const row = this.#sql.nameOf.get(id) as { name: string } | undefined;
    if (row === undefined) throw damagedRow();
    this.#names.set(id, row.name);
    return row.name;
  }
}
