import { sql } from 'kysely';

import type { LogPlaceStore, StoredLogPlaces } from '../../ports/log-places.js';
import type { Postgres } from './open.js';

/** The positions in the event store's log, one row for all processes. Whichever of them wrote it last, it is true. */
export class PostgresLogPlaces implements LogPlaceStore {
  readonly #postgres: Postgres;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  async load(): Promise<StoredLogPlaces | null> {
    const statement = sql<StoredLogPlaces>`SELECT first, own, place, id FROM log_places`;
    const { rows } = await this.#postgres.run('background', (db) => statement.execute(db));
    return rows[0] ?? null;
  }

  async keep({ first, own, place, id }: StoredLogPlaces): Promise<void> {
    const statement = sql`
      INSERT INTO log_places (name, first, own, place, id) VALUES ('events', ${first}, ${own}, ${place}, ${id})
      ON CONFLICT (name) DO UPDATE SET first = EXCLUDED.first, own = EXCLUDED.own, place = EXCLUDED.place, id = EXCLUDED.id`;
    await this.#postgres.run('background', (db) => statement.execute(db));
  }
}
