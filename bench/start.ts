import { join } from 'node:path';

import { projections } from '../projections/registry.js';
import { EmbeddedEventStore } from '../src/adapters/embedded/event-store.js';
import { EmbeddedReadModels } from '../src/adapters/embedded/read-models.js';
import { openReadsFile } from '../src/adapters/embedded/reads-file.js';
import { systemClock } from '../src/adapters/system/clock.js';
import { rebuild } from '../src/kernel/read-models/rebuild.js';
import { temporaryDirectory } from './cleanup.js';
import type { Effort } from './effort.js';
import { milliseconds, type PartReport, whole } from './report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from './rounds.js';
import { startMindServer } from './server.js';
import { writeTurns } from './turn-history.js';

const GOAL_MS = 3_000;

/** Starts a server and stops it gracefully. @returns the time from the start of the process until it reports that it serves, in milliseconds */
const startOnce = async (dataDir: string): Promise<number> => {
  await using server = await startMindServer(dataDir);
  const { status } = await fetch(`${server.url}/npcs?limit=1`, { headers: { authorization: `Bearer ${server.key}` } });
  if (status !== 200) throw new Error(`a server that said it serves answered with status ${status}`);
  return server.readyMs;
};

/** Fills a data directory that a server has made, and brings its read models up to date. @returns the number of events */
const fill = async (dataDir: string, effort: Effort): Promise<number> => {
  await using store = EmbeddedEventStore.open(join(dataDir, 'events.db'));
  const written = await writeTurns(
    { store, clock: systemClock },
    { events: effort.startEvents, openTurns: effort.openTurns },
  );
  using reads = openReadsFile(join(dataDir, 'reads.db'));
  await rebuild({ events: store, writer: new EmbeddedReadModels(reads, systemClock), clock: systemClock }, projections);
  return written;
};

/** From the start of the process until it reports that it serves: with a long history, against none. */
export const measureStart = async (effort: Effort): Promise<PartReport> => {
  await using full = await temporaryDirectory();
  await using empty = await temporaryDirectory();
  // The first start in a directory makes its keys, which is not compared.
  await startOnce(full.path);
  await startOnce(empty.path);
  const events = await fill(full.path, effort);
  await startOnce(full.path);

  const pairs: Pair<number>[] = [];
  for (let round = 0; round < effort.rounds; round += 1) {
    pairs.push(
      await measurePair(
        round,
        () => startOnce(full.path),
        () => startOnce(empty.path),
      ),
    );
  }
  const ready = spreadOf(pairs.map(({ ours }) => ours));
  return {
    figures: [
      {
        what: `start with ${whole(events)} events, ${whole(effort.openTurns)} turns open`,
        ours: milliseconds(ready.median),
        reference: `no events: ${milliseconds(spreadOf(pairs.map(({ reference }) => reference)).median)}`,
        ratio: ratioOf(pairs),
        goal: { text: `≤ ${GOAL_MS / 1_000} s`, met: ready.median <= GOAL_MS },
      },
    ],
    remarks: [`Start: the slowest took ${milliseconds(ready.max)}.`],
  };
};
