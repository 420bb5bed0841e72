import { type Kysely, type RawBuilder, sql } from 'kysely';

import { onEmptyTable } from './late-indexes.js';
import type { Tables } from './tables.js';

/**
 * Every change of the schema, by name, in order. A released migration is never edited. Text that is sorted or looked up has COLLATE "C": by code
 * point, however the database was created. Data stored unchanged (rows, texts, answers) is text: jsonb cannot hold U+0000 and reorders members.
 */
const migrations: Readonly<Record<string, readonly RawBuilder<unknown>[]>> = {
  '001-read-models': [
    sql`
        CREATE TABLE builds (
          id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL, version integer NOT NULL,
          position bigint NOT NULL, live boolean NOT NULL
        )`,
    sql`CREATE TABLE dropped_builds (id integer PRIMARY KEY)`,
    sql`
        CREATE TABLE rows (
          build integer NOT NULL, key text COLLATE "C" NOT NULL, partition text COLLATE "C" NOT NULL,
          place text COLLATE "C" NOT NULL, tag text COLLATE "C" NOT NULL, row text NOT NULL, PRIMARY KEY (build, key)
        ) WITH (fillfactor = 80)`,
    sql`CREATE INDEX rows_by_place ON rows (build, partition, place, tag)`,
    sql`
        CREATE TABLE progress (
          build integer NOT NULL, stream text COLLATE "C" NOT NULL, revision bigint NOT NULL, PRIMARY KEY (build, stream)
        ) WITH (fillfactor = 80)`,
    sql`
        CREATE TABLE parked (
          build integer NOT NULL REFERENCES builds ON DELETE CASCADE, stream text COLLATE "C" NOT NULL, revision bigint NOT NULL,
          event_id text NOT NULL, type text NOT NULL, reason text NOT NULL, at text NOT NULL, PRIMARY KEY (build, stream)
        )`,
  ],
  '002-idempotency-keys': [
    sql`
        CREATE TABLE reservations (
          id bytea PRIMARY KEY, digest text NOT NULL, seed text NOT NULL, expires bigint NOT NULL, answer text,
          released boolean NOT NULL, resumed boolean NOT NULL, owner text NOT NULL, attempt bigint NOT NULL
        ) WITH (fillfactor = 80)`,
    sql`CREATE INDEX reservations_by_expiry ON reservations (expires)`,
    sql`CREATE TABLE owners (id text PRIMARY KEY, alive_until timestamptz NOT NULL)`,
  ],
  '003-rate-limits-and-key-usage': [
    // Not logged: a crash of the database restarts every window, and no request waits for a flush.
    sql`
        CREATE UNLOGGED TABLE rate_windows (
          subject text COLLATE "C" PRIMARY KEY, started bigint NOT NULL, ends bigint NOT NULL, used bigint NOT NULL,
          allowed boolean NOT NULL
        ) WITH (fillfactor = 50)`,
    sql`CREATE TABLE key_usage (key_id text COLLATE "C" PRIMARY KEY, used_at text COLLATE "C" NOT NULL)`,
  ],
  '004-relay': [
    sql`
        CREATE TABLE relays (
          name text PRIMARY KEY, position bigint NOT NULL, holder text NOT NULL, held_until timestamptz NOT NULL
        ) WITH (fillfactor = 50)`,
  ],
  '005-row-texts': [
    // Separate from the rows: lists then read neither texts nor vectors. '' means no embedder.
    sql`
        CREATE TABLE texts (
          build integer NOT NULL, key text COLLATE "C" NOT NULL, stream text COLLATE "C" NOT NULL,
          place text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL, words tsvector NOT NULL,
          embedder text COLLATE "C" NOT NULL, vector bytea, PRIMARY KEY (build, key)
        ) WITH (fillfactor = 80)`,
    sql`CREATE INDEX texts_by_stream ON texts (build, stream, embedder, place)`,
    sql`CREATE INDEX texts_by_embedder ON texts (build, embedder)`,
  ],
  '006-snapshots': [
    sql`
        CREATE TABLE snapshots (
          stream text COLLATE "C" NOT NULL, revision bigint NOT NULL, version integer NOT NULL, hash text NOT NULL,
          at_ms bigint NOT NULL, state text NOT NULL, PRIMARY KEY (stream, revision)
        )`,
    sql`CREATE INDEX snapshots_by_time ON snapshots (stream, at_ms, revision)`,
  ],
  '007-soul-archive': [
    // A payload without a tenant ('') is public and does not expire.
    sql`
        CREATE TABLE soul_archive (
          digest text COLLATE "C" NOT NULL, tenant text COLLATE "C" NOT NULL, bytes bytea NOT NULL, expires bigint,
          PRIMARY KEY (digest, tenant)
        )`,
    // Not compressed, so that a piece is read without everything before it.
    sql`ALTER TABLE soul_archive ALTER COLUMN bytes SET STORAGE EXTERNAL`,
    sql`CREATE INDEX soul_archive_by_expiry ON soul_archive (expires) WHERE expires IS NOT NULL`,
  ],
  '008-soul-cids': [sql`CREATE TABLE soul_cids (cid text COLLATE "C" PRIMARY KEY, digest text COLLATE "C" NOT NULL)`],
  '009-passages': [
    sql`
        CREATE TABLE passages (
          build integer NOT NULL, place bigint NOT NULL, key text COLLATE "C" NOT NULL, at bigint NOT NULL, words tsvector NOT NULL,
          PRIMARY KEY (build, place)
        )`,
    sql`CREATE INDEX passages_by_time ON passages (build, at)`,
    sql`CREATE INDEX passages_by_words ON passages USING gin (words)`,
  ],
  '010-rows-by-tag': [sql.raw(onEmptyTable('rows_by_tag'))],
  // `done`: completed once. `bytes`: the size of an answer that counts against the budget of its tenant.
  '011-kept-answers': [
    sql`
        ALTER TABLE reservations ADD COLUMN done boolean NOT NULL DEFAULT false,
          ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '', ADD COLUMN bytes bigint NOT NULL DEFAULT 0`,
    sql.raw(onEmptyTable('reservations_by_tenant')),
  ],
  '012-log-places': [
    sql`
        CREATE TABLE log_places (
          name text COLLATE "C" PRIMARY KEY, first bigint NOT NULL, own bigint NOT NULL, place bigint NOT NULL, id text COLLATE "C" NOT NULL
        )`,
  ],
  // `since`: when a payload was published. Older ones count from now: a stable default rewrites no row. An older server process leaves the default.
  '013-archive-ages': [
    sql`ALTER TABLE soul_archive ADD COLUMN since bigint NOT NULL DEFAULT (extract(epoch FROM now()) * 1000)::bigint`,
    sql`CREATE INDEX soul_archive_by_age ON soul_archive (since) WHERE tenant = ''`,
  ],
  '014-counts': [
    sql`
        CREATE TABLE counts (
          build integer NOT NULL, partition text COLLATE "C" NOT NULL, place text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
          count bigint NOT NULL, PRIMARY KEY (build, partition, place, name)
        ) WITH (fillfactor = 80)`,
  ],
};

