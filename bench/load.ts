import autocannon from 'autocannon';

import type { Server } from './server.js';

/** A request, made once and sent often. */
export type LoadRequest = {
  readonly path: string;
  readonly body: string;
  /** Receives the body of every answer. */
  readonly onAnswer?: (body: string) => void;
};

/** One connection for each list. It sends the requests of its list in order, repeatedly, each when the last one is answered. */
export type Load = {
  readonly server: Server;
  readonly key: string;
  readonly seconds: number;
  readonly connections: readonly (readonly LoadRequest[])[];
};

export type Loaded = {
  readonly perSecond: number;
  readonly seconds: number;
  /** The share of the time (0..1) in which the load's own process was busy: near 1 the process itself is the bottleneck. */
  readonly busy: number;
};

/**
 * Puts a server under as much load as the connections can make.
 * @throws Error if an answer is not a success, or does not come
 */
export const load = async ({ server, key, seconds, connections }: Load): Promise<Loaded> => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const lists = connections.map((requests) =>
    requests.map(({ path, body, onAnswer }) => ({
      method: 'POST' as const,
      path,
      headers,
      body,
      ...(onAnswer === undefined ? {} : { onResponse: (_status: number, answer: string) => onAnswer(answer) }),
    })),
  );
  let next = 0;
  const before = performance.eventLoopUtilization();
  const result = await autocannon({
    url: server.url,
    connections: lists.length,
    duration: seconds,
    setupClient: (client) => {
      client.setRequests(lists[next % lists.length] ?? []);
      next += 1;
    },
  });
  const { utilization } = performance.eventLoopUtilization(before);
  const bad = result.non2xx + result.errors + result.timeouts;
  if (bad > 0 || result['2xx'] === 0) {
    throw new Error(
      `${server.url}: of ${result['2xx'] + bad} requests ${result.non2xx} were refused, ${result.errors} broke, ${result.timeouts} had no answer`,
    );
  }
  return { perSecond: result['2xx'] / result.duration, seconds: result.duration, busy: utilization };
};
