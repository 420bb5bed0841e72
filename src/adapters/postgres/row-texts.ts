import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';

import { wordsOf } from '../../kernel/base/words.js';
import type { OrderRange, Projection } from '../../ports/read-models.js';
import type { Build, Changes } from '../../ports/read-model-writer.js';
import {
  QUERY_WORDS,
  type RowText,
  type RowVector,
  type StoredVector,
  type TextQuery,
  type VectorQuery,
  type WordHit,
  type WordQuery,
} from '../../ports/row-search.js';
import { tagWord } from '../shared/tag-word.js';
import { bytesOf, vectorOf } from '../shared/vector-bytes.js';
import { servingBuild } from './builds.js';
import { isRace } from './failures.js';
import { byText } from './stored-text.js';
import type { Tables } from './tables.js';

/** The condition that a position is within a range, with a leading AND if there is one. */
export const placeCondition = ({ above, upTo }: OrderRange = {}): RawBuilder<unknown> =>
  sql`${above === undefined ? sql`` : sql`AND place > ${above}`} ${upTo === undefined ? sql`` : sql`AND place <= ${upTo}`}`;

/** The words of a text, with its group as one more. Separated by single spaces: no lexeme may be empty. */
const lexemes = (words: string, group: string | null): string =>
  group === null ? words : [tagWord(group), ...(words === '' ? [] : [words])].join(' ');

type TextRow = readonly [key: string, stream: string, place: string, text: string, words: string];

/**
 * Writes the texts of rows, and removes those of rows that no longer have one. A vector of the same text is copied from the build that readers see.
 */
export const writeTexts = async (tx: Transaction<Tables>, build: Build, put: Changes['put']): Promise<void> => {
  const gone: string[] = [];
  const texts: TextRow[] = [];
  for (const { key, index, search } of put) {
    if (search === undefined) continue;
    if (search.text === null) gone.push(key);
    else texts.push([key, search.stream, index.order, search.text.text, lexemes(search.text.words, search.group)]);
  }
  await removeTexts(tx, build.id, gone);
  await putTexts(tx, build, texts);
};

const removeTexts = async (tx: Transaction<Tables>, build: number, keys: readonly string[]): Promise<void> => {
  if (keys.length === 0) return;
  await sql`DELETE FROM texts WHERE build = ${build} AND key = ANY(${[...keys].sort(byText)}::text[])`.execute(tx);
};

const putTexts = async (tx: Transaction<Tables>, { id, name }: Build, texts: readonly TextRow[]): Promise<void> => {
  if (texts.length === 0) return;
  const sorted = [...texts].sort(([one], [other]) => byText(one, other));
  const column = (at: 0 | 1 | 2 | 3 | 4): readonly string[] => sorted.map((text) => text[at]);
  const live = sql`(SELECT id FROM builds WHERE name = ${name} AND live AND id <> ${id} ORDER BY version DESC LIMIT 1)`;
  await sql`
    INSERT INTO texts AS t (build, key, stream, place, text, words, embedder, vector)
    SELECT ${id}, n.key, n.stream, n.place, n.text, array_to_tsvector(string_to_array(n.words, ' ')),
      coalesce(e.embedder, ''), e.vector
    FROM unnest(${column(0)}::text[], ${column(1)}::text[], ${column(2)}::text[], ${column(3)}::text[],
      ${column(4)}::text[]) AS n (key, stream, place, text, words)
    LEFT JOIN LATERAL (
      SELECT embedder, vector FROM texts WHERE build = ${live} AND key = n.key AND text = n.text LIMIT 1
    ) AS e ON true
    ON CONFLICT (build, key) DO UPDATE SET place = EXCLUDED.place, text = EXCLUDED.text, words = EXCLUDED.words,
      embedder = CASE WHEN t.text = EXCLUDED.text THEN t.embedder ELSE EXCLUDED.embedder END,
      vector = CASE WHEN t.text = EXCLUDED.text THEN t.vector ELSE EXCLUDED.vector END`.execute(tx);
};

