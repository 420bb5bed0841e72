import { requestBytes } from './connection.js';
import { latencies, type Target } from './open-loop.js';
import { OBSERVATIONS, pathOf, turnAt } from './scene.js';
import { quantile } from './rounds.js';
import type { MindServer } from './server.js';

/** One connection for each mind that plays, and how many steps all of them together take per second. */
const PLAYING = 64;
export const STEPS_PER_SECOND = 200;

/** A refused verdict stores no memory, so the steps themselves leave nothing to embed. */
const REFUSED = { type: 'ExecuteInferenceResult', generatedOutput: '{"dialogue": "Hm.", "stateDelta": 5}' };

/** The steps of turns, those of one mind far apart: first each mind's first one, then each mind's second. */
const liveSteps = ({ port, key }: MindServer): Target => {
  const minds = Array.from({ length: PLAYING }, (_, mind) => mind);
  const turns = Array.from({ length: OBSERVATIONS }, (_, moment) => minds.map((mind) => turnAt(mind, moment)));
  const bodies = turns.flatMap((ofMinds) =>
    (ofMinds[0] ?? []).flatMap((_, step, { length }) =>
      minds.map((mind) => {
        const request = ofMinds[mind]?.[step];
        return { mind, body: step === length - 1 ? { ...request, lastResult: REFUSED } : request };
      }),
    ),
  );
  const requests = bodies.map(({ mind, body }) =>
    requestBytes(port, key, pathOf(mind, 'process'), JSON.stringify(body)),
  );
  return { port, requests, connections: PLAYING };
};

/** The p99 of the steps of live turns in milliseconds, at a steady rate. */
export const p99OfLiveSteps = async (server: MindServer, warmUpSeconds: number, seconds: number): Promise<number> => {
  const target = liveSteps(server);
  await latencies(target, STEPS_PER_SECOND, warmUpSeconds);
  return quantile(await latencies(target, STEPS_PER_SECOND, seconds), 0.99);
};
