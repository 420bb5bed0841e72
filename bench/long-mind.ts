import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { projections } from '../projections/registry.js';
import { EmbeddedEventStore } from '../src/adapters/embedded/event-store.js';
import { EmbeddedReadModels } from '../src/adapters/embedded/read-models.js';
import { openReadsFile } from '../src/adapters/embedded/reads-file.js';
import { systemClock } from '../src/adapters/system/clock.js';
import { rebuild } from '../src/kernel/read-models/rebuild.js';
import { SNAPSHOT_EVERY } from '../src/kernel/streams/snapshotting.js';
import { temporaryDirectory } from './cleanup.js';
import { requestBytes } from './connection.js';
import type { Effort } from './effort.js';
import { latencies } from './open-loop.js';
import { type Figure, milliseconds, type PartReport, whole } from './report.js';
import { measurePair, type Pair, quantile, ratioOf, spreadOf } from './rounds.js';
import { directiveAt, pathOf, tapeAt } from './scene.js';
import { type MindServer, settled, startMindServer } from './server.js';
import { writeMind } from './turn-history.js';

/** The compared minds, by number: the long one, one with a few turns, and one that fills the same pages as the long one. */
const [LONG, SHORT, PAGES] = [0, 1, 2];
const SHORT_EVENTS = 60;
/** Enough for pages of HISTORY_LIMIT events everywhere, and for a moment as far behind a snapshot, or the beginning, as in the long mind. */
const PAGES_EVENTS = 2 * SNAPSHOT_EVERY;
const FIRST_GOAL_MS = 100;
const READ_GOAL_MS = 50;
/** How much the latency of others may grow because a mind is long. */
const OTHERS_GOAL = 1.2;
/** How often each read is measured in a round. */
const READS = 10;
/** The other minds: how many, their requests per second, and how often the compared mind is read meanwhile. */
const OTHERS = 64;
const OTHERS_PER_SECOND = 300;
const READ_EVERY_MS = 100;
const HISTORY_LIMIT = 500;

type Read = { readonly what: string; readonly path: (mind: Written) => string };
/** A written mind; `middleAt` is the time of its event at `middle`. */
type Written = {
  readonly index: number;
  readonly events: number;
  readonly middle: number;
  readonly middleAt: string;
};

const historyFrom = (at: (mind: Written) => number) => (mind: Written) =>
  `/npcs/inn-${mind.index}/history?limit=${HISTORY_LIMIT}&from=${at(mind)}`;
const reads: readonly Read[] = [
  { what: 'state now', path: ({ index }) => `/npcs/inn-${index}/state` },
  { what: 'state as of a revision', path: ({ index, middle }) => `/npcs/inn-${index}/state?asOf=${middle}` },
  { what: 'state as of a time', path: ({ index, middleAt }) => `/npcs/inn-${index}/state?asOf=${middleAt}` },
  { what: 'first page of the history', path: historyFrom(() => 0) },
  { what: 'page in the middle', path: historyFrom(({ middle }) => middle) },
  { what: 'last page', path: historyFrom(({ events }) => Math.max(0, events - HISTORY_LIMIT)) },
];