/** Its message is one sentence about what is wrong; nothing was changed. */
export class SchemaProblem extends Error {}

/**
 * Brings the schema to the newest form in one transaction, under a lock that admits one process at a time. Kysely's migrator is not used: it reads
 * the catalogue of the complete database, and fails if another schema is dropped meanwhile.
 * @param schema exists afterwards; the connection's search path puts the tables into it
 * @throws SchemaProblem if the schema holds a migration that this version does not know; what the database throws
 */
export const migrate = (db: Kysely<Tables>, schema: string): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('anima migrations'), hashtext(${schema}))`.execute(tx);
    await sql`CREATE SCHEMA IF NOT EXISTS ${sql.id(schema)}`.execute(tx);
    await sql`CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`.execute(
      tx,
    );
    const { rows } = await sql<{ name: string }>`SELECT name FROM migrations`.execute(tx);
    const done = new Set(rows.map(({ name }) => name));
    const unknown = [...done].filter((name) => migrations[name] === undefined);
    if (unknown.length > 0) {
      throw new SchemaProblem(`its schema ${schema} was created by a newer version (${unknown.join(', ')})`);
    }
    for (const [name, statements] of Object.entries(migrations)) {
      if (done.has(name)) continue;
      for (const statement of statements) await statement.execute(tx);
      await sql`INSERT INTO migrations (name) VALUES (${name})`.execute(tx);
    }
  });
