import { type Kysely, type RawBuilder, sql } from 'kysely';

import type { Json } from '../../kernel/base/json.js';
import { PAGE_BYTES } from '../../kernel/base/page-size.js';
import type { ListPage, ListQuery, Projection } from '../../ports/read-models.js';
import type { Build, Loaded } from '../../ports/read-model-writer.js';
import { servingBuild } from './builds.js';
import { placeCondition } from './row-texts.js';
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

/** As ReadModels.getAll. */
export const getRows = async (
  db: Kysely<Tables>,
  projection: Projection,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Json>> => {
  if (keys.length === 0) return new Map();
  const { rows } = await sql<{ key: string; row: string }>`
    SELECT key, row FROM rows WHERE build = ${servingBuild(projection)} AND key = ANY(${keys}::text[])`.execute(db);
  return new Map(rows.map(({ key, row }) => [key, parsed(row)]));
};

/**
 * The first rows of a list, one more than requested. Each tag is a separate search in the index: a filter over all tags would read the partition up
 * to the last row that it keeps.
 */
export const firstRows = (projection: Projection, query: ListQuery): RawBuilder<unknown> => {
  const { partition, tags, direction, beyond, within, limit } = query;
  const [order, isBeyond] = direction === 'ascending' ? [sql`ASC`, sql`>`] : [sql`DESC`, sql`<`];
  const end = sql`ORDER BY place ${order} LIMIT ${limit + 1}`;
  const select = (ofTag: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    SELECT key, place, row FROM rows WHERE build = ${servingBuild(projection)} AND partition = ${partition} ${ofTag}
      ${beyond === undefined ? sql`` : sql`AND place ${isBeyond} ${beyond}`} ${placeCondition(within)}
    ${end}`;
  if (tags === undefined) return select(sql``);
  return sql`
    SELECT key, place, row FROM unnest(${[...new Set(tags)]}::text[]) AS asked (wanted)
    CROSS JOIN LATERAL (${select(sql`AND tag = wanted`)}) AS tagged ${end}`;
};

/**
 * As ReadModels.list; the columns sort by code point (COLLATE "C"). The database measures the rows: only those on the page are sent. It reads one row
 * more than requested. `before` is the size of the page before a row.
 */
export const listRows = async (db: Kysely<Tables>, projection: Projection, query: ListQuery): Promise<ListPage> => {
  const { direction, limit, bytes = PAGE_BYTES } = query;
  const order = direction === 'ascending' ? sql`ASC` : sql`DESC`;
  const { rows } = await sql<{ key: string; place: string; row: string; more: boolean }>`
    SELECT key, place, row, looked > count(*) OVER () AS more FROM (
      SELECT key, place, row, row_number() OVER rising AS number, count(*) OVER () AS looked,
        sum(octet_length(row)) OVER rising - octet_length(row) AS before
      FROM (${firstRows(projection, query)}
      ) AS found
      WINDOW rising AS (ORDER BY place ${order} ROWS UNBOUNDED PRECEDING)
    ) AS measured
    WHERE number <= ${limit} AND before < ${bytes}
    ORDER BY place ${order}`.execute(db);
  return {
    rows: rows.map(({ key, place, row }) => ({ key, order: place, row: parsed(row) })),
    more: rows[0]?.more ?? false,
  };
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
  bytes: number = Number.MAX_SAFE_INTEGER,
): Promise<Loaded> => {
  const ofBuild = sql`build = ${id} AND stream = ANY(${streams}::text[])`;
  const [revisions, parked] =
    streams.length === 0 ? [new Map<string, number>(), new Set<string>()] : await standingsIn(db, ofBuild);
  // Progress first: rows that another writer changes in between are then newer than their progress, and the commit is refused.
  const loaded = await rowsUpTo(db, id, keys, bytes);
  return {
    ...loaded,
    streams: new Map(
      streams.map((stream) => [stream, { revision: revisions.get(stream) ?? -1, parked: parked.has(stream) }]),
    ),
  };
};

/**
 * The rows of the keys, in their order, up to the row that brings them to `bound` bytes. `before` is the size of the rows before a row. The database
 * measures them, as for a list. Each is looked up separately: a join might scan all existing rows.
 */
const rowsUpTo = async (
  db: Kysely<Tables>,
  build: number,
  keys: readonly string[],
  bound: number,
): Promise<Omit<Loaded, 'streams'>> => {
  if (keys.length === 0) return { rows: new Map(), keys: 0, bytes: 0 };
  const { rows } = await sql<{ key: string; row: string; at: number; total: number; more: boolean }>`
    SELECT key, row, at, total, looked > count(*) OVER () AS more FROM (
      SELECT asked.key, found.row, asked.at, count(*) OVER () AS looked,
        sum(octet_length(found.row)) OVER rising AS total, sum(octet_length(found.row)) OVER rising - octet_length(found.row) AS before
      FROM unnest(${keys}::text[]) WITH ORDINALITY AS asked (key, at)
      CROSS JOIN LATERAL (SELECT row FROM rows WHERE build = ${build} AND key = asked.key LIMIT 1) AS found
      WINDOW rising AS (ORDER BY asked.at ROWS UNBOUNDED PRECEDING)
    ) AS measured
    WHERE before < ${bound}
    ORDER BY at`.execute(db);
  const last = rows.at(-1);
  return {
    rows: new Map(rows.map(({ key, row }) => [key, parsed(row)])),
    keys: last?.more === true ? last.at : keys.length,
    bytes: last?.total ?? 0,
  };
};

/** The progress of streams in a build, and which are parked. */
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
