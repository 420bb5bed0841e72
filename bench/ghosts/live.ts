import { temporaryDirectory } from '../cleanup.js';
import type { Effort } from '../effort.js';
import { p99OfLiveSteps, STEPS_PER_SECOND } from '../live-steps.js';
import { milliseconds, type PartReport, whole } from '../report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from '../rounds.js';
import { startMindServer } from '../server.js';
import { beginSessions, stepsOfSessions } from './sessions.js';

const GOAL = 2;

const p99Beside = async (sessions: number, { warmUpSeconds, liveSeconds }: Effort): Promise<number> => {
  await using directory = await temporaryDirectory();
  await using server = await startMindServer(directory.path);
  const ids = await beginSessions(server, sessions);
  const p99 = await p99OfLiveSteps(server, warmUpSeconds, liveSeconds);
  if (sessions > 0 && (await stepsOfSessions(server, ids)) === 0) throw new Error('no session played meanwhile');
  return p99;
};

/** The p99 of live steps while ghosts play, against the same without ghosts. */
export const measureLive = async (effort: Effort): Promise<PartReport> => {
  const { rounds, ghostsBeside, liveSeconds } = effort;
  const pairs: Pair<number>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    pairs.push(
      await measurePair(
        round,
        () => p99Beside(ghostsBeside, effort),
        () => p99Beside(0, effort),
      ),
    );
  }
  const p99 = spreadOf(pairs.map(({ ours }) => ours));
  const ratio = ratioOf(pairs);
  return {
    figures: [
      {
        what: `p99 of live steps beside ${whole(ghostsBeside)} sessions`,
        ours: milliseconds(p99.median),
        reference: `no session: ${milliseconds(spreadOf(pairs.map(({ reference }) => reference)).median)}`,
        ratio,
        goal: { text: `≤ ${GOAL}`, met: ratio.median <= GOAL },
      },
    ],
    remarks: [
      `Live steps: ${whole(STEPS_PER_SECOND)} a second for ${liveSeconds} s; the highest p99 of a round was ${milliseconds(p99.max)}.`,
    ],
  };
};
