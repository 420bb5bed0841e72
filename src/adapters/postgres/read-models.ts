import { sql } from 'kysely';

import type { Json } from '../../kernel/base/json.js';
import type { Clock } from '../../ports/clock.js';
import type {
  RowSearch,
  RowText,
  RowVector,
  StoredVector,
  TextQuery,
  VectorQuery,
  WordHit,
  WordQuery,
} from '../../ports/row-search.js';
import {
  READ_WAIT_MS,
  type CountedPlace,
  type CountQuery,
  type ListPage,
  type ListQuery,
  type Projection,
  type ReadModels,
} from '../../ports/read-models.js';
import {
  ABANDONED,
  type Build,
  type Changes,
  type Loaded,
  type ParkedEvent,
  type ReadModelWriter,
} from '../../ports/read-model-writer.js';
import type { PassagePage, PassageQuery, TextSearch } from '../../ports/text-search.js';
import { abandonBuild, beginBuild, openBuild, reopenBuild, servingBuild, swapBuildIn, sweepDropped } from './builds.js';
import { commitChanges } from './commit-changes.js';
import { listCounts } from './counts.js';
import type { Postgres } from './open.js';
import { findPassages } from './passages.js';
import { getRow, getRows, listRows, loadRows, progressOf } from './read-rows.js';
import { ReadWaits } from './read-waits.js';
import {
  countTextsWithoutVector,
  hasMeaninglessText,
  listVectors,
  rowsByWords,
  setVectors,
  textsWithoutVector,
} from './row-texts.js';

/**
 * Read models, their search and their write side in PostgreSQL, for any number of reading and writing processes. Several projectors may write one
 * build, each the streams that it was given. The build's position is the furthest that any of them has reported.
 * Failures: every method throws Rejection DATABASE_UNAVAILABLE while the database is unavailable, and works again when it is back. A commit that
 * fails in this way may have been written; `load` shows it.
 */
export class PostgresReadModels implements ReadModels, RowSearch, TextSearch, ReadModelWriter, AsyncDisposable {
  /** How long a read waits, in milliseconds. */
  readonly #waitMs: number;
  readonly #postgres: Postgres;
  readonly #waits: ReadWaits;
  /** Names of projections whose change was not announced to the other processes yet. */
  #untold = new Set<string>();
  #telling: Promise<void> | null = null;
  /** How often builds may have been dropped: a sweep in progress may have started before the last time. */
  #drops = 0;
  #sweeping: Promise<void> | null = null;
  #closed = false;

  constructor(postgres: Postgres, clock: Clock, waitMs = READ_WAIT_MS) {
    this.#waitMs = waitMs;
    this.#postgres = postgres;
    this.#waits = new ReadWaits(postgres, clock);
  }

  get(projection: Projection, key: string): Promise<Json | null> {
    return this.#postgres.run('request', (db) => getRow(db, projection, key));
  }

  getAll(projection: Projection, keys: readonly string[]): Promise<ReadonlyMap<string, Json>> {
    return this.#postgres.run('request', (db) => getRows(db, projection, keys));
  }

  list(projection: Projection, query: ListQuery): Promise<ListPage> {
    return this.#postgres.run('request', (db) => listRows(db, projection, query));
  }

  withoutVector(projection: Projection, query: TextQuery): Promise<readonly RowText[]> {
    return this.#postgres.run('request', (db) => textsWithoutVector(db, projection, query));
  }

  countWithoutVector(projection: Projection, query: TextQuery): Promise<number> {
    return this.#postgres.run('request', (db) => countTextsWithoutVector(db, projection, query));
  }

  setVectors(projection: Projection, embedder: string, vectors: readonly RowVector[]): Promise<void> {
    return this.#postgres.run('request', (db) => setVectors(db, projection, embedder, vectors));
  }

  vectors(projection: Projection, query: VectorQuery): Promise<readonly StoredVector[]> {
    return this.#postgres.run('request', (db) => listVectors(db, projection, query));
  }

  hasMeaningless(projection: Projection, query: Omit<VectorQuery, 'limit'>): Promise<boolean> {
    return this.#postgres.run('request', (db) => hasMeaninglessText(db, projection, query));
  }

  byWords(projection: Projection, query: WordQuery): Promise<readonly WordHit[]> {
    return this.#postgres.run('request', (db) => rowsByWords(db, projection, query));
  }

  passages(projection: Projection, query: PassageQuery): Promise<PassagePage> {
    return this.#postgres.run('request', (db) => findPassages(db, projection, query));
  }

