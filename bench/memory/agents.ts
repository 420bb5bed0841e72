import { temporaryDirectory } from '../cleanup.js';
import type { Effort } from '../effort.js';
import { load, type Loaded, type LoadRequest } from '../load.js';
import { percent, type PartReport, whole } from '../report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from '../rounds.js';
import { OBSERVATIONS, tapeAt, turnAt } from '../scene.js';
import { settled, startMindServer } from '../server.js';
import { turnRequests } from '../turns.js';

/** One connection for each mind, as many as play turns of four requests. */
const MINDS = turnRequests().length;
const REQUESTS = turnAt(0, 0).length;
const GOAL = 0.5;

const agentRequests: readonly (readonly LoadRequest[])[] = Array.from({ length: MINDS }, (_, mind) =>
  Array.from({ length: OBSERVATIONS }, (_moment, moment) => {
    const { observation, context } = tapeAt(moment);
    return { path: `/v1/agents/inn-${mind}/process`, body: JSON.stringify({ input: observation, context }) };
  }),
);

/** Loads a fresh server; the background embedding of its texts ends with it. */
const loadFresh = async (effort: Effort, connections: readonly (readonly LoadRequest[])[]): Promise<Loaded> => {
  await using directory = await temporaryDirectory();
  await using server = await startMindServer(directory.path);
  const { key } = server;
  await load({ server, key, seconds: effort.warmUpSeconds, connections });
  await settled(server);
  return await load({ server, key, seconds: effort.seconds, connections });
};

/** Complete turns on the server by the scripted engine, against turns of four requests that a body plays. */
export const measureAgents = async (effort: Effort): Promise<PartReport> => {
  const pairs: Pair<Loaded>[] = [];
  for (let round = 0; round < effort.rounds; round += 1) {
    pairs.push(
      await measurePair(
        round,
        () => loadFresh(effort, agentRequests),
        () => loadFresh(effort, turnRequests()),
      ),
    );
  }
  const rates = pairs.map(({ ours, reference }) => ({
    ours: ours.perSecond,
    reference: reference.perSecond / REQUESTS,
  }));
  const ratio = ratioOf(rates);
  const busy = Math.max(...pairs.flatMap((pair) => [pair.ours.busy, pair.reference.busy]));
  return {
    figures: [
      {
        what: `agents' turns, scripted engine, ${MINDS} minds`,
        ours: `${whole(spreadOf(rates.map(({ ours }) => ours)).median)} turns/s`,
        reference: `turns of four requests: ${whole(spreadOf(rates.map(({ reference }) => reference)).median)}/s`,
        ratio,
        goal: { text: `≥ ${GOAL}`, met: ratio.median >= GOAL },
      },
    ],
    remarks: [
      `Agents' turns: each recalls, and embeds the memory of the one before; a body's turn leaves its memory to be embedded in the background. ` +
        `The load generator was busy for at most ${percent(busy)} of the time.`,
    ],
  };
};
