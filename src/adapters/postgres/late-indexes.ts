import type { Client } from 'pg';

/**
 * Indexes that were added after their tables, by name. A migration creates them if the table is empty; otherwise they are created concurrently with
 * the traffic, which takes minutes for millions of rows. Until then the statements that use them are slower, but correct.
 */
const LATE_INDEXES = {
  rows_by_tag: 'rows (build, partition, tag, place)',
  reservations_by_tenant: 'reservations (tenant, expires) INCLUDE (bytes, id) WHERE bytes > 0',
} as const;

/** Creates a late index of an empty table, for a migration, which delays no one. */
export const onEmptyTable = (name: keyof typeof LATE_INDEXES): string => {
  const on = LATE_INDEXES[name];
  return `
    DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM ${on.slice(0, on.indexOf(' '))}) THEN CREATE INDEX ${name} ON ${on}; END IF;
    END $$`;
};

/**
 * Creates the late indexes that are missing, or that a process left unfinished. One process of a namespace does so; the others return immediately.
 * @param client connected, and used by no one else
 * @throws Error that names the indexes that could not be created: the next call tries again
 */
export const makeLateIndexes = async (client: Client, schema: string): Promise<void> => {
  await client.query('SET statement_timeout = 0');
  const failed: string[] = [];
  let cause: unknown;
  for (const [name, on] of Object.entries(LATE_INDEXES)) {
    try {
      if (!(await makeLateIndex(client, schema, name, on))) break;
    } catch (error) {
      failed.push(name);
      cause = error;
    }
  }
  if (failed.length > 0) throw new Error(`These indexes could not be created: ${failed.join(', ')}.`, { cause });
};

/** @returns false if another process creates the indexes */
const makeLateIndex = async (client: Client, schema: string, name: string, on: string): Promise<boolean> => {
  const isValid = async (): Promise<boolean | undefined> => {
    const found = await client.query<{ indisvalid: boolean }>(
      'SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)',
      [name],
    );
    return found.rows[0]?.indisvalid;
  };
  if ((await isValid()) === true) return true;
  // Held until the connection ends. Requested before the second check: another process may just have finished.
  const lock = "SELECT pg_try_advisory_lock(hashtext('anima indexes'), hashtext($1)) AS locked";
  const { rows } = await client.query<{ locked: boolean }>(lock, [schema]);
  if (rows[0]?.locked !== true) return false;
  const valid = await isValid();
  if (valid === true) return true;
  if (valid === false) await client.query(`DROP INDEX CONCURRENTLY ${name}`);
  await client.query(`CREATE INDEX CONCURRENTLY ${name} ON ${on}`);
  return true;
};
