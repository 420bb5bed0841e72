import { BatchQueue } from '../../concurrency/batch-queue.js';
import type { Clock } from '../../ports/clock.js';
import type { IdempotencyStore, KeptAnswer, Reservation } from '../../ports/idempotency-store.js';
import {
  answerFor,
  IDEMPOTENCY_TTL_MS,
  idOf,
  isFree,
  type KeptReservation,
  reservationOf,
} from '../shared/reservations.js';
import { Database, fileUnavailable } from './database.js';

/** How many changes may wait for the file, and how many of them one commit takes. */
const MAX_WAITING = 8_192;
const MAX_PER_COMMIT = 1_024;
/** How many expired entries a commit may drop, in addition to twice what it adds. */
const SWEPT_AT_LEAST = 16;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS reservations (
    id TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, seed TEXT NOT NULL, expires INTEGER NOT NULL, answer TEXT, released INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS reservations_by_expiry ON reservations (expires);`;

type ReservationRow = { digest: string; seed: string; expires: number; answer: string | null; released: number };
const keptOf = ({ digest, seed, expires, answer, released }: ReservationRow): KeptReservation => ({
  digest,
  seed,
  expiresMs: expires,
  answer: answer === null ? null : (JSON.parse(answer) as KeptAnswer),
  released: released === 1,
});

/**
 * Idempotency keys in one SQLite file of this process. All changes of one turn of the event loop share one flushed commit. This process knows in
 * memory what it runs: any other entry without an answer was left by a process that died.
 */
export class EmbeddedIdempotencyStore implements IdempotencyStore, AsyncDisposable {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #sql;
  readonly #running = new Set<string>();
  /** What the current commit has begun to run. */
  #began: string[] = [];
  /** Each change runs inside a commit; its caller has the result once the commit is flushed. */
  readonly #changes = new BatchQueue<() => unknown, unknown>(
    { queued: MAX_WAITING, batched: MAX_PER_COMMIT },
    (changes) => this.#commit(changes),
  );
  #closed = false;

  private constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    database.exec(SCHEMA);
    this.#sql = {
      find: database.prepare('SELECT digest, seed, expires, answer, released FROM reservations WHERE id = ?'),
      take: database.prepare('INSERT OR REPLACE INTO reservations VALUES (?, ?, ?, ?, NULL, 0)'),
      resume: database.prepare('UPDATE reservations SET released = 0 WHERE id = ?'),
      complete: database.prepare('UPDATE reservations SET answer = ? WHERE id = ?'),
      release: database.prepare('UPDATE reservations SET released = 1 WHERE id = ?'),
      expired: database.prepare('SELECT id FROM reservations WHERE expires <= ? ORDER BY expires LIMIT ?'),
      drop: database.prepare('DELETE FROM reservations WHERE id = ?'),
    };
  }

  /**
   * Opens the store on a file. Disposing of the store closes the file.
   * @throws StartProblem as Database.open
   */
  static open(path: string, clock: Clock): EmbeddedIdempotencyStore {
    return new EmbeddedIdempotencyStore(Database.open(path, { synchronous: 'FULL' }), clock);
  }

  /** @throws Rejection BUSY, STORE_FULL, STORE_UNAVAILABLE: nothing was reserved then */
  reserve(scope: string, key: string, digest: string, newSeed: string): Promise<Reservation> {
    return this.#write(() => this.#take(idOf(scope, key), digest, newSeed));
  }

  /** @throws Rejection STORE_UNAVAILABLE */
  async kept(scope: string, key: string, digest: string): Promise<KeptAnswer | null> {
    if (this.#closed) throw fileUnavailable();
    return answerFor(this.#find(idOf(scope, key)), digest, this.#clock.now().getTime());
  }

  /** @throws Rejection as reserve: the key is then as if this process had died */
  complete(scope: string, key: string, answer: KeptAnswer): Promise<void> {
    const text = JSON.stringify(answer);
    return this.#end(idOf(scope, key), (id) => this.#sql.complete.run(text, id));
  }

  /** @throws Rejection as complete */
  release(scope: string, key: string): Promise<void> {
    return this.#end(idOf(scope, key), (id) => this.#sql.release.run(id));
  }

  /** Writes what is waiting, then closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#changes.flush();
    this.#database[Symbol.dispose]();
  }

  #find(id: string): KeptReservation | undefined {
    const row = this.#sql.find.get(id) as ReservationRow | undefined;
    return row === undefined ? undefined : keptOf(row);
  }

  #take(id: string, digest: string, newSeed: string): Reservation {
    const kept = this.#find(id);
    const nowMs = this.#clock.now().getTime();
    const isRunning = this.#running.has(id);
    if (kept === undefined || isFree(kept, digest, nowMs, isRunning)) {
      this.#sql.take.run(id, digest, newSeed, nowMs + IDEMPOTENCY_TTL_MS);
      this.#began.push(id);
      this.#running.add(id);
      return { kind: 'run', seed: newSeed, resumed: false };
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
    const expired = this.#sql.expired.all(this.#clock.now().getTime(), most) as { readonly id: string }[];
    for (const { id } of expired) if (!this.#running.has(id)) this.#sql.drop.run(id);
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
      throw error;
    }
  }
}
