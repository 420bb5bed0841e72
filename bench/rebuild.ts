import { join } from 'node:path';

import { projections } from '../projections/registry.js';
import { Database } from '../src/adapters/embedded/database.js';
import { EmbeddedEventStore } from '../src/adapters/embedded/event-store.js';
import { EmbeddedReadModels } from '../src/adapters/embedded/read-models.js';
import { openReadsFile } from '../src/adapters/embedded/reads-file.js';
import { systemClock } from '../src/adapters/system/clock.js';
import { rebuild } from '../src/kernel/read-models/rebuild.js';
import { temporaryDirectory } from './cleanup.js';
import type { Effort } from './effort.js';
import { type PartReport, whole } from './report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from './rounds.js';
import { writeTurns } from './turn-history.js';

const GOAL = 0.5;
const PAGE_EVENTS = 512;

type Row = readonly [number, number, number, string, string, string, string];

const SELECT = 'SELECT position, stream, revision, id, type, data, meta FROM events';

/** Parses both texts of every row. @returns how many rows there were, and the position of the last */
const parseAll = (rows: Iterable<Row>): { readonly count: number; readonly last: number } => {
  let count = 0;
  let last = 0;
  for (const [position, , , , , data, meta] of rows) {
    const parsed = [JSON.parse(data), JSON.parse(meta)] as readonly object[];
    count += parsed.length / 2;
    last = position;
  }
  return { count, last };
};

/** Events per second if every row is read, one after the other, and both its texts are parsed, and nothing else is done. */
export const iterateRaw = (database: Database, events: number): number => {
  const all = database.prepare(`${SELECT} ORDER BY position`, 'arrays');
  const began = performance.now();
  const { count } = parseAll(all.iterate() as Iterable<Row>);
  if (count !== events) throw new Error(`read ${count} of ${events} events`);
  return (events * 1_000) / (performance.now() - began);
};

/** The same, but read one page at a time, like the event store. */
const pageRaw = (database: Database, events: number): number => {
  const page = database.prepare(`${SELECT} WHERE position > ? ORDER BY position LIMIT ${PAGE_EVENTS}`, 'arrays');
  const began = performance.now();
  let read = 0;
  for (let after = 0; read < events;) {
    const { count, last } = parseAll(page.all(after) as Row[]);
    if (count === 0) throw new Error(`read ${read} of ${events} events`);
    read += count;
    after = last;
  }
  return (events * 1_000) / (performance.now() - began);
};

/** Rebuilding every read model from the events, against only reading and parsing the events. */
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
  const raw = async (): Promise<number> => iterateRaw(database, events);
  await raw();
  pageRaw(database, events);
  await rebuildAll();
  const pairs: Pair<number>[] = [];
  const pages: number[] = [];
  for (let round = 0; round < effort.rounds; round += 1) {
    pairs.push(await measurePair(round, rebuildAll, raw));
    pages.push(pageRaw(database, events));
  }
  const paged = ratioOf(pairs.map(({ ours }, round) => ({ ours, reference: pages[round] ?? NaN })));
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
    remarks: [
      `Rebuild: reading and parsing a page of ${PAGE_EVENTS} events at once, as the event store does, handled ` +
        `${whole(spreadOf(pages).median)} events/s; against that, the ratio is ${paged.median.toFixed(2)}.`,
    ],
  };
};
