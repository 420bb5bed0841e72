import { temporaryDirectory } from './cleanup.js';
import type { Effort } from './effort.js';
import { load, type Loaded, type LoadRequest } from './load.js';
import { milliseconds, percent } from './report.js';
import { measurePair, type Pair } from './rounds.js';
import { settled, startEchoServer, startMindServer } from './server.js';

export type Compared = {
  readonly pairs: readonly Pair<Loaded>[];
  /** How far the figures can be trusted, in one sentence. */
  readonly remark: string;
};

/**
 * Puts a fresh server of this build and the echo under the same load in turn, after a warm-up of both.
 * @param ours, reference the load; their `onAnswer` sees the answers
 */
export const compareWithEcho = async (
  effort: Effort,
  ours: readonly (readonly LoadRequest[])[],
  reference: readonly (readonly LoadRequest[])[],
): Promise<Compared> => {
  await using directory = await temporaryDirectory();
  await using mind = await startMindServer(directory.path);
  await using echo = await startEchoServer();
  const { key } = mind;
  let settleMs = 0;
  const loadMind = async (seconds: number): Promise<Loaded> => {
    const loaded = await load({ server: mind, key, seconds, connections: ours });
    settleMs = Math.max(settleMs, await settled(mind));
    return loaded;
  };
  const loadEcho = (seconds: number): Promise<Loaded> => load({ server: echo, key, seconds, connections: reference });

  await loadEcho(effort.warmUpSeconds);
  await loadMind(effort.warmUpSeconds);
  const pairs: Pair<Loaded>[] = [];
  for (let round = 0; round < effort.rounds; round += 1) {
    const seconds = effort.seconds;
    pairs.push(
      await measurePair(
        round,
        () => loadMind(seconds),
        () => loadEcho(seconds),
      ),
    );
  }
  const busy = Math.max(...pairs.flatMap((pair) => [pair.ours.busy, pair.reference.busy]));
  return {
    pairs,
    remark:
      `The load generator was busy for at most ${percent(busy)} of the time, ` +
      `and after a round the read models took at most ${milliseconds(settleMs)} to catch up.`,
  };
};
