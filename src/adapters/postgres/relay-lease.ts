import { sql } from 'kysely';

import type { RelayLease } from '../../ports/relay-lease.js';
import type { Postgres } from './open.js';

/** The name of the namespace's only relay. */
const EVENTS = 'events';

/** The relay's place as a row: its holder, its end by the database's clock, and the checkpoint. */
export class PostgresRelayLease implements RelayLease {
  readonly holdsMs: number;
  readonly #postgres: Postgres;

  /** @param holdsMs how long another relay waits for one that was killed or hangs */
  constructor(postgres: Postgres, holdsMs = 6_000) {
    this.#postgres = postgres;
    this.holdsMs = holdsMs;
  }

  async take(holder: string): Promise<number | null> {
    const taken = sql<{ position: number }>`
      INSERT INTO relays AS r (name, position, holder, held_until) VALUES (${EVENTS}, 0, ${holder}, ${this.#end()})
      ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, held_until = EXCLUDED.held_until
        WHERE r.holder = EXCLUDED.holder OR r.held_until < clock_timestamp()
      RETURNING position`;
    const { rows } = await this.#postgres.run('background', (db) => taken.execute(db));
    return rows[0]?.position ?? null;
  }

  async keep(holder: string, position: number): Promise<boolean> {
    const kept = sql`
      UPDATE relays SET position = ${position}, held_until = ${this.#end()} WHERE name = ${EVENTS} AND holder = ${holder}`;
    const { numAffectedRows } = await this.#postgres.run('background', (db) => kept.execute(db));
    return (numAffectedRows ?? 0n) > 0n;
  }

  async release(holder: string): Promise<void> {
    const left = sql`UPDATE relays SET held_until = '-infinity' WHERE name = ${EVENTS} AND holder = ${holder}`;
    await this.#postgres.run('background', (db) => left.execute(db));
  }

  #end() {
    return sql`clock_timestamp() + ${`${this.holdsMs} milliseconds`}::interval`;
  }
}
