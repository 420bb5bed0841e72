import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely';
import pg from 'pg';

import { StartProblem } from '../../kernel/base/start-problem.js';
import type { Log } from '../../ports/log.js';
import { within } from '../shared/within.js';
import { databaseUnavailable, isConnectionSpoilt, postgresRejection } from './failures.js';
import { makeLateIndexes } from './late-indexes.js';
import { migrate, SchemaProblem } from './migrations.js';
import { storable } from './stored-text.js';
import type { Tables } from './tables.js';

/**
 * Limits for requests: the number of connections, and how long a connection and a statement may take. Together they are below the 2 s after which a
 * request is refused.
 */
const REQUEST_CONNECTIONS = 16;
const REQUEST_CONNECT_MS = 800;
const REQUEST_STATEMENT_MS = 1_000;
/** Projector, migrations, sweeps: few connections, long statements. */
const BACKGROUND_CONNECTIONS = 6;
const BACKGROUND_CONNECT_MS = 1_500;
const BACKGROUND_STATEMENT_MS = 15_000;
/**
 * How long requests are refused immediately after one found the database unavailable, in milliseconds: a request that needs it twice waits only once.
 */
const PAUSE_MS = 250;
/** How long a request waits while the schema is being created, in milliseconds. */
const READY_WAIT_MS = 1_500;
/** How long a connection may take to close, in milliseconds. */
const CLOSE_WAIT_MS = 1_000;

/** Namespaces that are also safe as identifiers of PostgreSQL: they need no quoting, and name no system schema. */
const SCHEMA_NAME = /^(?!pg_)[A-Za-z_][A-Za-z0-9_-]{0,62}$/;

export type PostgresSettings = {
  /** `DATABASE_URL`. A pooler in between must assign complete sessions: the search path and notifications belong to a session. */
  readonly url: string;
  /** `ANIMA_NAMESPACE`: the schema's name. */
  readonly namespace: string;
  readonly log: Log;
};

type Work = 'request' | 'background';

const isInt8 = (oid: number): boolean => oid === 20;

