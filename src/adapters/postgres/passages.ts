import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';

import type { Json } from '../../kernel/base/json.js';
import { READ_BYTES } from '../../kernel/base/page-size.js';
import type { Projection } from '../../ports/read-models.js';
import type { Changes, IndexedPassage } from '../../ports/read-model-writer.js';
import type { PassageHit, PassagePage, PassageQuery } from '../../ports/text-search.js';
import { partitionWord, tagWord } from '../shared/tag-word.js';
import { servingBuild } from './builds.js';
import { isTimeout } from './failures.js';
import type { Tables } from './tables.js';

/** How many of the newest passages are checked one by one before the index of words is used: common words are found there, rare ones by the index. */
const NEWEST = 20_000;
/**
 * How much the order of two events may differ from the order of their times, in milliseconds, because of the clocks of servers and the ways into the
 * store.
 */
const SKEW_MS = 3_600_000;
/** How long the index of words may take, in milliseconds: less than a request's statement may. After that only the newest passages are searched. */
const INDEX_MS = 700;

/** The partition of a build: builds share one index of words. */
const ofBuild = (build: number, partition: string): string => partitionWord(`${String(build)} ${partition}`);

/** Writes the passages that do not exist yet. */
export const writePassages = async (tx: Transaction<Tables>, build: number, put: Changes['put']): Promise<void> => {
  const all: (readonly [key: string, passage: IndexedPassage])[] = [];
  for (const { key, passages = [] } of put) for (const passage of passages) all.push([key, passage]);
  if (all.length === 0) return;
  all.sort(([, one], [, other]) => one.place - other.place);
  const wordsIn = ({ partition, tags, words }: IndexedPassage): string =>
    [ofBuild(build, partition), ...tags.map(tagWord), ...(words === '' ? [] : [words])].join(' ');
  await sql`
    INSERT INTO passages (build, place, key, at, words)
    SELECT ${build}, n.place, n.key, n.at, array_to_tsvector(string_to_array(n.words, ' '))
    FROM unnest(${all.map(([, { place }]) => place)}::bigint[], ${all.map(([key]) => key)}::text[],
      ${all.map(([, { at }]) => Date.parse(at))}::bigint[], ${all.map(([, passage]) => wordsIn(passage))}::text[]) AS n (place, key, at, words)
    ON CONFLICT (build, place) DO NOTHING`.execute(tx);
};

