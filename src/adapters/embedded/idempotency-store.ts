import { LRUCache } from 'lru-cache';

import { BatchQueue } from '../../kernel/concurrency/batch-queue.js';
import type { Clock } from '../../ports/clock.js';
import {
  STORED_ANSWER_BYTES,
  type IdempotencyStore,
  type AnswerRetention,
  type StoredAnswer,
  type KeyedRequest,
  type Reservation,
} from '../../ports/idempotency-store.js';
import {
  answerFor,
  IDEMPOTENCY_TTL_MS,
  idOf,
  isFree,
  type StoredReservation,
  reservationOf,
  answerText,
} from '../shared/reservations.js';
import { Database, fileUnavailable } from './database.js';

/** How many changes may wait for the file, and how many of them one commit includes. */
const MAX_WAITING = 8_192;
const MAX_PER_COMMIT = 1_024;
/** How many expired entries a commit may drop, in addition to twice what it adds. */
const SWEPT_AT_LEAST = 16;
/** How many answers one new answer may displace. One that needs more room is not kept itself. */
const PUSHED_OUT = 256;
/** For how many tenants the size of their answers is known without reading the file. */
const COUNTED_TENANTS = 1_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS reservations (
    id TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, seed TEXT NOT NULL, expires INTEGER NOT NULL, answer TEXT, released INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS reservations_by_expiry ON reservations (expires);`;

/** Columns that were added later. `done`: completed once. `bytes`: the size of an answer that counts against the tenant's budget. */
const LATER_COLUMNS = {
  done: 'INTEGER NOT NULL DEFAULT 0',
  tenant: `TEXT NOT NULL DEFAULT ''`,
  bytes: 'INTEGER NOT NULL DEFAULT 0',
};
const BY_TENANT = `
  CREATE INDEX IF NOT EXISTS reservations_by_tenant ON reservations (tenant, expires, bytes) WHERE bytes > 0;`;

const makeTables = (database: Database): void => {
  database.exec(SCHEMA);
  const columns = database.prepare('PRAGMA table_info(reservations)').all() as { readonly name: string }[];
  const there = new Set(columns.map(({ name }) => name));
  for (const [name, type] of Object.entries(LATER_COLUMNS)) {
    if (!there.has(name)) database.exec(`ALTER TABLE reservations ADD COLUMN ${name} ${type}`);
  }
  database.exec(BY_TENANT);
};

type ReservationRow = {
  digest: string;
  seed: string;
  expires: number;
  answer: string | null;
  released: number;
  done: number;
  tenant: string;
  bytes: number;
};
const keptOf = ({ digest, seed, expires, answer, released, done }: ReservationRow): StoredReservation => ({
  digest,
  seed,
  expiresMs: expires,
  answer: answer === null ? null : (JSON.parse(answer) as StoredAnswer),
  released: released === 1,
  done: done === 1,
});

/**
 * Idempotency keys in one SQLite file of this process. All changes of one turn of the event loop share one flushed commit. This process keeps in
 * memory what it runs: any other entry without an answer was left by a process that died.
 */
export class EmbeddedIdempotencyStore implements IdempotencyStore, AsyncDisposable {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #sql;
  readonly #budget: number;
  readonly #running = new Set<string>();
  /** The bytes of the answers of tenants, as the transaction in progress leaves them. */
  readonly #bytes = new LRUCache<string, number>({ max: COUNTED_TENANTS });
  /** The requests that the current commit has begun. */
  #began: string[] = [];
  /** Each change runs inside a commit; its caller has the result once the commit is flushed. */
  readonly #changes = new BatchQueue<() => unknown, unknown>(
    { queued: MAX_WAITING, batched: MAX_PER_COMMIT },
    (changes) => this.#commit(changes),
  );
  #closed = false;

  private constructor(database: Database, clock: Clock, budget: number) {
    this.#database = database;
    this.#clock = clock;
    this.#budget = budget;
    makeTables(database);
    this.#sql = {
      find: database.prepare(
        'SELECT digest, seed, expires, answer, released, done, tenant, bytes FROM reservations WHERE id = ?',
      ),
      take: database.prepare(`
        INSERT OR REPLACE INTO reservations (id, digest, seed, expires, answer, released) VALUES (?, ?, ?, ?, NULL, 0)`),
      resume: database.prepare('UPDATE reservations SET released = 0 WHERE id = ?'),
      complete: database.prepare('UPDATE reservations SET answer = ?, done = 1, tenant = ?, bytes = ? WHERE id = ?'),
      release: database.prepare('UPDATE reservations SET released = 1 - done WHERE id = ?'),
      extend: database.prepare('UPDATE reservations SET expires = ? WHERE id = ? AND expires <= ?'),
      expired: database.prepare(
        `SELECT id, tenant, bytes FROM reservations
         WHERE expires <= ? AND (answer IS NOT NULL OR released = 1 OR done = 1 OR expires <= ?) ORDER BY expires LIMIT ?`,
      ),
      drop: database.prepare('DELETE FROM reservations WHERE id = ?'),
      count: database.prepare(
        'SELECT coalesce(sum(bytes), 0) AS bytes FROM reservations WHERE tenant = ? AND bytes > 0',
      ),
      oldest: database.prepare(
        'SELECT id, bytes FROM reservations WHERE tenant = ? AND bytes > 0 ORDER BY expires LIMIT ?',
      ),
      forget: database.prepare('UPDATE reservations SET answer = NULL, bytes = 0 WHERE id = ?'),
    };
  }

  /**
   * Opens the store on a file. Disposing of the store closes the file.
   * @param budget the maximum size of the answers of one tenant, in bytes
   * @throws StartProblem as Database.open
   */
  static open(path: string, clock: Clock, budget = STORED_ANSWER_BYTES): EmbeddedIdempotencyStore {
    return new EmbeddedIdempotencyStore(Database.open(path, { synchronous: 'FULL' }), clock, budget);
  }

  /** @throws Rejection BUSY, STORE_FULL, STORE_UNAVAILABLE: nothing was reserved then */
  reserve({ scope, key, digest }: KeyedRequest, newSeed: string): Promise<Reservation> {
    return this.#write(() => this.#take(idOf(scope, key), digest, newSeed));
  }

  /** @throws Rejection STORE_UNAVAILABLE */
  async storedAnswer({ scope, key, digest }: KeyedRequest): Promise<StoredAnswer | null> {
    if (this.#closed) throw fileUnavailable();
    return answerFor(this.#find(idOf(scope, key)), digest, this.#clock.now().getTime());
  }

  /** @throws Rejection as reserve: the key then behaves as if this process had died */
  complete({ tenant, scope, key }: KeyedRequest, answer: StoredAnswer, retention: AnswerRetention): Promise<void> {
    const { text, bytes } = answerText(answer, retention);
    return this.#end(idOf(scope, key), (id) => {
      const fits = bytes === 0 || this.#makeRoom(tenant, bytes);
      const { changes } = this.#sql.complete.run(fits ? text : null, tenant, fits ? bytes : 0, id);
      if (fits && changes > 0) this.#count(tenant, bytes);
    });
  }

  /** @throws Rejection as complete */
  release({ scope, key }: KeyedRequest): Promise<void> {
    return this.#end(idOf(scope, key), (id) => this.#sql.release.run(id));
  }

  /** Writes what is waiting, then closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#changes.flush();
    this.#database[Symbol.dispose]();
  }

  #row(id: string): ReservationRow | undefined {
    return this.#sql.find.get(id) as ReservationRow | undefined;
  }

  #find(id: string): StoredReservation | undefined {
    const row = this.#row(id);
    return row === undefined ? undefined : keptOf(row);
  }

  /** Drops the oldest answers of a tenant until one of this many bytes fits. @returns false if it does not fit */
  #makeRoom(tenant: string, bytes: number): boolean {
    let room = this.#budget - this.#count(tenant, 0);
    if (room >= bytes) return true;
    // Answers beyond a budget that was lowered are dropped in any case.
    const isBeyond = room < 0;
    if (!isBeyond && bytes > this.#budget) return false;
    const oldest = this.#sql.oldest.all(tenant, PUSHED_OUT) as { readonly id: string; readonly bytes: number }[];
    const wanted = bytes > this.#budget ? 0 : bytes;
    const last = oldest.findIndex((old) => (room += old.bytes) >= wanted);
    if (last < 0 && !isBeyond) return false;
    for (const old of last < 0 ? oldest : oldest.slice(0, last + 1)) {
      this.#sql.forget.run(old.id);
      this.#count(tenant, -old.bytes);
    }
    return room >= bytes;
  }

  /** The bytes of a tenant's answers. @param change of a write that is already in the file */
  #count(tenant: string, change: number): number {
    const known = this.#bytes.get(tenant);
    const counted = known ?? (this.#sql.count.get(tenant) as { readonly bytes: number }).bytes;
    const now = known === undefined ? counted : counted + change;
    this.#bytes.set(tenant, now);
    return now;
  }

  #take(id: string, digest: string, newSeed: string): Reservation {
    const row = this.#row(id);
    const kept = row === undefined ? undefined : keptOf(row);
    const nowMs = this.#clock.now().getTime();
    const isRunning = this.#running.has(id);
    if (kept === undefined || isFree(kept, digest, nowMs, isRunning)) {
      this.#sql.take.run(id, digest, newSeed, nowMs + IDEMPOTENCY_TTL_MS);
      if (row !== undefined && row.bytes > 0) this.#count(row.tenant, -row.bytes);
      this.#began.push(id);
      this.#running.add(id);
      return { kind: 'run', seed: newSeed, resumed: false, done: false };
    }
    const reservation = reservationOf(kept, digest, isRunning);
    if (reservation.kind === 'run') {
      this.#sql.resume.run(id);
      this.#began.push(id);
      this.#running.add(id);
    }
    return reservation;
  }

  async #end(id: string, write: (id: string) => unknown): Promise<void> {
    try {
      await this.#write(() => {
        // The clock may have jumped past its day while it ran. Its client has no answer yet, and a repeat would run again.
        const nowMs = this.#clock.now().getTime();
        this.#sql.extend.run(nowMs + IDEMPOTENCY_TTL_MS, id, nowMs);
        write(id);
        this.#running.delete(id);
      });
    } catch (error) {
      this.#running.delete(id);
      throw error;
    }
  }

  async #write<T>(run: () => T): Promise<T> {
    if (this.#closed) throw fileUnavailable();
    return this.#changes.add(run) as Promise<T>;
  }

  #sweep(most: number): void {
    const nowMs = this.#clock.now().getTime();
    // An entry that was left running is kept for another day: a repeat has to find out what it did.
    const expired = this.#sql.expired.all(nowMs, nowMs - IDEMPOTENCY_TTL_MS, most) as {
      readonly id: string;
      readonly tenant: string;
      readonly bytes: number;
    }[];
    for (const { id, tenant, bytes } of expired) {
      if (this.#running.has(id)) continue;
      this.#sql.drop.run(id);
      if (bytes > 0) this.#count(tenant, -bytes);
    }
  }

  #commit(changes: readonly (() => unknown)[]): readonly unknown[] {
    this.#began = [];
    try {
      return this.#database.transaction(() => {
        const results = changes.map((change) => change());
        this.#sweep(SWEPT_AT_LEAST + 2 * changes.length);
        return results;
      });
    } catch (error) {
      for (const id of this.#began) this.#running.delete(id);
      this.#bytes.clear();
      throw error;
    }
  }
}
