import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';

import { isConnectionSpoilt } from './failures.js';

const isInt8 = (oid: number): boolean => oid === 20;

export type PoolSettings = {
  readonly url: string;
  readonly schema: string;
  readonly connections: number;
  /** How long to wait for a connection, in milliseconds. */
  readonly connectMs: number;
  /** How long a statement may run, in milliseconds. */
  readonly statementMs: number;
};

/** How much longer than the server's own limit an answer may take, in milliseconds: a server that is cut off does not keep its limit. */
const ANSWER_GRACE_MS = 100;
/** Ends a transaction that a process stopped in the middle has left open. */
const IDLE_IN_TRANSACTION_MS = 10_000;
const IDLE_MS = 30_000;

/**
 * Statements here use an index and have no joins. Before a table is analysed the planner expects few matching rows. It would then gather and sort a
 * whole partition for a list of 100: 600 times slower at 30,000 rows.
 */
const PLANNER = { enable_bitmapscan: 'off', jit: 'off' } as const;

/** Positions and revisions stay below 2^53, so 8-byte integers are read as numbers. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (isInt8(oid) ? Number : (pg.types.getTypeParser(oid, format) as unknown)),
};

/** The address with this schema as the search path; other options in it are kept. */
const connectionOf = (url: string, schema: string): pg.ClientConfig => {
  const parsed = new URL(url);
  const options = parsed.searchParams.get('options');
  parsed.searchParams.delete('options');
  const ours = Object.entries({ search_path: `"${schema}"`, ...PLANNER }).map(([name, value]) => `-c ${name}=${value}`);
  return {
    connectionString: parsed.href,
    options: [...(options === null ? [] : [options]), ...ours].join(' '),
    application_name: `anima ${schema}`,
    keepAlive: true,
    types,
  };
};

/** A connection outside any pool, e.g. to listen on. */
export const singleConnection = ({ url, schema, connectMs }: Pick<PoolSettings, 'url' | 'schema' | 'connectMs'>) =>
  new pg.Client({ ...connectionOf(url, schema), connectionTimeoutMillis: connectMs });

/**
 * A pool in which every wait ends. A connection that broke, or whose answer did not come in time, is closed and not given to the next caller (kysely
 * returns whatever it took). A later query on it fails at once.
 */
export const openPool = (settings: PoolSettings): PostgresPool => {
  const { url, schema, connections, connectMs, statementMs } = settings;
  const pool = new pg.Pool({
    ...connectionOf(url, schema),
    max: connections,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: IDLE_MS,
    statement_timeout: statementMs,
    query_timeout: statementMs + ANSWER_GRACE_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  });
  // A connection that breaks while unused has left the pool already; the next caller gets another one.
  pool.on('error', () => undefined);
  return {
    connect: async () => {
      const client = await pool.connect();
      // A connection that breaks in use reports that to the caller that waits for its answer, and to this listener.
      const broke = (): void => undefined;
      client.on('error', broke);
      let spoilt: Error | undefined;
      const query = async (text: string, values: readonly unknown[]): Promise<unknown> => {
        if (spoilt !== undefined) throw spoilt;
        try {
          return await client.query(text, [...values]);
        } catch (error) {
          if (error instanceof Error && isConnectionSpoilt(error)) spoilt = error;
          throw error;
        }
      };
      const release = (): void => {
        client.off('error', broke);
        client.release(spoilt);
      };
      return { query, release } as unknown as PostgresPoolClient;
    },
    end: () => pool.end(),
  };
};