type PoolSettings = {
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
/** Ends a transaction that was left open by a process that stopped in the middle. */
const IDLE_IN_TRANSACTION_MS = 10_000;
const IDLE_MS = 30_000;

/**
 * Statements here use an index and have no joins. Before a table is analysed the planner expects few matching rows. It would then gather and sort a
 * complete partition for a list of 100: 600 times slower at 30,000 rows.
 */
const PLANNER = { enable_bitmapscan: 'off', jit: 'off' } as const;
/** Acknowledged writes survive a crash of the database, whatever its role or database sets. */
const DURABLE = { synchronous_commit: 'on' } as const;

/** Positions and revisions are below 2^53, so 8-byte integers are read as numbers. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (isInt8(oid) ? Number : (pg.types.getTypeParser(oid, format) as unknown)),
};

/** The address with this schema as the search path; other options in it are kept. */
const connectionOf = (url: string, schema: string): pg.ClientConfig => {
  const parsed = new URL(url);
  const options = parsed.searchParams.get('options');
  parsed.searchParams.delete('options');
  const ours = Object.entries({ search_path: `"${schema}"`, ...PLANNER, ...DURABLE }).map(
    ([name, value]) => `-c ${name}=${value}`,
  );
  return {
    connectionString: parsed.href,
    options: [...(options === null ? [] : [options]), ...ours].join(' '),
    application_name: `anima ${schema}`,
    keepAlive: true,
    types,
  };
};

/** A connection outside any pool, e.g. to listen on. */
const singleConnection = ({ url, schema, connectMs }: Pick<PoolSettings, 'url' | 'schema' | 'connectMs'>) =>
  new pg.Client({ ...connectionOf(url, schema), connectionTimeoutMillis: connectMs });

/**
 * A pool in which every wait is bounded. A connection that broke, or whose answer did not come in time, is closed and not given to the next caller
 * (kysely returns whatever it took). A later query on it fails immediately.
 */
const openPool = (settings: PoolSettings): PostgresPool => {
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
          return await client.query(text, storable(values));
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

/**
 * One schema of one PostgreSQL database: its connections, made on demand, and its form. The database may be unavailable from the start, crash and
 * return: every use tries again. The caller disposes of this after everything that uses it.
 */
export class Postgres implements AsyncDisposable {
  readonly #settings: PostgresSettings;
  readonly #pools: Readonly<Record<Work, Kysely<Tables>>>;
  #migrated = false;
  #migrating: Promise<void> | null = null;
  #indexing: Promise<void> | null = null;
  readonly #closing = new AbortController();
  #pausedUntilMs = 0;

  /**
   * Does not connect yet.
   * @throws StartProblem if the address or the namespace cannot be used
   */
  constructor(settings: PostgresSettings) {
    const { url, namespace: schema } = settings;
    if (!URL.canParse(url))
      throw new StartProblem('DATABASE_URL must be like postgres://user:password@host:5432/name.');
    if (!SCHEMA_NAME.test(schema)) {
      throw new StartProblem(
        `ANIMA_NAMESPACE must be 1 to 63 letters, digits, "_" or "-", and must not begin with a digit, "-" or "pg_"; it is ${JSON.stringify(schema)}.`,
      );
    }
    const pool = (settings: Omit<PoolSettings, 'url' | 'schema'>): Kysely<Tables> =>
      new Kysely({ dialect: new PostgresDialect({ pool: openPool({ url, schema, ...settings }) }) });
    this.#settings = settings;
    this.#pools = {
      request: pool({
        connections: REQUEST_CONNECTIONS,
        connectMs: REQUEST_CONNECT_MS,
        statementMs: REQUEST_STATEMENT_MS,
      }),
      background: pool({
        connections: BACKGROUND_CONNECTIONS,
        connectMs: BACKGROUND_CONNECT_MS,
        statementMs: BACKGROUND_STATEMENT_MS,
      }),
    };
  }

  /** The channel on which the processes of one namespace notify each other of their writes. */
  get channel(): string {
    return this.#settings.namespace;
  }

  get log(): Log {
    return this.#settings.log;
  }

  /**
   * Runs statements. With `request` a caller waits for the answer, so they must be short.
   * @throws Rejection DATABASE_UNAVAILABLE (the statement may still have taken effect), STORE_FULL; what `use` throws
   */
  async run<T>(work: Work, use: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    if (work === 'request' && performance.now() < this.#pausedUntilMs) throw databaseUnavailable();
    try {
      if (!this.#migrated) await this.#ready(work);
      return await use(this.#pools[work]);
    } catch (error) {
      if (isConnectionSpoilt(error)) this.#pausedUntilMs = performance.now() + PAUSE_MS;
      throw postgresRejection(error);
    }
  }

  /**
   * Brings the schema to its newest form. Otherwise the first use does so.
   * @throws Rejection DATABASE_UNAVAILABLE; StartProblem if the schema belongs to a newer version, or this user may not use the database
   */
  async migrate(): Promise<void> {
    try {
      await this.#ready('background');
    } catch (error) {
      if (isRefusedForGood(error))
        throw new StartProblem(`The database cannot be used: ${messageOf(error)}.`, { cause: error });
      throw postgresRejection(error);
    }
  }

  /** Resolves if the database answers. @throws Rejection DATABASE_UNAVAILABLE */
  async ping(): Promise<void> {
    await this.run('request', (db) => sql`SELECT 1`.execute(db));
  }

  /** A separate connection, which the caller connects and ends. */
  connection(): ReturnType<typeof singleConnection> {
    const { url, namespace: schema } = this.#settings;
    return singleConnection({ url, schema, connectMs: BACKGROUND_CONNECT_MS });
  }

  /** Ends every connection once its work is done. An index that is being created is left to the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#migrating?.catch(() => undefined);
    await this.#indexing;
    for (const pool of Object.values(this.#pools)) await pool.destroy();
  }

  async #ready(work: Work): Promise<void> {
    if (this.#migrated) return;
    this.#migrating ??= migrate(this.#pools.background, this.#settings.namespace)
      .then(() => {
        this.#migrated = true;
        this.#indexing ??= this.#makeIndexes();
      })
      .finally(() => (this.#migrating = null));
    if (work === 'background') return this.#migrating;
    if ((await within(READY_WAIT_MS, this.#migrating)) === null) throw databaseUnavailable();
  }

  async #makeIndexes(): Promise<void> {
    const { signal } = this.#closing;
    const client = this.connection();
    const end = (): void => void client.end().catch(() => undefined);
    // The query in progress reports a connection that breaks.
    client.on('error', () => undefined);
    signal.addEventListener('abort', end);
    try {
      if (signal.aborted) return;
      const left = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
      left.catch(() => undefined);
      const connecting = client.connect();
      // A client that is ended meanwhile never reports that.
      connecting.catch(() => undefined);
      await Promise.race([connecting, left]);
      await makeLateIndexes(client, this.#settings.namespace);
    } catch (err) {
      if (!signal.aborted)
        this.log.warn({ err }, 'Failed to create an index; the queries that need it are slower until the next start');
    } finally {
      // Also now: a frozen database never closes the connection.
      if (!signal.aborted)
        await within(
          CLOSE_WAIT_MS,
          client.end().catch(() => undefined),
        );
      signal.removeEventListener('abort', end);
    }
  }
}

/** Wrong password, no such database, no right to create a schema, a schema of a newer version: waiting does not help. */
const isRefusedForGood = (error: unknown): boolean => {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return error instanceof SchemaProblem || /^(28|3D|42501)/.test(code);
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
