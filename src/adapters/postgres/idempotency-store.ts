import { type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';

import { KeyedMutex } from '../../kernel/concurrency/keyed-mutex.js';
import { Rejection } from '../../kernel/base/rejection.js';
import {
  STORED_ANSWER_BYTES,
  type IdempotencyStore,
  type AnswerRetention,
  type StoredAnswer,
  type KeyedRequest,
  type Reservation,
} from '../../ports/idempotency-store.js';
import type { Random } from '../../ports/random.js';
import { IDEMPOTENCY_TTL_MS, idOf, answerText } from '../shared/reservations.js';
import { NOW_MS } from './now-ms.js';
import type { Postgres } from './open.js';
import { Owner } from './owner.js';
import { sha256Hex } from '../../kernel/crypto/sha256.js';

/** How often a reservation is tried when others change it in between. */
const RESERVE_ATTEMPTS = 5;
/** How many requests of this process for one key may run or wait. */
const ASKS_QUEUED = 1_024;
const BUSY_RETRY_SECONDS = 1;
/** How many expired entries a heartbeat may drop, in addition to twice what was added since the last one. */
const SWEPT_AT_LEAST = 1_000;
/** How many attempts are remembered whose end could not be written. Beyond that the oldest remains reserved until this process ends. */
const MAX_UNSETTLED = 10_000;
const OWNER_ID_BYTES = 16;
/** A process counts the answers of a tenant after it has added this part of the budget itself. */
const COUNTED_PART = 1 / 16;
/** How many answers one statement drops. */
const DROPPED_AT_ONCE = 5_000;
/** The number of tenants for which a process remembers what it has added. */
const COUNTED_TENANTS = 100_000;

/** Whether the process of a reservation `r` has reported recently that it is alive. */
const ALIVE = sql`EXISTS (SELECT FROM owners o WHERE o.id = r.owner AND o.alive_until > clock_timestamp())`;

type Taken = { readonly seed: string; readonly resumed: boolean; readonly done: boolean };
type StoredAnswerRow = { readonly digest: string; readonly answer: string | null };

const digestOf = (scope: string, key: string): string => sha256Hex(idOf(scope, key));

/**
 * Idempotency keys that all server processes share. A reservation carries its process and attempt. It is running while the process reports that it is
 * alive and has not released the attempt. Only that attempt can end it.
 */
export class PostgresIdempotencyStore implements IdempotencyStore, AsyncDisposable {
  readonly #postgres: Postgres;
  readonly #owner: Owner;
  /** The attempts of this process, by the key's id. */
  readonly #running = new Map<string, number>();
  /** Requests of this process for one key run one at a time, in the order in which they were made. */
  readonly #asking = new KeyedMutex(ASKS_QUEUED);
  /** Attempts that may be recorded as running though they are not, with the key's id: whether they began or ended is unknown. */
  readonly #unsettled = new LRUCache<number, string>({ max: MAX_UNSETTLED });
  /** The bytes of answers that this process has added for a tenant since it last counted them. */
  readonly #addedBytes = new LRUCache<string, number>({ max: COUNTED_TENANTS });
  readonly #budget: number;
  #closed = false;
  #lastAttempt = 0;
  #added = 0;

  /** @param budget the maximum size of the answers of one tenant, in bytes; several processes may exceed it by a part while they add to them */
  constructor(postgres: Postgres, random: Random, budget = STORED_ANSWER_BYTES) {
    this.#postgres = postgres;
    this.#budget = budget;
    const id = Buffer.from(random.bytes(OWNER_ID_BYTES)).toString('hex');
    this.#owner = new Owner(postgres, id, () => this.#tidy());
  }

  /** @throws Rejection DATABASE_UNAVAILABLE, STORE_FULL, BUSY: the request must not run then */
  reserve({ scope, key, digest }: KeyedRequest, newSeed: string): Promise<Reservation> {
    const id = digestOf(scope, key);
    return this.#asking.runExclusive(id, () => this.#reserve(id, digest, newSeed));
  }

  /** @throws Rejection DATABASE_UNAVAILABLE */
  async storedAnswer({ scope, key, digest }: KeyedRequest): Promise<StoredAnswer | null> {
    const statement = sql<StoredAnswerRow>`
      SELECT digest, answer FROM reservations
      WHERE id = decode(${digestOf(scope, key)}, 'hex') AND digest = ${digest} AND expires > ${NOW_MS}`;
    const { rows } = await this.#postgres.run('request', (db) => statement.execute(db));
    const answer = rows[0]?.answer ?? null;
    return answer === null ? null : (JSON.parse(answer) as StoredAnswer);
  }

  /** @throws Rejection as reserve: the key then behaves as if this process had died */
  complete({ tenant, scope, key }: KeyedRequest, answer: StoredAnswer, retention: AnswerRetention): Promise<void> {
    const { text, bytes } = answerText(answer, retention);
    if (bytes > 0) this.#addedBytes.set(tenant, (this.#addedBytes.get(tenant) ?? 0) + bytes);
    // Without an owner it belongs to no live process: the same request may run again.
    return this.#end(
      digestOf(scope, key),
      sql`answer = ${text}::text, done = true, tenant = ${tenant}, bytes = ${bytes}::bigint,
        owner = CASE WHEN ${text === null}::boolean THEN '' ELSE r.owner END`,
    );
  }

  /** @throws Rejection as complete */
  release({ scope, key }: KeyedRequest): Promise<void> {
    return this.#end(
      digestOf(scope, key),
      sql`released = NOT r.done, owner = CASE WHEN r.done THEN '' ELSE r.owner END`,
    );
  }

  /** Lets others take over what this process left running. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    return this.#owner[Symbol.asyncDispose]();
  }

  async #reserve(id: string, digest: string, newSeed: string): Promise<Reservation> {
    for (let tries = 0; tries < RESERVE_ATTEMPTS; tries += 1) {
      await this.#owner.alive();
      const taken = await this.#take(id, digest, newSeed);
      if (taken !== undefined) return { kind: 'run', ...taken };
      const kept = await this.#find(id);
      // It was swept or became free meanwhile: try again to reserve it.
      if (kept === undefined) continue;
      if (kept.digest !== digest) return { kind: 'reused' };
      if (kept.answer !== null) return { kind: 'answered', answer: JSON.parse(kept.answer) as StoredAnswer };
      return { kind: 'running' };
    }
    throw new Rejection('BUSY', { retryAfter: BUSY_RETRY_SECONDS });
  }

  /** Makes the reservation, or takes over one that is free or whose attempt is dead. Undefined if neither is possible. */
  async #take(id: string, digest: string, newSeed: string): Promise<Taken | undefined> {
    const owner = this.#owner.id;
    const attempt = (this.#lastAttempt += 1);
    const running = this.#running.get(id) ?? 0;
    const dead = sql`CASE WHEN r.owner = ${owner} THEN r.attempt <> ${running}::bigint ELSE NOT ${ALIVE} END`;
    // As `isFree` in reservations.ts. What a dead process left running is not free: a repeat takes it over under its seed.
    const free = sql`((r.expires <= ${NOW_MS} AND (r.answer IS NOT NULL OR r.released OR (r.done AND ${dead})))
      OR (r.released AND r.digest <> EXCLUDED.digest))`;
    const statement = sql<Taken>`
      INSERT INTO reservations AS r (id, digest, seed, expires, answer, released, resumed, owner, attempt)
      VALUES (decode(${id}, 'hex'), ${digest}, ${newSeed}, ${NOW_MS} + ${IDEMPOTENCY_TTL_MS}::bigint, NULL, false, false, ${owner}, ${attempt}::bigint)
      ON CONFLICT (id) DO UPDATE SET
        digest = EXCLUDED.digest, answer = NULL, bytes = 0, released = false, owner = EXCLUDED.owner, attempt = EXCLUDED.attempt,
        done = r.done AND NOT ${free},
        seed = CASE WHEN ${free} THEN EXCLUDED.seed ELSE r.seed END,
        expires = CASE WHEN ${free} THEN EXCLUDED.expires ELSE r.expires END,
        resumed = NOT ${free}
      WHERE ${free} OR (r.digest = EXCLUDED.digest AND r.answer IS NULL AND (r.released OR ${dead}))
      RETURNING seed, resumed, done`;
    try {
      const { rows } = await this.#postgres.run('request', (db) => statement.execute(db));
      if (rows[0] === undefined) return undefined;
      this.#running.set(id, attempt);
      this.#added += 1;
      return rows[0];
    } catch (error) {
      this.#unsettled.set(attempt, id);
      throw error;
    }
  }

  async #find(id: string): Promise<StoredAnswerRow | undefined> {
    const statement = sql<StoredAnswerRow>`SELECT digest, answer FROM reservations WHERE id = decode(${id}, 'hex')`;
    const { rows } = await this.#postgres.run('request', (db) => statement.execute(db));
    return rows[0];
  }

  /** Ends this process's attempt at a reservation `r`. An attempt that another process took over remains untouched. */
  async #end(id: string, change: RawBuilder<unknown>): Promise<void> {
    const attempt = this.#running.get(id);
    if (attempt === undefined) return;
    // The clock may have jumped past its day while it ran. Its client has no answer yet, and a repeat would run again.
    const expires = sql`CASE WHEN r.expires <= ${NOW_MS} THEN ${NOW_MS} + ${IDEMPOTENCY_TTL_MS}::bigint ELSE r.expires END`;
    const statement = sql`
      UPDATE reservations r SET ${change}, expires = ${expires}
      WHERE id = decode(${id}, 'hex') AND owner = ${this.#owner.id} AND attempt = ${attempt}::bigint`;
    try {
      await this.#postgres.run('request', (db) => statement.execute(db));
    } catch (error) {
      this.#unsettled.set(attempt, id);
      throw error;
    } finally {
      if (this.#running.get(id) === attempt) this.#running.delete(id);
    }
  }

  /**
   * Releases attempts that no longer run, so that other processes need not wait for this one's end. Deletes what has expired, and drops answers
   * beyond the budget of their tenant.
   */
  async #tidy(): Promise<void> {
    const unsettled = [...this.#unsettled];
    if (unsettled.length > 0) {
      const attempts = unsettled.map(([attempt]) => attempt);
      const statement = sql`
        UPDATE reservations r SET owner = ''
        FROM unnest(${unsettled.map(([, id]) => id)}::text[], ${attempts}::bigint[]) AS u (id, attempt)
        WHERE r.id = decode(u.id, 'hex') AND r.owner = ${this.#owner.id} AND r.attempt = u.attempt AND r.answer IS NULL`;
      await this.#postgres.run('background', (db) => statement.execute(db));
      for (const attempt of attempts) this.#unsettled.delete(attempt);
    }
    // Of this process, and not running here: its end could not be written, and it is no longer remembered as unsettled.
    const running = [...this.#running.values()];
    const dead = sql`(NOT ${ALIVE} OR (r.owner = ${this.#owner.id} AND r.attempt <> ALL(${running}::bigint[])))`;
    const limit = SWEPT_AT_LEAST + 2 * this.#added;
    this.#added = 0;
    // An entry that was left running is kept for another day: a repeat has to find out what it did.
    const statement = sql`DELETE FROM reservations WHERE id IN (
      SELECT id FROM reservations r WHERE expires <= ${NOW_MS} AND (answer IS NOT NULL OR released
        OR (${dead} AND (done OR expires <= ${NOW_MS} - ${IDEMPOTENCY_TTL_MS}::bigint)))
      ORDER BY expires LIMIT ${limit} FOR UPDATE SKIP LOCKED)`;
    await this.#postgres.run('background', (db) => statement.execute(db));

    for (const [tenant, bytes] of [...this.#addedBytes.entries()]) {
      if (bytes < this.#budget * COUNTED_PART) continue;
      do if (this.#closed) return;
      while ((await this.#dropBeyondBudget(tenant)) === DROPPED_AT_ONCE);
      this.#addedBytes.delete(tenant);
    }
  }

  /** Drops the oldest answers of a tenant beyond its budget. @returns how many */
  async #dropBeyondBudget(tenant: string): Promise<number> {
    const statement = sql`
      UPDATE reservations SET answer = NULL, bytes = 0, owner = '' WHERE bytes > 0 AND id IN (
        SELECT id FROM (
          SELECT id, expires, sum(bytes) OVER (ORDER BY expires DESC, id DESC) AS total FROM reservations
          WHERE tenant = ${tenant} AND bytes > 0
        ) AS counted WHERE total > ${this.#budget}::bigint ORDER BY expires LIMIT ${DROPPED_AT_ONCE})`;
    const { numAffectedRows = 0n } = await this.#postgres.run('background', (db) => statement.execute(db));
    return Number(numAffectedRows);
  }
}
