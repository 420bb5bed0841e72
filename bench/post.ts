import { temporaryDirectory } from './cleanup.js';
import type { Effort } from './effort.js';
import { load, type Loaded, type LoadRequest } from './load.js';
import { milliseconds, type PartReport, percent, whole } from './report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from './rounds.js';
import { directiveAt, pathOf } from './scene.js';
import { settled, startEchoServer, startMindServer } from './server.js';

/** One connection for each mind. */
const MINDS = 64;
const GOAL = 0.5;

const connections: readonly (readonly LoadRequest[])[] = Array.from({ length: MINDS }, (_, mind) => [
  { path: pathOf(mind, 'directive'), body: JSON.stringify(directiveAt(mind)) },
]);

/** A POST that records one event, flushed before the answer, against the echo of the same requests. */
export const measurePosts = async (effort: Effort): Promise<PartReport> => {
  await using directory = await temporaryDirectory();
  await using mind = await startMindServer(directory.path);
  await using echo = await startEchoServer();
  let settleMs = 0;
  const ours = async (seconds: number): Promise<Loaded> => {
    const loaded = await load({ server: mind, key: mind.key, seconds, connections });
    settleMs = Math.max(settleMs, await settled(mind));
    return loaded;
  };
  const reference = (seconds: number): Promise<Loaded> => load({ server: echo, key: mind.key, seconds, connections });
  await reference(effort.warmUpSeconds);
  await ours(effort.warmUpSeconds);
  const pairs: Pair<Loaded>[] = [];
  for (let round = 0; round < effort.rounds; round += 1) {
    pairs.push(
      await measurePair(
        round,
        () => ours(effort.seconds),
        () => reference(effort.seconds),
      ),
    );
  }
  const rates = pairs.map((pair) => ({ ours: pair.ours.perSecond, reference: pair.reference.perSecond }));
  const ratio = ratioOf(rates);
  return {
    figures: [
      {
        what: `durable one-event POST, ${MINDS} connections`,
        ours: `${whole(spreadOf(rates.map((pair) => pair.ours)).median)}/s`,
        reference: `echo ${whole(spreadOf(rates.map((pair) => pair.reference)).median)}/s`,
        ratio,
        goal: { text: `≥ ${GOAL} of the echo`, met: ratio.median >= GOAL },
      },
    ],
    remarks: [
      `One-event POST: the load generator was busy for at most ${percent(Math.max(...pairs.flatMap((pair) => [pair.ours.busy, pair.reference.busy])))} of the time; ` +
        `after a round the read models took at most ${milliseconds(settleMs)} to catch up.`,
    ],
  };
};
