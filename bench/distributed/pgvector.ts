import { randomBytes } from 'node:crypto';

import { Pool } from 'pg';

import { vectorOf } from '../../src/adapters/shared/vector-bytes.js';
import { nativeSearch } from '../../src/adapters/vectors/usearch.js';
import { spreadOf } from '../rounds.js';

/**
 * Compares two ways to search the vectors of one mind in the distributed profile (docs/adr/0018-exact-search.md): in PostgreSQL with pgvector, or in
 * the process. `PGVECTOR_URL` names a database that has the extension; its tables are created anew.
 */
const NUMBERS = 384;
const NEAREST = 11;
const ROUNDS = 15;
/** Loading a mind takes long, and gives the same result each time. */
const FIRST_ROUNDS = 5;
/** Sizes of minds; the table contains as many rows of other minds. */
const SIZES = [1_000, 10_000, 100_000];
const PAGE_ROWS = 682;
const SLICE_ROWS = 2_730;

const pool = new Pool({ connectionString: process.env['PGVECTOR_URL'], max: 1 });

/** A vector of length 1 with random directions. */
const randomVector = (): Float32Array => {
  const bytes = randomBytes(NUMBERS);
  const numbers = Float32Array.from(bytes, (byte) => byte - 127.5);
  const length = Math.hypot(...numbers);
  return numbers.map((number) => number / length);
};
const literal = (vector: Float32Array): string => `[${vector.join(',')}]`;

const fill = async (mind: string, rows: number): Promise<void> => {
  for (let from = 0; from < rows; from += 500) {
    const vectors = Array.from({ length: Math.min(500, rows - from) }, randomVector);
    const places = vectors.map((_, at) => String(from + at).padStart(12, '0'));
    await pool.query(
      `INSERT INTO memories SELECT $1, place, v::vector, bytes FROM unnest($2::text[], $3::text[], $4::bytea[]) AS t (place, v, bytes)`,
      [mind, places, vectors.map(literal), vectors.map((vector) => Buffer.from(vector.buffer))],
    );
  }
};

const page = async (mind: string, above: string, limit: number) =>
  (
    await pool.query<{ place: string; bytes: Buffer }>(
      'SELECT place, bytes FROM memories WHERE mind = $1 AND place > $2 ORDER BY place LIMIT $3',
      [mind, above, limit],
    )
  ).rows;

const load = async (mind: string): Promise<Float32Array> => {
  const parts: Float32Array[] = [];
  for (let above = ''; ;) {
    const rows = await page(mind, above, PAGE_ROWS);
    for (const { bytes } of rows) parts.push(vectorOf(bytes));
    above = rows.at(-1)?.place ?? above;
    if (rows.length < PAGE_ROWS) break;
  }
  const matrix = new Float32Array(parts.length * NUMBERS);
  for (const [at, part] of parts.entries()) matrix.set(part, at * NUMBERS);
  return matrix;
};

const searchSlices = (matrix: Float32Array, query: Float32Array): number[] => {
  const best: { readonly row: number; readonly cosine: number }[] = [];
  for (let from = 0; from < matrix.length / NUMBERS; from += SLICE_ROWS) {
    const slice = matrix.subarray(from * NUMBERS, (from + SLICE_ROWS) * NUMBERS);
    for (const { row, cosine } of nativeSearch.nearest(slice, query, NEAREST)) best.push({ row: from + row, cosine });
  }
  return best
    .sort((a, b) => b.cosine - a.cosine)
    .slice(0, NEAREST)
    .map(({ row }) => row);
};

const inPostgres = async (mind: string, query: Float32Array): Promise<number[]> => {
  const { rows } = await pool.query<{ place: string }>(
    `SELECT place FROM memories WHERE mind = $1 ORDER BY v <#> $2 LIMIT ${String(NEAREST)}`,
    [mind, literal(query)],
  );
  return rows.map(({ place }) => Number(place));
};

const timed = async <T>(into: number[], work: () => Promise<T> | T): Promise<T> => {
  const began = performance.now();
  const result = await work();
  into.push(performance.now() - began);
  return result;
};
const shown = (times: readonly number[]): string => {
  const { median, min, max } = spreadOf(times);
  return `${median.toFixed(1)} (${min.toFixed(1)}–${max.toFixed(1)}) ms`;
};

await pool.query('CREATE EXTENSION IF NOT EXISTS vector');
await pool.query('DROP TABLE IF EXISTS memories');
await pool.query(
  `CREATE TABLE memories (mind text, place text, v vector(${String(NUMBERS)}), bytes bytea, PRIMARY KEY (mind, place))`,
);
for (const size of SIZES) {
  await fill(`mind of ${String(size)}`, size);
  await fill(`other of ${String(size)}`, size);
}
await pool.query('VACUUM ANALYZE memories');

for (const size of SIZES) {
  const mind = `mind of ${String(size)}`;
  const [postgres, first, again]: number[][] = [[], [], []];
  const matrix = await load(mind);
  let agreed = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const query = randomVector();
    const theirs = await timed(postgres ?? [], () => inPostgres(mind, query));
    const ours = await timed(again ?? [], async () => {
      await page(mind, String(size).padStart(12, '0'), 64);
      return searchSlices(matrix, query);
    });
    if (round < FIRST_ROUNDS) await timed(first ?? [], async () => searchSlices(await load(mind), query));
    agreed += theirs.filter((row) => ours.includes(row)).length;
  }
  console.log(
    `${String(size)} memories: pgvector ${shown(postgres ?? [])}; in the process ${shown(again ?? [])}, first ${shown(first ?? [])}`,
  );
  console.log(`  the same ${String(agreed)} of ${String(ROUNDS * NEAREST)}`);
}

await pool.end();