  counts(projection: Projection, query: CountQuery): Promise<readonly CountedPlace[]> {
    return this.#postgres.run('request', (db) => listCounts(db, projection, query));
  }

  progress(projection: Projection, stream: string): Promise<number> {
    return this.#postgres.run('request', (db) => progressOf(db, projection, stream));
  }

  reached(projection: Projection, stream: string, revision: number, timeoutMs = this.#waitMs): Promise<boolean> {
    return this.#waits.wait(projection, stream, revision, timeoutMs);
  }

  reachedPosition(projection: Projection, position: number, timeoutMs = this.#waitMs): Promise<boolean> {
    return this.#waits.wait(projection, null, position, timeoutMs);
  }

  async open(projection: Projection): Promise<Build> {
    const build = await this.#postgres.run('background', (db) => openBuild(db, projection));
    this.#sweep();
    return build;
  }

  reopen(projection: Projection, before: Build): Promise<Build | null> {
    return this.#postgres.run('background', (db) => reopenBuild(db, projection, before));
  }

  async abandon(build: Build): Promise<void> {
    await this.#postgres.run('background', (db) => abandonBuild(db, build));
  }

  begin(projection: Projection): Promise<Build> {
    return this.#postgres.run('background', (db) => beginBuild(db, projection));
  }

  load(build: Build, keys: readonly string[], streams: readonly string[], bytes?: number): Promise<Loaded> {
    return this.#postgres.run('background', (db) => loadRows(db, build, keys, streams, bytes));
  }

  async commit(build: Build, changes: Changes): Promise<boolean> {
    const written = await this.#postgres.run('background', (db) => commitChanges(db, build, changes));
    if (written) this.#changed(build.name);
    return written;
  }

  async swapIn(build: Build): Promise<void> {
    await this.#postgres.run('background', (db) => swapBuildIn(db, build));
    this.#changed(build.name);
    this.#sweep();
  }

  parked(limit: number): Promise<readonly ParkedEvent[]> {
    return this.#postgres.run('request', (db) =>
      db
        .selectFrom('parked')
        .innerJoin('builds', 'builds.id', 'parked.build')
        .select(['name as projection', 'version', 'stream', 'revision', 'event_id as eventId', 'type', 'reason', 'at'])
        .orderBy('name')
        .orderBy('stream')
        .limit(limit)
        .execute(),
    );
  }

  parkedCount(projections: readonly Pick<Projection, 'name' | 'version'>[]): Promise<number> {
    const isCounted = projections.map(
      (projection) => sql`(b.id = ${servingBuild(projection)}
        OR (b.name = ${projection.name} AND b.version = ${projection.version} AND b.position < ${ABANDONED}))`,
    );
    return this.#postgres.run('request', async (db) => {
      const { rows } = await sql<{ count: number }>`
        SELECT count(*) AS count FROM parked k JOIN builds b ON b.id = k.build
        WHERE ${sql.join([sql`false`, ...isCounted], sql` OR `)}`.execute(db);
      return rows[0]?.count ?? 0;
    });
  }

  awaited(): boolean {
    return this.#waits.any;
  }

  onAwaited(listener: () => void): () => void {
    return this.#waits.onBegin(listener);
  }

  /** Ends the waits and the background work. The caller closes the database after this. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#waits[Symbol.asyncDispose]();
    await this.#telling;
    await this.#sweeping;
  }

  /** Announced after the commit and not in it: notifying transactions commit one after the other, each with its flush. */
  #changed(name: string): void {
    this.#waits.changed(name);
    this.#untold.add(name);
    this.#telling ??= this.#tell();
  }

  async #tell(): Promise<void> {
    while (this.#untold.size > 0) {
      const names = [...this.#untold];
      this.#untold = new Set();
      const statement = sql`SELECT pg_notify(${this.#postgres.channel}, name) FROM unnest(${names}::text[]) AS n (name)`;
      // A process that misses a notification finds out by polling.
      await this.#postgres.run('background', (db) => statement.execute(db)).catch(() => undefined);
    }
    this.#telling = null;
  }

  #sweep(): void {
    this.#drops += 1;
    this.#sweeping ??= this.#sweepAll();
  }

  async #sweepAll(): Promise<void> {
    try {
      let looked: number;
      do {
        looked = this.#drops;
        while ((await this.#postgres.run('background', sweepDropped)) && !this.#closed);
      } while (looked < this.#drops && !this.#closed);
    } catch (err) {
      this.#postgres.log.warn({ err }, 'Failed to delete rows of dropped read models; they are deleted later');
    } finally {
      this.#sweeping = null;
    }
  }
}