/** Texts without a vector of an embedder, in two parts: below and above instead of not equal, because both use the index. */
const lacking = (
  projection: Projection,
  query: TextQuery,
  columns: RawBuilder<unknown>,
  condition: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> => {
  const { embedder, stream, limit } = query;
  const of = stream === undefined ? sql`` : sql`AND stream = ${stream} ${placeCondition(query.within)}`;
  const side = (compare: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    (SELECT ${columns} FROM texts WHERE build = ${servingBuild(projection)} AND embedder ${compare} ${embedder}
      ${of} ${condition} LIMIT ${limit})`;
  return sql`${side(sql`<`)} UNION ALL ${side(sql`>`)} LIMIT ${limit}`;
};

/** As RowSearch.withoutVector. */
export const textsWithoutVector = async (
  db: Kysely<Tables>,
  projection: Projection,
  query: TextQuery,
): Promise<readonly RowText[]> => {
  const columns = sql`key, text`;
  if (query.stream === undefined) return (await sql<RowText>`${lacking(projection, query, columns)}`.execute(db)).rows;
  const unseen = sql<RowText>`
    SELECT key, text FROM texts
    WHERE build = ${servingBuild(projection)} AND stream = ${query.stream} AND embedder = '' ${placeCondition(query.within)}
    ORDER BY place DESC LIMIT ${query.limit}`;
  const { rows: first } = await unseen.execute(db);
  if (first.length === query.limit) return first;
  const left = { ...query, limit: query.limit - first.length };
  const seen = sql<RowText>`${lacking(projection, left, columns, sql`AND embedder > ''`)}`;
  return [...first, ...(await seen.execute(db)).rows];
};

/** As RowSearch.countWithoutVector. */
export const countTextsWithoutVector = async (
  db: Kysely<Tables>,
  projection: Projection,
  query: TextQuery,
): Promise<number> => {
  const counted = sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM (${lacking(projection, query, sql`1`)}) AS lacking`;
  const { rows } = await counted.execute(db);
  return rows[0]?.count ?? 0;
};

/** As RowSearch.hasMeaningless. */
export const hasMeaninglessText = async (
  db: Kysely<Tables>,
  projection: Projection,
  { embedder, stream, within }: Omit<VectorQuery, 'limit'>,
): Promise<boolean> => {
  const { rows } = await sql`
    SELECT 1 FROM texts
    WHERE build = ${servingBuild(projection)} AND stream = ${stream} AND embedder = ${embedder} ${placeCondition(within)}
      AND vector IS NULL LIMIT 1`.execute(db);
  return rows.length > 0;
};

/**
 * As RowSearch.setVectors, in the order in which commits lock rows. If two writers deadlock, one of them sets nothing, and its texts still lack
 * vectors.
 */
export const setVectors = async (
  db: Kysely<Tables>,
  projection: Projection,
  embedder: string,
  vectors: readonly RowVector[],
): Promise<void> => {
  const setting = db.transaction().execute(async (tx) => {
    for (const { key, text, vector } of [...vectors].sort((one, other) => byText(one.key, other.key))) {
      await sql`
        UPDATE texts SET embedder = ${embedder}, vector = ${vector && bytesOf(vector)}
        WHERE build = ${servingBuild(projection)} AND key = ${key} AND text = ${text}
          ${vector === null ? sql`AND embedder <> ${embedder}` : sql``}`.execute(tx);
    }
  });
  await setting.catch((error: unknown) => {
    if (!isRace(error)) throw error;
  });
};

/** As RowSearch.vectors. */
export const listVectors = async (
  db: Kysely<Tables>,
  projection: Projection,
  { embedder, stream, within, limit }: VectorQuery,
): Promise<readonly StoredVector[]> => {
  const { rows } = await sql<{ key: string; place: string; vector: Buffer }>`
    SELECT key, place, vector FROM texts
    WHERE build = ${servingBuild(projection)} AND stream = ${stream} AND embedder = ${embedder} ${placeCondition(within)}
      AND vector IS NOT NULL
    ORDER BY place LIMIT ${limit}`.execute(db);
  return rows.map(({ key, place, vector }) => ({ key, order: place, vector: vectorOf(vector) }));
};

const anyOf = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' | ');

/** The condition that a text is of one of these groups, with a leading AND if there is one. Builds of other versions may not have groups. */
const groupCondition = (projection: Projection, groups: readonly string[] | undefined): RawBuilder<unknown> =>
  groups === undefined
    ? sql``
    : sql`AND (words @@ ${anyOf(groups.map(tagWord))}::tsquery
        OR (SELECT version FROM builds WHERE id = ${servingBuild(projection)}) <> ${projection.version})`;

/** As RowSearch.byWords: one scan of the stream's rows, weighed in the database. Words have no quotes. */
export const rowsByWords = async (
  db: Kysely<Tables>,
  projection: Projection,
  { text, stream, within, groups, limit }: WordQuery,
): Promise<readonly WordHit[]> => {
  const words = wordsOf(text).slice(0, QUERY_WORDS);
  if (words.length === 0 || groups?.length === 0) return [];
  const { rows } = await sql<{ key: string; place: string; score: number }>`
    WITH found AS MATERIALIZED (
      SELECT key, place, words FROM texts
      WHERE build = ${servingBuild(projection)} AND stream = ${stream} ${placeCondition(within)} AND words @@ ${anyOf(words)}::tsquery
        ${groupCondition(projection, groups)}
    ), hits AS (
      SELECT key, place, word FROM found, unnest(tsvector_to_array(words)) AS word WHERE word = ANY(${words}::text[])
    ), weights AS (
      SELECT word, 1 / (1 + ln(count(*)::float8)) AS weight FROM hits GROUP BY word
    ), total AS (
      SELECT sum(weight) + ${words.length}::integer - count(*) AS weight FROM weights
    )
    SELECT key, place, sum(weights.weight) / (SELECT weight FROM total) AS score
    FROM hits JOIN weights USING (word) GROUP BY key, place
    ORDER BY score DESC, place DESC LIMIT ${limit}`.execute(db);
  return rows.map(({ key, place, score }) => ({ key, order: place, score }));
};
