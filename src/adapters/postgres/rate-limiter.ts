import { sql } from 'kysely';

import { Rejection } from '../../domain/shared/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { RateLimit } from '../../domain/tenant/rate-limit.js';
import type { RateDecision, RateLimiter } from '../../ports/rate-limiter.js';
import { MemoryRateLimiter } from '../shared/rate-limiter.js';
import type { Postgres } from './open.js';

/** How far the clocks of two servers may differ, in milliseconds. If a window begins later than that, the clock was set back since. */
const CLOCK_SKEW_MS = 10_000;
/** After how many requests old windows are deleted, and how many at most: more than were added. */
const SWEEP_EVERY = 1_000;
const SWEPT = 2_000;
/** How long after a failure the database is not asked again, in milliseconds: no request waits for it meanwhile. */
const LOCAL_MS = 1_000;

type WindowRow = { readonly used: number; readonly ends: number; readonly allowed: boolean };

/**
 * Rate limits that all server processes share: one statement for each request. While the database is away each process counts by itself. What does
 * not need the database then goes on, and is still limited.
 */
export class PostgresRateLimiter implements RateLimiter {
  readonly #postgres: Postgres;
  readonly #clock: Clock;
  readonly #local: MemoryRateLimiter;
  #localUntilMs = 0;
  #taken = 0;
  #sweeping = false;

  constructor(postgres: Postgres, clock: Clock) {
    this.#postgres = postgres;
    this.#clock = clock;
    this.#local = new MemoryRateLimiter(clock);
  }

  async take(subject: string, limit: RateLimit): Promise<RateDecision> {
    const monotonicMs = performance.now();
    if (monotonicMs < this.#localUntilMs) return this.#local.take(subject, limit);
    try {
      return await this.#take(subject, limit, this.#clock.now().getTime());
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      if (this.#localUntilMs <= monotonicMs) {
        this.#localUntilMs = performance.now() + LOCAL_MS;
        this.#postgres.log.warn({ err: error }, 'rate limits are counted by each process for itself');
      }
      return this.#local.take(subject, limit);
    }
  }

  async #take(subject: string, { limit, windowSeconds }: RateLimit, nowMs: number): Promise<RateDecision> {
    const endMs = nowMs + windowSeconds * 1_000;
    // A refused request changes no count. It is an update all the same: one statement then also tells when the window ends.
    const over = sql`(w.ends <= ${nowMs}::bigint OR w.started > ${nowMs + CLOCK_SKEW_MS}::bigint)`;
    const statement = sql<WindowRow>`
      INSERT INTO rate_windows AS w (subject, started, ends, used, allowed)
      VALUES (${subject}, ${nowMs}::bigint, ${endMs}::bigint, ${Math.min(1, limit)}::bigint, ${limit > 0}::boolean)
      ON CONFLICT (subject) DO UPDATE SET
        started = CASE WHEN ${over} THEN EXCLUDED.started ELSE w.started END,
        ends = CASE WHEN ${over} THEN EXCLUDED.ends ELSE w.ends END,
        used = CASE WHEN ${over} THEN EXCLUDED.used WHEN w.used < ${limit}::bigint THEN w.used + 1 ELSE w.used END,
        allowed = CASE WHEN ${over} THEN EXCLUDED.allowed ELSE w.used < ${limit}::bigint END
      RETURNING used, ends, allowed`;
    const { rows } = await this.#postgres.run('request', (db) => statement.execute(db));
    this.#sweep(nowMs);
    const [{ used, ends, allowed } = { used: limit, ends: endMs, allowed: false }] = rows;
    return {
      allowed,
      remaining: Math.max(0, limit - used),
      resetSeconds: Math.max(1, Math.ceil((ends - nowMs) / 1_000)),
    };
  }

  #sweep(nowMs: number): void {
    this.#taken += 1;
    if (this.#taken < SWEEP_EVERY || this.#sweeping) return;
    this.#taken = 0;
    this.#sweeping = true;
    const statement = sql`DELETE FROM rate_windows WHERE subject IN
      (SELECT subject FROM rate_windows WHERE ends <= ${nowMs}::bigint LIMIT ${SWEPT} FOR UPDATE SKIP LOCKED)`;
    this.#postgres
      .run('background', (db) => statement.execute(db))
      // What is left is swept with a later request.
      .catch(() => undefined)
      .finally(() => (this.#sweeping = false));
  }
}
