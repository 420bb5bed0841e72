import { setTimeout as sleep } from 'node:timers/promises';

import { DatabaseSync } from '@photostructure/sqlite';
import { getLoadablePath } from 'sqlite-vec';
import { exactSearch, MetricKind } from 'usearch';

import { temporaryDirectory } from '../cleanup.js';
import { Connection, requestBytes } from '../connection.js';
import type { Effort } from '../effort.js';
import { type Figure, milliseconds, type PartReport, whole } from '../report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from '../rounds.js';
import { type MindServer, startMindServer } from '../server.js';
import { fillMemories, rememberingMind } from './fill.js';
import { DIMENSIONS, randomVectors } from './texts.js';

/** How many memories are requested, and how often in a round. */
const LIMIT = 10;
const REPEATS = 50;
const THREADS = 1;
/** A recall may take this multiple of the bare comparison, plus this many milliseconds. */
const GOAL_RATIO = 1.25;
const GOAL_MORE_MS = 1;
const PATH = `/npcs/${rememberingMind(0)}/memory/recall`;
const QUERY = JSON.stringify({ query: 'who took the necklace on the night of the fair?', limit: LIMIT });

/** The median time of one call, in milliseconds. */
const medianMs = async (call: () => Promise<void> | void): Promise<number> => {
  const times: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const began = performance.now();
    await call();
    times.push(performance.now() - began);
  }
  return spreadOf(times).median;
};

/** How often a freshly started server is asked again while it still reads the mind. */
const FIRST_TRIES = 30;
const FIRST_PAUSE_MS = 1_000;

/** The first recall, which embeds the query and reads the mind's vectors. @throws Error unless it finds the expected memory */
const firstRecall = async ({ url, key }: MindServer): Promise<void> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  for (let tries = 1; ; tries += 1) {
    const answer = await fetch(`${url}${PATH}`, { method: 'POST', headers, body: QUERY });
    const text = await answer.text();
    if (answer.status === 503 && tries < FIRST_TRIES) {
      await sleep(FIRST_PAUSE_MS);
      continue;
    }
    if (answer.status !== 200) throw new Error(`the first recall was answered with status ${answer.status}: ${text}`);
    const found = (JSON.parse(text) as readonly unknown[]).length;
    if (found !== LIMIT || answer.headers.has('anima-embedding-pending')) {
      throw new Error(`a recall found ${found} memories, or not all of them have vectors`);
    }
    return;
  }
};

/** Recall over HTTP, on one connection. Its first call is not measured with the others. */
const openRecall = async (
  server: MindServer,
): Promise<{ readonly ask: () => Promise<void>; readonly firstMs: number } & Disposable> => {
  const began = performance.now();
  await firstRecall(server);
  const firstMs = performance.now() - began;
  const connection = await Connection.open(server.port);
  const request = requestBytes(server.port, server.key, PATH, QUERY);
  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      connection.send(
        request,
        (status) => (status === 200 ? resolve() : reject(new Error(`a recall was answered with status ${status}`))),
        reject,
      );
    });
  return { ask, firstMs, [Symbol.dispose]: () => connection[Symbol.dispose]() };
};

const bytesAt = (numbers: Float32Array, row: number): Buffer =>
  Buffer.from(numbers.buffer, numbers.byteOffset + row * DIMENSIONS * 4, DIMENSIONS * 4);

/** The same search in sqlite-vec, in memory. */
const openSqliteVec = (
  numbers: Float32Array,
  count: number,
  query: Float32Array,
): { readonly ask: () => void } & Disposable => {
  const database = new DatabaseSync(':memory:', { allowExtension: true });
  database.enableLoadExtension(true);
  database.loadExtension(getLoadablePath());
  database.exec(`CREATE VIRTUAL TABLE memories USING vec0(vector float[${DIMENSIONS}] distance_metric=cosine)`);
  const insert = database.prepare('INSERT INTO memories (rowid, vector) VALUES (?, ?)');
  database.exec('BEGIN');
  for (let row = 0; row < count; row += 1) insert.run(BigInt(row + 1), bytesAt(numbers, row));
  database.exec('COMMIT');
  const search = database.prepare('SELECT rowid, distance FROM memories WHERE vector MATCH ? AND k = ?');
  const asked = bytesAt(query, 0);
  return {
    ask: () => {
      const found = search.all(asked, BigInt(LIMIT));
      if (found.length !== LIMIT) throw new Error(`sqlite-vec found ${found.length} rows`);
    },
    [Symbol.dispose]: () => database.close(),
  };
};

/** For each search the time of one call in milliseconds; the product's time is the same in both. */
type Times = { readonly usearch: number; readonly sqliteVec: number };

/** A search may take less than a tenth of a millisecond. */
const fineMs = (value: number): string => `${value.toFixed(2)} ms`;

const figureOf = (
  count: number,
  pairs: readonly Pair<number>[],
  reference: string,
  goal: ((ours: number, reference: number) => Figure['goal']) | null,
): Figure => {
  const ours = spreadOf(pairs.map((pair) => pair.ours));
  const bare = spreadOf(pairs.map((pair) => pair.reference));
  return {
    what: `recall over ${whole(count)} memories, its query known`,
    ours: fineMs(ours.median),
    reference: `${reference}: ${fineMs(bare.median)}`,
    ratio: ratioOf(pairs),
    goal: goal?.(ours.median, bare.median) ?? null,
  };
};

const goalOf = (ours: number, usearch: number): Figure['goal'] => ({
  text: `≤ ${GOAL_RATIO} × + ${GOAL_MORE_MS} ms`,
  met: ours <= GOAL_RATIO * usearch + GOAL_MORE_MS,
});

/** Recall over HTTP from one mind, against bare searches for as many vectors in this process. @param hasGoal whether the goal applies to this size */
export const measureRecall =
  (countOf: (effort: Effort) => number, hasGoal: boolean) =>
  async (effort: Effort): Promise<PartReport> => {
    const count = countOf(effort);
    await using directory = await temporaryDirectory();
    await fillMemories(directory.path, { minds: 1, each: count, embedded: true });
    const numbers = randomVectors(count, 1);
    const query = randomVectors(1, 2);
    using bySqlite = openSqliteVec(numbers, count, query);
    const byUsearch = (): void => void exactSearch(numbers, query, DIMENSIONS, LIMIT, MetricKind.IP, THREADS);
    await using server = await startMindServer(directory.path);
    using recall = await openRecall(server);

    await medianMs(recall.ask);
    const usearch: Pair<number>[] = [];
    const sqliteVec: Pair<number>[] = [];
    for (let round = 0; round < effort.rounds; round += 1) {
      const pair = await measurePair<Times>(
        round,
        async () => {
          const ms = await medianMs(recall.ask);
          return { usearch: ms, sqliteVec: ms };
        },
        async () => ({ usearch: await medianMs(byUsearch), sqliteVec: await medianMs(bySqlite.ask) }),
      );
      usearch.push({ ours: pair.ours.usearch, reference: pair.reference.usearch });
      sqliteVec.push({ ours: pair.ours.sqliteVec, reference: pair.reference.sqliteVec });
    }
    return {
      figures: [
        figureOf(count, usearch, 'usearch, exact', hasGoal ? goalOf : null),
        figureOf(count, sqliteVec, 'sqlite-vec, in memory', null),
      ],
      remarks: [
        `Recall over ${whole(count)}: each round's time is the median of ${REPEATS} calls, one after the other; the first call after a start, ` +
          `which embeds the query and reads the vectors, took ${milliseconds(recall.firstMs)}.`,
      ],
    };
  };
