import { setTimeout as sleep } from 'node:timers/promises';

import { temporaryDirectory } from '../cleanup.js';
import type { Effort } from '../effort.js';
import { type PartReport, whole } from '../report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from '../rounds.js';
import { startMindServer } from '../server.js';
import { beginSessions, stepsOfSessions } from './sessions.js';

/** Steps per second of all sessions together, on an otherwise idle server. */
const rateOf = async (sessions: number, { warmUpSeconds, liveSeconds }: Effort): Promise<number> => {
  await using directory = await temporaryDirectory();
  await using server = await startMindServer(directory.path);
  const ids = await beginSessions(server, sessions);
  await sleep(warmUpSeconds * 1_000);
  const beganMs = performance.now();
  const before = await stepsOfSessions(server, ids);
  await sleep(liveSeconds * 1_000);
  const endMs = performance.now();
  return ((await stepsOfSessions(server, ids)) - before) / ((endMs - beganMs) / 1_000);
};

/** How many steps per second many sessions play, against one session. */
export const measureRate = async (effort: Effort): Promise<PartReport> => {
  const { rounds, ghostSessions } = effort;
  const pairs: Pair<number>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    pairs.push(
      await measurePair(
        round,
        () => rateOf(ghostSessions, effort),
        () => rateOf(1, effort),
      ),
    );
  }
  return {
    figures: [
      {
        what: `steps of ${whole(ghostSessions)} sessions in a second`,
        ours: whole(spreadOf(pairs.map(({ ours }) => ours)).median),
        reference: `one session: ${whole(spreadOf(pairs.map(({ reference }) => reference)).median)}`,
        ratio: ratioOf(pairs),
        goal: null,
      },
    ],
    remarks: [],
  };
};
