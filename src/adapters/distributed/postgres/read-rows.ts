import { type Kysely, type RawBuilder, sql } from 'kysely';

import type { Json } from '../../../domain/shared/json.js';
import type { ListQuery, Projection } from '../../../ports/read-models.js';
import type { Build, Loaded } from '../../../ports/read-model-writer.js';
import { servingBuild } from './builds.js';
import type { Tables } from './tables.js';

const parsed = (row: string): Json => JSON.parse(row) as Json;

/** As ReadModels.get. */
export const getRow = async (db: Kysely<Tables>, projection: Projection, key: string): Promise<Json | null> => {
  const found = await db
    .selectFrom('rows')
    .select('row')
    .where('build', '=', servingBuild(projection))
    .where('key', '=', key)
    .executeTakeFirst();
  return found === undefined ? null : parsed(found.row);
};

/** As ReadModels.list; the columns sort by code point (COLLATE "C"). */
export const listRows = async (db: Kysely<Tables>, projection: Projection, query: ListQuery) => {
  const { partition, tags, direction, beyond, limit } = query;
  let select = db
    .selectFrom('rows')
    .select(['key', 'place', 'row'])
    .where('build', '=', servingBuild(projection))
    .where('partition', '=', partition)
    .orderBy('place', direction === 'ascending' ? 'asc' : 'desc')
    .limit(limit);
  if (tags !== undefined) select = select.where(sql<boolean>`tag = ANY(${tags}::text[])`);
  if (beyond !== undefined) select = select.where('place', direction === 'ascending' ? '>' : '<', beyond);
  return (await select.execute()).map(({ key, place, row }) => ({ key, order: place, row: parsed(row) }));
};

/** As ReadModels.progress. */
export const progressOf = async (db: Kysely<Tables>, projection: Projection, stream: string): Promise<number> => {
  const found = await db
    .selectFrom('progress')
    .select('revision')
    .where('build', '=', servingBuild(projection))
    .where('stream', '=', stream)
    .executeTakeFirst();
  return found?.revision ?? -1;
};

/** As ReadModelWriter.load. */
export const loadRows = async (
  db: Kysely<Tables>,
  { id }: Build,
  keys: readonly string[],
  streams: readonly string[],
): Promise<Loaded> => {
  const ofBuild = sql`build = ${id} AND stream = ANY(${streams}::text[])`;
  const [revisions, parked] =
    streams.length === 0 ? [new Map<string, number>(), new Set<string>()] : await standingsIn(db, ofBuild);
  // Standings first: rows that another writer changes in between are then newer than their standing, and the commit is refused.
  const { rows } =
    keys.length === 0
      ? { rows: [] }
      : await sql<{ key: string; row: string }>`
          SELECT key, row FROM rows WHERE build = ${id} AND key = ANY(${keys}::text[])`.execute(db);
  return {
    rows: new Map(rows.map(({ key, row }) => [key, parsed(row)])),
    streams: new Map(
      streams.map((stream) => [stream, { revision: revisions.get(stream) ?? -1, parked: parked.has(stream) }]),
    ),
  };
};

/** How far streams of a build are, and which are parked. */
const standingsIn = async (
  db: Kysely<Tables>,
  ofBuild: RawBuilder<unknown>,
): Promise<readonly [ReadonlyMap<string, number>, ReadonlySet<string>]> => {
  const reached = await sql<{ stream: string; revision: number }>`
    SELECT stream, revision FROM progress WHERE ${ofBuild}`.execute(db);
  const parked = await sql<{ stream: string }>`SELECT stream FROM parked WHERE ${ofBuild}`.execute(db);
  return [
    new Map(reached.rows.map(({ stream, revision }) => [stream, revision])),
    new Set(parked.rows.map(({ stream }) => stream)),
  ];
};