const quoted = (word: string): string => `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
const anyOf = (words: readonly string[]): string => `(${words.map(quoted).join(' | ')})`;

/** The condition for the words of a passage. Every word is quoted, so that none has a special meaning to the database. */
const matching = (build: number, { partition, words, beginnings, without, tags }: PassageQuery): string =>
  [
    quoted(ofBuild(build, partition)),
    ...tags.map((group) => anyOf(group.map(tagWord))),
    ...words.map(quoted),
    ...beginnings.map((beginning) => `${quoted(beginning)}:*`),
    ...(without.length === 0 ? [] : [`!${anyOf(without)}`]),
  ].join(' & ');

/** `isAsked`: the condition that a passage must meet. */
type PassageSearch = {
  readonly above: number;
  readonly below: number;
  readonly isAsked: RawBuilder<unknown>;
  readonly limit: number;
};
type FoundPlace = { readonly place: number; readonly key: string };

/** Between which positions (exclusive) passages of a time are. */
const placesOf = async (
  db: Kysely<Tables>,
  build: number,
  { sinceMs, untilMs, below = Number.MAX_SAFE_INTEGER }: PassageQuery,
): Promise<{ readonly above: number; readonly below: number }> => {
  const { rows } = await sql<{ above: number | null; below: number | null }>`SELECT
    (SELECT place FROM passages WHERE build = ${build} AND at < ${(sinceMs ?? 0) - SKEW_MS}
      ORDER BY at DESC LIMIT 1) AS above,
    (SELECT place FROM passages WHERE build = ${build} AND at > ${untilMs === undefined ? Number.MAX_SAFE_INTEGER : untilMs + SKEW_MS}
      ORDER BY at LIMIT 1) AS below`.execute(db);
  return { above: rows[0]?.above ?? -1, below: Math.min(below, rows[0]?.below ?? below) };
};

type Newest = FoundPlace & { readonly looked: number; readonly last: number };

/** Searches the newest passages, each of which is checked; `before`: where these end if there are others, else null. */
const amongNewest = async (
  db: Kysely<Tables>,
  build: number,
  { above, below, isAsked, limit }: PassageSearch,
): Promise<{ readonly found: readonly FoundPlace[]; readonly before: number | null }> => {
  const { rows } = await sql<Newest>`
    WITH newest AS MATERIALIZED (
      SELECT place, key, at, words FROM passages WHERE build = ${build} AND place > ${above} AND place < ${below}
      ORDER BY place DESC LIMIT ${NEWEST}
    )
    SELECT place, key, looked, last FROM (SELECT count(*) AS looked, min(place) AS last FROM newest) AS all_of_them
    LEFT JOIN (SELECT place, key FROM newest WHERE ${isAsked} ORDER BY place DESC LIMIT ${limit}) AS found ON true
    ORDER BY place DESC`.execute(db);
  const [{ looked, last } = { looked: 0, last: 0 }] = rows;
  // The row without a position only counts how many were checked.
  const found = rows.filter(({ place }) => (place as number | null) !== null);
  return { found, before: looked < NEWEST ? null : last };
};

/** By the index of words; null if that takes too long. The index is read completely for a query, whatever the planner estimates. */
const byIndex = async (
  db: Kysely<Tables>,
  build: number,
  { above, below, isAsked, limit }: PassageSearch,
): Promise<readonly FoundPlace[] | null> => {
  const looking = db.transaction().execute(async (tx) => {
    await sql`SET LOCAL enable_bitmapscan = on`.execute(tx);
    await sql`SET LOCAL enable_indexscan = off`.execute(tx);
    await sql.raw(`SET LOCAL statement_timeout = ${String(INDEX_MS)}`).execute(tx);
    const { rows } = await sql<FoundPlace>`
      WITH older AS MATERIALIZED (
        SELECT place, key FROM passages WHERE build = ${build} AND place > ${above} AND place < ${below} AND ${isAsked}
      )
      SELECT place, key FROM older ORDER BY place DESC LIMIT ${limit}`.execute(tx);
    return rows;
  });
  return looking.catch((error: unknown) => {
    if (isTimeout(error)) return null;
    throw error;
  });
};

/** The rows of passages, up to the one that brings them to READ_BYTES. */
const withRows = async (
  db: Kysely<Tables>,
  build: number,
  found: readonly FoundPlace[],
): Promise<readonly PassageHit[]> => {
  if (found.length === 0) return [];
  const { rows } = await sql<{ place: number; row: string }>`
    SELECT place, row FROM (
      SELECT asked.place, found.row,
        sum(octet_length(found.row)) OVER (ORDER BY asked.place DESC ROWS UNBOUNDED PRECEDING) - octet_length(found.row) AS before
      FROM unnest(${found.map(({ place }) => place)}::bigint[], ${found.map(({ key }) => key)}::text[]) AS asked (place, key)
      CROSS JOIN LATERAL (SELECT row FROM rows WHERE build = ${build} AND key = asked.key LIMIT 1) AS found
    ) AS measured
    WHERE before < ${READ_BYTES} ORDER BY place DESC`.execute(db);
  return rows.map(({ place, row }) => ({ place, row: JSON.parse(row) as Json }));
};

/** As TextSearch.passages. The index of words is used only if the newest passages are too few. */
export const findPassages = async (
  db: Kysely<Tables>,
  projection: Projection,
  query: PassageQuery,
): Promise<PassagePage> => {
  const serving = await sql<{ id: number | null }>`SELECT ${servingBuild(projection)} AS id`.execute(db);
  const build = serving.rows[0]?.id ?? null;
  if (build === null) return { hits: [], further: null };
  const { sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER, limit } = query;
  const isAsked = sql`words @@ ${matching(build, query)}::tsquery AND at BETWEEN ${sinceMs} AND ${untilMs}`;
  const asked = { ...(await placesOf(db, build, query)), isAsked, limit };
  const { found, before } = await amongNewest(db, build, asked);
  const isEnough = found.length === limit || before === null;
  const older = isEnough ? [] : await byIndex(db, build, { ...asked, below: before, limit: limit - found.length });
  const all = [...found, ...(older ?? [])];
  const hits = await withRows(db, build, all);
  if (hits.length < all.length || all.length === limit) return { hits, further: hits.at(-1)?.place ?? null };
  return { hits, further: older === null ? before : null };
};
