import { join } from 'node:path';

import { Database } from '../../src/adapters/embedded/database.js';
import { EmbeddedEventStore } from '../../src/adapters/embedded/event-store.js';
import { systemClock } from '../../src/adapters/system/clock.js';
import { replaySlice, REPLAY_SLICE_MS } from '../../src/features/replays/replay-slice.js';
import { addFindings, noFindings } from '../../src/features/replays/domain/findings.js';
import type { ReplayCursor } from '../../src/features/replays/domain/events.js';
import { openReplayThreads } from '../../src/roles/replaying.js';
import { temporaryDirectory } from '../cleanup.js';
import type { Effort } from '../effort.js';
import { iterateRaw } from '../rebuild.js';
import { REPLAYED_TENANT, writePlayedMinds } from './history.js';
import { type PartReport, whole } from '../report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from '../rounds.js';

/** 100,000 turns in 10 s. */
const GOAL_TURNS_PER_SECOND = 10_000;
const THREADS = 2;
const MEGABYTE = 1024 * 1024;

const log = { error: (details: object, message: string) => console.error(message, details) };

/** How fast the decisions of 1,000 minds are replayed, against only reading and parsing their events. */
export const measureReplays = async (effort: Effort): Promise<PartReport> => {
  await using directory = await temporaryDirectory();
  const file = join(directory.path, 'events.db');
  const database = Database.open(file, { synchronous: 'FULL' });
  await using store = EmbeddedEventStore.open(database);
  const { minds, turnsOfMind } = effort.replayed;
  const { npcIds, events } = await writePlayedMinds({ store, clock: systemClock }, { minds, turns: turnsOfMind });
  const turns = minds * turnsOfMind;
  await using hands = openReplayThreads({ kind: 'file', file }, THREADS, { clock: systemClock, log });
  const megabytes: number[] = [];

  async function* mindsAfter(after: string | null): AsyncGenerator<string, undefined, undefined> {
    for (const npcId of npcIds) if (after === null || npcId > after) yield await Promise.resolve(npcId);
  }
  let replays = 0;
  const replayAll = async (): Promise<number> => {
    const task = { replayId: `r${String((replays += 1))}`, tenant: REPLAYED_TENANT, upTo: Number.MAX_SAFE_INTEGER };
    const deps = { hands, clock: systemClock, mindsAfter, sliceMs: REPLAY_SLICE_MS };
    const never = new AbortController().signal;
    let cursor: ReplayCursor = { after: null, begun: [] };
    let found = noFindings;
    const began = performance.now();
    for (let isOver = false; !isOver;) {
      const done = await replaySlice(deps, { cursor, found }, task, never);
      ({ cursor, over: isOver } = done);
      found = addFindings(found, done.found);
      megabytes.push(process.memoryUsage().rss / MEGABYTE);
    }
    const ms = performance.now() - began;
    if (found.turns.equal !== turns) throw new Error(`${whole(found.turns.equal)} of ${whole(turns)} turns were equal`);
    return (turns * 1_000) / ms;
  };
  const raw = (): Promise<number> => Promise.resolve((iterateRaw(database, events) * turns) / events);

  await raw();
  await replayAll();
  const pairs: Pair<number>[] = [];
  for (let round = 0; round < effort.rounds; round += 1) pairs.push(await measurePair(round, replayAll, raw));
  const ratio = ratioOf(pairs);
  const { median } = spreadOf(pairs.map(({ ours }) => ours));
  return {
    figures: [
      {
        what: `replay of ${whole(turns)} turns of ${whole(minds)} minds in ${String(THREADS)} threads`,
        ours: `${whole(median)} turns/s`,
        reference: `iterate and parse in one thread: ${whole(spreadOf(pairs.map(({ reference }) => reference)).median)} turns/s`,
        ratio,
        goal: { text: `≥ ${whole(GOAL_TURNS_PER_SECOND)} turns/s`, met: median >= GOAL_TURNS_PER_SECOND },
      },
    ],
    remarks: [
      `Replay: the process took ${whole(megabytes[0] ?? 0)} MB after the first slice and ${whole(Math.max(...megabytes))} MB at most, after ${whole(megabytes.length)} slices.`,
    ],
  };
};
