import { sql } from 'kysely';

import type { Moment, Snapshot, Snapshots } from '../../ports/snapshots.js';
import type { Postgres } from './open.js';

/** Snapshots that all server processes share: one statement to find one, and one to save one. */
export class PostgresSnapshots implements Snapshots {
  readonly #postgres: Postgres;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  /** @throws Rejection DATABASE_UNAVAILABLE */
  async latest(stream: string, version: number, moment: Moment): Promise<Snapshot | null> {
    const bound =
      'revision' in moment
        ? sql`revision <= ${moment.revision} ORDER BY revision DESC`
        : sql`at_ms <= ${moment.timeMs} ORDER BY at_ms DESC, revision DESC`;
    const statement = sql<Snapshot>`
      SELECT stream, version, revision, hash, at_ms AS "atMs", state FROM snapshots
      WHERE stream = ${stream} AND version = ${version} AND ${bound} LIMIT 1`;
    const { rows } = await this.#postgres.run('request', (db) => statement.execute(db));
    return rows[0] ?? null;
  }

  /**
   * Every process that reads past a revision saves it: a snapshot that exists is not written again.
   * @throws Rejection DATABASE_UNAVAILABLE, STORE_FULL
   */
  async save({ stream, version, revision, hash, atMs, state }: Snapshot): Promise<void> {
    const statement = sql`
      INSERT INTO snapshots AS saved (stream, revision, version, hash, at_ms, state)
      VALUES (${stream}, ${revision}, ${version}, ${hash}, ${atMs}, ${state})
      ON CONFLICT (stream, revision) DO UPDATE
        SET version = EXCLUDED.version, hash = EXCLUDED.hash, at_ms = EXCLUDED.at_ms, state = EXCLUDED.state
        WHERE (saved.version, saved.hash, saved.state) IS DISTINCT FROM (EXCLUDED.version, EXCLUDED.hash, EXCLUDED.state)`;
    await this.#postgres.run('background', (db) => statement.execute(db));
  }
}
