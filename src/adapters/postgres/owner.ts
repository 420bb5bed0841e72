import { sql } from 'kysely';

import { databaseUnavailable } from './failures.js';
import type { Postgres } from './open.js';

/** How often a process reports that it is alive, and for how long others rely on it, in milliseconds. Both by clocks that are not set by hand. */
const HEARTBEAT_MS = 2_000;
const ALIVE_MS = 10_000;
/** Rows of processes that died long ago are deleted, at most this many with each heartbeat. */
const SWEPT_OWNERS = 100;
const DEAD_FOR_LONG = '1 hour';

/**
 * This process's heartbeat in the database, by the database's clock. What the process reserved counts as running only while the heartbeat is fresh.
 * It uses a plain timer, not the clock port: how long a process lives does not depend on the time of day.
 */
export class Owner implements AsyncDisposable {
  readonly id: string;
  readonly #postgres: Postgres;
  readonly #onBeat: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #believedUntilMs = 0;
  #beating: Promise<void> | null = null;
  #following: Promise<void> | null = null;

  /**
   * @param id identifies the process among all, e.g. random
   * @param onBeat runs after a successful heartbeat, unless it still runs after an earlier one; if it fails, the next one runs it again
   */
  constructor(postgres: Postgres, id: string, onBeat: () => Promise<void>) {
    this.#postgres = postgres;
    this.id = id;
    this.#onBeat = onBeat;
  }

  /** Resolves once others will rely for a while on this process being alive. @throws Rejection DATABASE_UNAVAILABLE */
  async alive(): Promise<void> {
    this.#timer ??= setInterval(() => this.#beatAgain(), HEARTBEAT_MS).unref();
    if (performance.now() < this.#believedUntilMs - HEARTBEAT_MS) return;
    await this.#beat();
    if (performance.now() >= this.#believedUntilMs) throw databaseUnavailable();
  }

  /** Reports that this process is over: what it left undone may be taken over immediately. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating?.catch(() => undefined);
    await this.#following;
    if (this.#timer === undefined) return;
    const gone = sql`DELETE FROM owners WHERE id = ${this.id}`;
    // If the database is unavailable, the heartbeat expires.
    await this.#postgres.run('request', (db) => gone.execute(db)).catch(() => undefined);
  }

  #beatAgain(): void {
    this.#beat().then(
      () => {
        this.#following ??= this.#follow().finally(() => (this.#following = null));
      },
      () => undefined,
    );
  }

  async #follow(): Promise<void> {
    try {
      await this.#onBeat();
    } catch (err) {
      this.#postgres.log.debug({ err }, 'Work after a heartbeat failed; retrying at the next heartbeat');
    }
  }

  #beat(): Promise<void> {
    this.#beating ??= this.#write().finally(() => (this.#beating = null));
    return this.#beating;
  }

  async #write(): Promise<void> {
    const sentMs = performance.now();
    const until = sql`clock_timestamp() + ${`${ALIVE_MS} milliseconds`}::interval`;
    const statement = sql`
      WITH swept AS (
        DELETE FROM owners WHERE id IN (
          SELECT id FROM owners WHERE alive_until < clock_timestamp() - ${DEAD_FOR_LONG}::interval AND id <> ${this.id}
          LIMIT ${SWEPT_OWNERS} FOR UPDATE SKIP LOCKED
        )
      )
      INSERT INTO owners (id, alive_until) VALUES (${this.id}, ${until})
      ON CONFLICT (id) DO UPDATE SET alive_until = EXCLUDED.alive_until`;
    await this.#postgres.run('request', (db) => statement.execute(db));
    this.#believedUntilMs = sentMs + ALIVE_MS;
  }
}