/** @returns how long a request took until its answer was complete, in milliseconds @throws Error unless it succeeds */
const timed = async ({ url, key }: MindServer, path: string, body?: object): Promise<number> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const began = performance.now();
  const response = await fetch(`${url}${path}`, {
    headers,
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const answer = await response.text();
  const ms = performance.now() - began;
  if (response.status !== 200) throw new Error(`${path} was answered with status ${response.status}: ${answer}`);
  return ms;
};

/** Writes the minds into the data directory of a stopped server, and brings its read models up to date. */
const fill = async (
  dataDir: string,
  events: number,
): Promise<readonly [long: Written, short: Written, pages: Written]> => {
  await using store = EmbeddedEventStore.open(join(dataDir, 'events.db'));
  const written = async (index: number, wanted: number): Promise<Written> => {
    const { stream, revision } = await writeMind({ store, clock: systemClock }, { index, events: wanted });
    // As far after a snapshot as possible.
    const middle = Math.max(0, Math.ceil(revision / 2 / SNAPSHOT_EVERY) * SNAPSHOT_EVERY - 1);
    const { events: found } = await store.read(stream, {
      direction: 'forwards',
      from: Math.min(middle, revision),
      limit: 1,
    });
    return { index, events: revision + 1, middle, middleAt: found[0]?.meta.at ?? '' };
  };
  const minds = [
    await written(LONG, events),
    await written(SHORT, SHORT_EVENTS),
    await written(PAGES, PAGES_EVENTS),
  ] as const;
  using reads = openReadsFile(join(dataDir, 'reads.db'));
  await rebuild({ events: store, writer: new EmbeddedReadModels(reads, systemClock), clock: systemClock }, projections);
  return minds;
};

/** The first request to a fresh server: the first step of a turn. */
const firstTurn = async (dataDir: string, { index }: Written): Promise<number> => {
  await using server = await startMindServer(dataDir);
  await settled(server);
  return await timed(server, pathOf(index, 'process'), { tape: tapeAt(0) });
};

/** Reads an answer and drops it: the load comes from this process, and a text of half a megabyte would delay it. @throws Error unless it succeeds */
const read = ({ url, key }: MindServer, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    get(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${path} was answered with status ${answer.statusCode}`));
      answer.once('end', resolve).once('error', reject).resume();
    }).once('error', reject);
  });

/** The p99 of requests to other minds while this one is read repeatedly. */
const othersBeside = async (server: MindServer, mind: Written, seconds: number): Promise<number> => {
  const { port, key } = server;
  const requests = Array.from({ length: OTHERS }, (_, other) =>
    requestBytes(port, key, pathOf(other + 3, 'directive'), JSON.stringify(directiveAt(other))),
  );
  const ended = new AbortController();
  const reading = (async () => {
    for (let n = 0; !ended.signal.aborted; n += 1) {
      await read(server, reads[n % reads.length]?.path(mind) ?? '');
      await sleep(READ_EVERY_MS);
    }
  })();
  try {
    return quantile(await latencies({ port, connections: OTHERS, requests }, OTHERS_PER_SECOND, seconds), 0.99);
  } finally {
    ended.abort();
    await reading;
    await settled(server);
  }
};

const figureOf = (what: string, pairs: readonly Pair<number>[], goalMs: number): Figure => {
  const ours = spreadOf(pairs.map((pair) => pair.ours));
  return {
    what,
    ours: milliseconds(ours.median),
    reference: `a mind of ${SHORT_EVENTS} events: ${milliseconds(spreadOf(pairs.map(({ reference }) => reference)).median)}`,
    ratio: ratioOf(pairs),
    goal: { text: `≤ ${goalMs} ms`, met: ours.median <= goalMs },
  };
};

/** The p99 of others while the long mind is read, against the same with a mind of this many events. */
const othersFigure = (events: number, pairs: readonly Pair<number>[]): Figure => {
  const ratio = ratioOf(pairs);
  return {
    what: 'p99 of others while it is read',
    ours: milliseconds(spreadOf(pairs.map(({ ours }) => ours)).median),
    reference: `while one of ${whole(events)} events is: ${milliseconds(spreadOf(pairs.map(({ reference }) => reference)).median)}`,
    ratio,
    goal: { text: `≤ ${OTHERS_GOAL}`, met: ratio.median <= OTHERS_GOAL },
  };
};

/** A mind of very many events against one of few: its first turn in a fresh process, reads of it, and their effect on others. */
export const measureLongMind = async (effort: Effort): Promise<PartReport> => {
  await using directory = await temporaryDirectory();
  await (await startMindServer(directory.path))[Symbol.asyncDispose]();
  const [long, short, pages] = await fill(directory.path, effort.longMindEvents);
  // This mind was never read: the first turn folds every event, and saves the snapshots.
  const withoutSnapshots = await firstTurn(directory.path, long);

  const firsts: Pair<number>[] = [];
  for (let round = 0; round < effort.rounds; round += 1) {
    firsts.push(
      await measurePair(
        round,
        () => firstTurn(directory.path, long),
        () => firstTurn(directory.path, short),
      ),
    );
  }
  await using server = await startMindServer(directory.path);
  const besidePages: Pair<number>[] = [];
  const besideShort: Pair<number>[] = [];
  const seen = reads.map((): Pair<number>[] => []);
  const readAll = async (mind: Written): Promise<readonly number[]> => {
    const medians: number[] = [];
    for (const { path } of reads) {
      const times: number[] = [];
      for (let n = 0; n < READS; n += 1) times.push(await timed(server, path(mind)));
      medians.push(spreadOf(times).median);
    }
    return medians;
  };
  await Promise.all([readAll(long), readAll(short), readAll(pages)]);
  for (let round = 0; round < effort.rounds; round += 1) {
    const { ours, reference } = await measurePair(
      round,
      () => readAll(long),
      () => readAll(short),
    );
    for (const [n, pairs] of seen.entries()) pairs.push({ ours: ours[n] ?? NaN, reference: reference[n] ?? NaN });
    const beside = (mind: Written) => () => othersBeside(server, mind, effort.seconds);
    besidePages.push(await measurePair(round, beside(long), beside(pages)));
    besideShort.push(await measurePair(round, beside(long), beside(short)));
  }
  const name = `a mind of ${whole(long.events)} events`;
  return {
    figures: [
      figureOf(`${name}: first turn after a start`, firsts, FIRST_GOAL_MS),
      ...reads.map(({ what }, n) => figureOf(`${name}: ${what}`, seen[n] ?? [], READ_GOAL_MS)),
      othersFigure(PAGES_EVENTS, besidePages),
      othersFigure(SHORT_EVENTS, besideShort),
    ],
    remarks: [
      `Long mind: without snapshots its first turn took ${milliseconds(withoutSnapshots)}. Pages are of ${HISTORY_LIMIT} events, and ` +
        `moments as far behind a snapshot as can be. Others: ${OTHERS_PER_SECOND} one-event POSTs a second, beside ${1_000 / READ_EVERY_MS} reads a second at most. ` +
        `The mind of ${whole(PAGES_EVENTS)} events fills the same pages as the long one, so only the length differs; one of ${SHORT_EVENTS} is also less work to read.`,
    ],
  };
};
