import { type RawBuilder, sql } from 'kysely';

import { Rejection } from '../../kernel/base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { RateLimit } from '../../kernel/base/rate-limit.js';
import type { RateDecision, RateLimiter } from '../../ports/rate-limiter.js';
import { MemoryRateLimiter } from '../shared/rate-limiter.js';
import { NOW_MS } from './now-ms.js';
import type { Postgres } from './open.js';

/**
 * How much later than now a window may have begun, in milliseconds: a statement that waited for another one's row has an earlier now. If a window
 * begins later than that, the clock was set back since.
 */
const BEGUN_LATER_MS = 10_000;
/** After how many requests old windows are deleted, and how many at most: more than were added. */
const SWEEP_EVERY = 1_000;
const SWEPT = 2_000;
/** How long the database is not used after a failure, in milliseconds, so that no request waits for it. */
const LOCAL_MS = 1_000;

/** `left`: milliseconds until the window ends. */
type WindowRow = { readonly used: number; readonly left: number; readonly allowed: boolean };

/**
 * Rate limits that all server processes share: one statement for each request. Windows begin and end by the database's clock. While the database is
 * unavailable each process counts alone, so that requests that do not need the database are still served, and still limited.
 */
export class PostgresRateLimiter implements RateLimiter {
  readonly #postgres: Postgres;
  readonly #nowMs: RawBuilder<number>;
  readonly #local: MemoryRateLimiter;
  #localUntilMs = 0;
  #taken = 0;
  #sweeping = false;

  /** @param clock for what this process counts alone. @param nowMs the database's clock */
  constructor(postgres: Postgres, clock: Clock, nowMs = NOW_MS) {
    this.#postgres = postgres;
    this.#nowMs = nowMs;
    this.#local = new MemoryRateLimiter(clock);
  }

  async take(subject: string, limit: RateLimit): Promise<RateDecision> {
    const monotonicMs = performance.now();
    if (monotonicMs < this.#localUntilMs) return this.#local.take(subject, limit);
    try {
      return await this.#take(subject, limit);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      if (this.#localUntilMs <= monotonicMs) {
        this.#localUntilMs = performance.now() + LOCAL_MS;
        this.#postgres.log.warn({ err: error }, 'Rate limits are not shared: each process counts its own requests');
      }
      return this.#local.take(subject, limit);
    }
  }

  async #take(subject: string, { limit, windowSeconds }: RateLimit): Promise<RateDecision> {
    const nowMs = this.#nowMs;
    const windowMs = windowSeconds * 1_000;
    // A refused request changes no count. It is still an update, so that one statement also returns when the window ends.
    const over = sql`(w.ends <= ${nowMs} OR w.started > ${nowMs} + ${BEGUN_LATER_MS}::bigint)`;
    const statement = sql<WindowRow>`
      INSERT INTO rate_windows AS w (subject, started, ends, used, allowed)
      VALUES (${subject}, ${nowMs}, ${nowMs} + ${windowMs}::bigint, ${Math.min(1, limit)}::bigint, ${limit > 0}::boolean)
      ON CONFLICT (subject) DO UPDATE SET
        started = CASE WHEN ${over} THEN EXCLUDED.started ELSE w.started END,
        ends = CASE WHEN ${over} THEN EXCLUDED.ends ELSE w.ends END,
        used = CASE WHEN ${over} THEN EXCLUDED.used WHEN w.used < ${limit}::bigint THEN w.used + 1 ELSE w.used END,
        allowed = CASE WHEN ${over} THEN EXCLUDED.allowed ELSE w.used < ${limit}::bigint END
      RETURNING used, ends - ${nowMs} AS left, allowed`;
    const { rows } = await this.#postgres.run('request', (db) => statement.execute(db));
    this.#sweep();
    const [{ used, left, allowed } = { used: limit, left: windowMs, allowed: false }] = rows;
    return {
      allowed,
      remaining: Math.max(0, limit - used),
      resetSeconds: Math.max(1, Math.ceil(left / 1_000)),
    };
  }

  #sweep(): void {
    this.#taken += 1;
    if (this.#taken < SWEEP_EVERY || this.#sweeping) return;
    this.#taken = 0;
    this.#sweeping = true;
    const statement = sql`DELETE FROM rate_windows WHERE subject IN
      (SELECT subject FROM rate_windows WHERE ends <= ${this.#nowMs} LIMIT ${SWEPT} FOR UPDATE SKIP LOCKED)`;
    this.#postgres
      .run('background', (db) => statement.execute(db))
      // The rest is swept with a later request.
      .catch(() => undefined)
      .finally(() => (this.#sweeping = false));
  }
}
