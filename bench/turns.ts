import { temporaryDirectory } from './cleanup.js';
import type { Effort } from './effort.js';
import { load, type Loaded, type LoadRequest } from './load.js';
import { milliseconds, type PartReport, percent, whole } from './report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from './rounds.js';
import { OBSERVATIONS, pathOf, turnAt } from './scene.js';
import { settled, startEchoServer, startMindServer } from './server.js';

/** One connection for each mind. */
const MINDS = 32;
const REQUESTS = 4;
const GOAL = 2_000;

/** What a fourth answer that ends a turn as it should begins with. */
const FINALIZED = '{"instruction":{"type":"Finalize","valid":true,';

/** The turns of every mind; `onEnd` sees the answer to every fourth request. */
const turnsOf = (onEnd?: (body: string) => void): readonly (readonly LoadRequest[])[] =>
  Array.from({ length: MINDS }, (_, mind) =>
    Array.from({ length: OBSERVATIONS }, (_, moment) =>
      turnAt(mind, moment).map((step, index) => ({
        path: pathOf(mind, 'process'),
        body: JSON.stringify(step),
        ...(onEnd === undefined || index !== REQUESTS - 1 ? {} : { onAnswer: onEnd }),
      })),
    ).flat(),
  );

/** Whole turns of four requests, each a mind's own connection, against the echo of the same requests. */
export const measureTurns = async (effort: Effort): Promise<PartReport> => {
  await using directory = await temporaryDirectory();
  await using mind = await startMindServer(directory.path);
  await using echo = await startEchoServer();
  let settleMs = 0;
  const ours = async (seconds: number): Promise<Loaded> => {
    let ended = 0;
    const onEnd = (body: string): void => {
      if (!body.startsWith(FINALIZED)) throw new Error(`a turn did not end with its fourth request: ${body}`);
      ended += 1;
    };
    const loaded = await load({ server: mind, key: mind.key, seconds, connections: turnsOf(onEnd) });
    settleMs = Math.max(settleMs, await settled(mind));
    return { ...loaded, perSecond: ended / loaded.seconds };
  };
  const reference = async (seconds: number): Promise<Loaded> => {
    const loaded = await load({ server: echo, key: mind.key, seconds, connections: turnsOf() });
    return { ...loaded, perSecond: loaded.perSecond / REQUESTS };
  };
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
  const turns = spreadOf(rates.map((pair) => pair.ours));
  return {
    figures: [
      {
        what: `turns of four rounds, ${MINDS} minds`,
        ours: `${whole(turns.median)} turns/s`,
        reference: `echo ${whole(spreadOf(rates.map((pair) => pair.reference)).median)} × 4 requests/s`,
        ratio: ratioOf(rates),
        goal: { text: `≥ ${whole(GOAL)} turns/s`, met: turns.median >= GOAL },
      },
    ],
    remarks: [
      `Turns: ${whole(turns.min)}–${whole(turns.max)} a second over the rounds; the load generator was busy for at most ` +
        `${percent(Math.max(...pairs.flatMap((pair) => [pair.ours.busy, pair.reference.busy])))} of the time; ` +
        `after a round the read models took at most ${milliseconds(settleMs)} to catch up.`,
    ],
  };
};
