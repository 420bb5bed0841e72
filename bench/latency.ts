import { temporaryDirectory } from './cleanup.js';
import { requestBytes } from './connection.js';
import type { Effort } from './effort.js';
import { capacity, latencies, type Target } from './open-loop.js';
import { milliseconds, type PartReport, whole } from './report.js';
import { measurePair, type Pair, quantile, ratioOf, spreadOf } from './rounds.js';
import { directiveAt, pathOf } from './scene.js';
import { type Server, settled, startEchoServer, startMindServer } from './server.js';

/** One connection for each mind, although any of them may carry any mind's request. */
const MINDS = 64;
/** The share of the capacity at which latency is measured. */
const LOAD = 0.8;
const GOAL_MS = 15;

type Latency = { readonly p50: number; readonly p99: number };

/** The latency of the one-event POST at a steady rate of 80 % of the capacity measured right before, against the echo at the same rate. */
export const measureLatency = async (effort: Effort): Promise<PartReport> => {
  await using directory = await temporaryDirectory();
  await using mind = await startMindServer(directory.path);
  await using echo = await startEchoServer();
  const targetOf = ({ port }: Server): Target => ({
    port,
    connections: MINDS,
    requests: Array.from({ length: MINDS }, (_, index) =>
      requestBytes(port, mind.key, pathOf(index, 'directive'), JSON.stringify(directiveAt(index))),
    ),
  });
  const ours = targetOf(mind);
  const reference = targetOf(echo);
  const latencyOf = async (target: Target, perSecond: number): Promise<Latency> => {
    const sorted = await latencies(target, perSecond, effort.seconds);
    return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
  };

  await capacity(reference, effort.warmUpSeconds);
  await capacity(ours, effort.warmUpSeconds);
  const pairs: Pair<Latency>[] = [];
  const rates: number[] = [];
  for (let round = 0; round < effort.rounds; round += 1) {
    await settled(mind);
    const rate = LOAD * (await capacity(ours, effort.capacitySeconds));
    rates.push(rate);
    const measureOurs = async (): Promise<Latency> => {
      await settled(mind);
      const latency = await latencyOf(ours, rate);
      await settled(mind);
      return latency;
    };
    pairs.push(await measurePair(round, measureOurs, () => latencyOf(reference, rate)));
  }

  const figureOf = (name: keyof Latency) => {
    const both = pairs.map((pair) => ({ ours: pair.ours[name], reference: pair.reference[name] }));
    const measured = spreadOf(both.map((pair) => pair.ours));
    return {
      measured,
      what: `${name} at 80 % of capacity`,
      ours: milliseconds(measured.median),
      reference: `echo at that rate: ${milliseconds(spreadOf(both.map((pair) => pair.reference)).median)}`,
      ratio: ratioOf(both),
    };
  };
  const p50 = figureOf('p50');
  const p99 = figureOf('p99');
  const rate = spreadOf(rates);
  return {
    figures: [
      { ...p50, goal: null },
      { ...p99, goal: { text: `≤ ${GOAL_MS} ms`, met: p99.measured.median <= GOAL_MS } },
    ],
    remarks: [
      `Latency: at ${whole(rate.min)}–${whole(rate.max)} one-event POSTs a second; the highest p99 of a round was ${milliseconds(p99.measured.max)}.`,
    ],
  };
};
