import { join } from 'node:path';

import { projections } from '../projections/registry.js';
import { Database } from '../src/adapters/embedded/database.js';
import { EmbeddedEventStore } from '../src/adapters/embedded/event-store.js';
import { EmbeddedReadModels } from '../src/adapters/embedded/read-models.js';
import { openReadsFile } from '../src/adapters/embedded/reads-file.js';
import { systemClock } from '../src/adapters/system/clock.js';
import { rebuild } from '../src/app/rebuild.js';
import { temporaryDirectory } from './cleanup.js';
import type { Effort } from './effort.js';
import { type PartReport, whole } from './report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from './rounds.js';
import { writeTurns } from './turn-history.js';

const GOAL = 0.5;

/** Events a second of reading every row and parsing both of its texts, and nothing else. */
const readRaw = (database: Database, events: number): number => {
  const all = database.prepare(
    'SELECT position, stream, revision, id, type, data, meta FROM events ORDER BY position',
    'arrays',
  );
  const began = performance.now();
  let read = 0;
  for (const row of all.iterate() as Iterable<readonly [number, number, number, string, string, string, string]>) {
    const data = JSON.parse(row[5]) as object;
    const meta = JSON.parse(row[6]) as object;
    if (data !== meta) read += 1;
  }
  if (read !== events) throw new Error(`read ${read} of ${events} events`);
  return (events * 1_000) / (performance.now() - began);
};

/** Making every read model anew from the events, against reading and parsing the events alone. */
export const measureRebuild = async (effort: Effort): Promise<PartReport> => {
  await using directory = await temporaryDirectory();
  const database = Database.open(join(directory.path, 'events.db'), { synchronous: 'FULL' });
  await using store = EmbeddedEventStore.open(database);
  using reads = openReadsFile(join(directory.path, 'reads.db'));
  const writer = new EmbeddedReadModels(reads, systemClock);
  const events = await writeTurns({ store, clock: systemClock }, { events: effort.rebuildEvents, openTurns: 0 });

  const rebuildAll = async (): Promise<number> => {
    const began = performance.now();
    const rebuilt = await rebuild({ events: store, writer, clock: systemClock }, projections);
    if (rebuilt.events !== events || rebuilt.parked > 0)
      throw new Error(`${rebuilt.events} of ${events} events were applied, ${rebuilt.parked} parked`);
    return (events * 1_000) / (performance.now() - began);
  };
  const raw = async (): Promise<number> => readRaw(database, events);
  await raw();
  await rebuildAll();
  const pairs: Pair<number>[] = [];
  for (let round = 0; round < effort.rounds; round += 1) pairs.push(await measurePair(round, rebuildAll, raw));
  const ratio = ratioOf(pairs);
  return {
    figures: [
      {
        what: `rebuild of ${projections.length} read models from ${whole(events)} events`,
        ours: `${whole(spreadOf(pairs.map(({ ours }) => ours)).median)} events/s`,
        reference: `iterate and parse: ${whole(spreadOf(pairs.map(({ reference }) => reference)).median)} events/s`,
        ratio,
        goal: { text: `≥ ${GOAL}`, met: ratio.median >= GOAL },
      },
    ],
    remarks: [],
  };
};
