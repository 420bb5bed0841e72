import { sql } from 'kysely';

import type { RelayLease } from '../../ports/relay-lease.js';
import type { Postgres } from './open.js';

/** How long another relay waits for one that was killed or hangs, in milliseconds. */
const HOLDS_MS = 6_000;
/** The name of the lease of the relay that fills the namespace's own topic. */
const EVENTS = 'events';
/** The name of the lease of the process that embeds texts in the background. It has no checkpoint: the database shows what lacks a vector. */
const EMBEDDING = 'embedding';
const publicPlace = (topic: string): string => `public:${topic}`;

/** A relay's lease as a row: its holder, its end by the database's clock, and the checkpoint. */
export class PostgresRelayLease implements RelayLease {
  readonly holdsMs: number;
  readonly #postgres: Postgres;
  readonly #name: string;
  readonly #made: readonly string[];

  private constructor(postgres: Postgres, name: string, made: readonly string[], holdsMs: number) {
    this.#postgres = postgres;
    this.#name = name;
    this.#made = made;
    this.holdsMs = holdsMs;
  }

  /**
   * The lease of the relay that fills the namespace's own topic. Requesting it also creates the leases of new public topics, before this one is
   * created or taken. They begin at this one's checkpoint, and no event can come between, even if all leases were lost with the schema.
   */
  static ofEvents(postgres: Postgres, publicTopics: readonly string[] = [], holdsMs = HOLDS_MS): PostgresRelayLease {
    return new PostgresRelayLease(postgres, EVENTS, [...publicTopics.map(publicPlace), EVENTS], holdsMs);
  }

  /** The lease of the relay that fills a public topic. It cannot be taken before it was created. */
  static ofPublic(postgres: Postgres, topic: string, holdsMs = HOLDS_MS): PostgresRelayLease {
    return new PostgresRelayLease(postgres, publicPlace(topic), [], holdsMs);
  }

  /** The lease of the process that embeds texts in the background. */
  static ofEmbedding(postgres: Postgres, holdsMs = HOLDS_MS): PostgresRelayLease {
    return new PostgresRelayLease(postgres, EMBEDDING, [EMBEDDING], holdsMs);
  }

  async take(holder: string): Promise<number | null> {
    for (const name of this.#made) await this.#make(name);
    const taken = sql<{ position: number }>`
      UPDATE relays SET holder = ${holder}, held_until = ${this.#end()}
      WHERE name = ${this.#name} AND (holder = ${holder} OR held_until < clock_timestamp())
      RETURNING position`;
    const { rows } = await this.#postgres.run('background', (db) => taken.execute(db));
    return rows[0]?.position ?? null;
  }

  async keep(holder: string, position: number): Promise<boolean> {
    const kept = sql`
      UPDATE relays SET position = ${position}, held_until = ${this.#end()} WHERE name = ${this.#name} AND holder = ${holder}`;
    const { numAffectedRows } = await this.#postgres.run('background', (db) => kept.execute(db));
    return (numAffectedRows ?? 0n) > 0n;
  }

  async release(holder: string): Promise<void> {
    const left = sql`UPDATE relays SET held_until = '-infinity' WHERE name = ${this.#name} AND holder = ${holder}`;
    await this.#postgres.run('background', (db) => left.execute(db));
  }

  async #make(name: string): Promise<void> {
    const made = sql`
      INSERT INTO relays (name, position, holder, held_until)
      VALUES (${name}, coalesce((SELECT position FROM relays WHERE name = ${EVENTS}), 0), '', '-infinity')
      ON CONFLICT (name) DO NOTHING`;
    await this.#postgres.run('background', (db) => made.execute(db));
  }

  #end() {
    return sql`clock_timestamp() + ${`${this.holdsMs} milliseconds`}::interval`;
  }
}
