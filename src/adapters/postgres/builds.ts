import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';

import type { Projection } from '../../ports/read-models.js';
import { ABANDONED, type Build } from '../../ports/read-model-writer.js';
import type { Tables } from './tables.js';

/** How many rows of dropped builds one statement deletes. */
const SWEPT_ROWS = 5_000;

type ProjectionVersion = Pick<Projection, 'name' | 'version'>;

/** The build that readers of a projection see, as a subquery: a swap by another process counts from its commit on. */
export const servingBuild = ({ name, version }: ProjectionVersion): RawBuilder<number> => sql<number>`(
  SELECT id FROM builds WHERE name = ${name} AND (live OR version = ${version})
  ORDER BY (live AND version = ${version}) DESC, live DESC, CASE WHEN live THEN version ELSE id END DESC LIMIT 1
)`;

/** Lets one process at a time open, begin or swap builds of a name. The lock ends with the transaction. */
const lockName = (db: Transaction<Tables>, name: string): Promise<unknown> =>
  sql`SELECT pg_advisory_xact_lock(hashtext(current_schema()), hashtext(${name}))`.execute(db);

const begun = (db: Kysely<Tables>, { name, version }: ProjectionVersion): Promise<Build> =>
  db
    .insertInto('builds')
    .values({ name, version, position: 0, live: false })
    .returning(['id', 'name', 'version', 'position', 'live'])
    .executeTakeFirstOrThrow();

/** As ReadModelWriter.open. */
export const openBuild = (db: Kysely<Tables>, projection: ProjectionVersion): Promise<Build> =>
  db.transaction().execute(async (tx) => {
    await lockName(tx, projection.name);
    const usable = await usableBuild(tx, projection);
    if (usable?.live === true) await dropUnfinished(tx, projection);
    return usable ?? begunAlone(tx, projection);
  });

/** As ReadModelWriter.reopen. */
export const reopenBuild = (db: Kysely<Tables>, projection: ProjectionVersion, before: Build): Promise<Build | null> =>
  db.transaction().execute(async (tx) => {
    await lockName(tx, projection.name);
    const own = await notAbandoned(tx, projection).where('id', '=', before.id).executeTakeFirst();
    const usable = own ?? (await usableBuild(tx, projection));
    if (usable !== undefined) return usable;
    const { name, version } = projection;
    const newer = tx.selectFrom('builds').select('id').where('name', '=', name).where('version', '>', version);
    const replaced = await newer.where('live', '=', true).limit(1).executeTakeFirst();
    const isThere = (await same(tx, projection).limit(1).executeTakeFirst()) !== undefined;
    return replaced !== undefined && !isThere ? null : begunAlone(tx, projection);
  });

const same = (tx: Transaction<Tables>, { name, version }: ProjectionVersion) =>
  tx
    .selectFrom('builds')
    .select(['id', 'name', 'version', 'position', 'live'])
    .where('name', '=', name)
    .where('version', '=', version);

const notAbandoned = (tx: Transaction<Tables>, projection: ProjectionVersion) =>
  same(tx, projection).where('position', '<', ABANDONED);

/** As ReadModelWriter.abandon. Waits for commits into it that are in progress. */
export const abandonBuild = async (db: Kysely<Tables>, { id }: Build): Promise<void> => {
  await db.transaction().execute(async (tx) => {
    // The lock excludes commits; an update of the position alone would not.
    await sql`SELECT 1 FROM builds WHERE id = ${id} FOR UPDATE`.execute(tx);
    await tx.updateTable('builds').set({ position: ABANDONED }).where('id', '=', id).execute();
  });
};

/** The build of a version that readers see, else its newest unfinished one; never an abandoned one. */
const usableBuild = (tx: Transaction<Tables>, projection: ProjectionVersion): Promise<Build | undefined> =>
  notAbandoned(tx, projection).orderBy('live', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst();

const dropUnfinished = async (tx: Transaction<Tables>, projection: ProjectionVersion): Promise<void> => {
  const unfinished = await same(tx, projection).where('live', '=', false).execute();
  await drop(
    tx,
    unfinished.map(({ id }) => id),
  );
};

/** A new build, which replaces unfinished ones of the version. */
const begunAlone = async (tx: Transaction<Tables>, projection: ProjectionVersion): Promise<Build> => {
  await dropUnfinished(tx, projection);
  return begun(tx, projection);
};

/** As ReadModelWriter.begin. */
export const beginBuild = (db: Kysely<Tables>, projection: ProjectionVersion): Promise<Build> =>
  db.transaction().execute(async (tx) => {
    await lockName(tx, projection.name);
    return begunAlone(tx, projection);
  });

/** As ReadModelWriter.swapIn. @throws Error if the build was dropped */
export const swapBuildIn = (db: Kysely<Tables>, { id, name, version }: Build): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await lockName(tx, name);
    const { numUpdatedRows } = await tx
      .updateTable('builds')
      .set({ live: true })
      .where('id', '=', id)
      .where('position', '<', ABANDONED)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new Error(`The build ${id} was dropped or abandoned.`);
    const old = tx.selectFrom('builds').select('id').where('name', '=', name).where('version', '<=', version);
    await drop(
      tx,
      (await old.where('id', '!=', id).execute()).map((build) => build.id),
    );
  });

/** Stops writes into the builds; their rows are swept later. Waits for commits into them that are in progress. */
const drop = async (db: Transaction<Tables>, ids: readonly number[]): Promise<void> => {
  if (ids.length === 0) return;
  await db.deleteFrom('builds').where('id', 'in', ids).execute();
  await db
    .insertInto('dropped_builds')
    .values(ids.map((id) => ({ id })))
    .execute();
};

const dropped = (id: number): string => `The build ${id} was dropped.`;

/** @param position of the build; undefined if it is gone. @throws Error for a writer whose build was dropped or abandoned */
export const requireKept = (id: number, position: number | undefined): void => {
  if (position === undefined) throw new Error(dropped(id));
  if (position === ABANDONED) throw new Error(`The build ${id} was abandoned.`);
};

/**
 * Deletes one portion of the rows that dropped builds left.
 * @returns false if nothing was left
 */
export const sweepDropped = async (db: Kysely<Tables>): Promise<boolean> => {
  const found = await db.selectFrom('dropped_builds').select('id').orderBy('id').limit(1).executeTakeFirst();
  if (found === undefined) return false;
  const { id } = found;
  for (const table of ['rows', 'texts', 'passages', 'counts', 'progress'] as const) {
    const some = sql`SELECT ctid FROM ${sql.table(table)} WHERE build = ${id} LIMIT ${SWEPT_ROWS}`;
    const swept = await sql`DELETE FROM ${sql.table(table)} WHERE ctid = ANY(ARRAY(${some}))`.execute(db);
    if ((swept.numAffectedRows ?? 0n) > 0n) return true;
  }
  await db.deleteFrom('dropped_builds').where('id', '=', id).execute();
  return true;
};
