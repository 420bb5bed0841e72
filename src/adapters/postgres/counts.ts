import { type Kysely, sql, type Transaction } from 'kysely';

import type { CountedPlace, CountQuery, Projection } from '../../ports/read-models.js';
import type { Changes } from '../../ports/read-model-writer.js';
import { servingBuild } from './builds.js';
import { byText } from './stored-text.js';
import type { Tables } from './tables.js';

type Added = NonNullable<Changes['counts']>[number];

const inOrder = (one: Added, other: Added): number =>
  byText(one.partition, other.partition) || byText(one.place, other.place) || byText(one.name, other.name);

/** Adds to counts, which the writers of all streams share: as the last rows of a transaction, so that others wait for them only shortly. */
export const addCounts = async (
  tx: Transaction<Tables>,
  build: number,
  counts: Changes['counts'] = [],
): Promise<void> => {
  if (counts.length === 0) return;
  const sorted = [...counts].sort(inOrder);
  const column = (of: 'partition' | 'place' | 'name'): readonly string[] => sorted.map((count) => count[of]);
  await sql`
    INSERT INTO counts AS c (build, partition, place, name, count)
    SELECT ${build}, * FROM unnest(
      ${column('partition')}::text[], ${column('place')}::text[], ${column('name')}::text[], ${sorted.map(({ count }) => count)}::bigint[])
    ON CONFLICT (build, partition, place, name) DO UPDATE SET count = c.count + EXCLUDED.count`.execute(tx);
};

/** As ReadModels.counts; the columns sort by code point (COLLATE "C"). */
export const listCounts = async (
  db: Kysely<Tables>,
  projection: Projection,
  { partition, from, to, after, limit }: CountQuery,
): Promise<readonly CountedPlace[]> => {
  const { place, name } = after ?? { place: '', name: '' };
  const { rows } = await sql<CountedPlace>`
    SELECT place, name, count FROM counts
    WHERE build = ${servingBuild(projection)} AND partition = ${partition} AND place >= ${from} AND place < ${to}
      AND (place, name) > (${place}, ${name})
    ORDER BY place, name LIMIT ${limit}`.execute(db);
  return rows;
};
