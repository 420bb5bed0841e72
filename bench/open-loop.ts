import { Connection } from './connection.js';

/** How long to wait after the last planned request for its answer, in milliseconds. */
const GRACE_MS = 20_000;
/** How often it checks whether a request is due, in milliseconds. A request sent late because of this counts as latency. */
const TICK_MS = 1;

export type Target = {
  readonly port: number;
  /** Sent one after the other, repeatedly. */
  readonly requests: readonly Buffer[];
  readonly connections: number;
};

const withConnections = async <T>(
  { port, connections }: Target,
  use: (open: readonly Connection[]) => Promise<T>,
): Promise<T> => {
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
  try {
    return await use(open);
  } finally {
    for (const connection of open) connection[Symbol.dispose]();
  }
};

const refused = (status: number): Error => new Error(`a request was answered with status ${status}`);

/**
 * How many requests per second the target answers if every connection sends its next as soon as the last is answered.
 * @throws Error on an answer that is not a success, or a broken connection
 */
export const capacity = (target: Target, seconds: number): Promise<number> =>
  withConnections(target, async (open) => {
    const began = performance.now();
    const end = began + seconds * 1_000;
    let sent = 0;
    let answers = 0;
    const runOne = (connection: Connection): Promise<void> =>
      new Promise((resolve, reject) => {
        const next = (): void => {
          const request = target.requests[sent % target.requests.length];
          if (request === undefined || performance.now() >= end) {
            resolve();
            return;
          }
          sent += 1;
          connection.send(
            request,
            (status) => {
              if (status !== 200) {
                reject(refused(status));
                return;
              }
              answers += 1;
              next();
            },
            reject,
          );
        };
        next();
      });
    await Promise.all(open.map(runOne));
    return (answers * 1_000) / (performance.now() - began);
  });

/**
 * Sends requests at times planned beforehand, evenly spread, whether or not earlier ones were answered. A latency counts from the planned time to the
 * complete answer. It includes the delay that a slow answer causes for later ones (on the server, on the connections, in this process).
 * @returns every latency in milliseconds, ascending
 * @throws Error on an answer that is not a success, a broken connection, or if not everything is answered 20 s after the end
 */
export const latencies = (target: Target, perSecond: number, seconds: number): Promise<readonly number[]> =>
  withConnections(
    target,
    (open) =>
      new Promise((resolve, reject) => {
        const count = Math.floor(perSecond * seconds);
        const measured = new Float64Array(count);
        const idle = [...open];
        const began = performance.now();
        const plannedAt = (index: number): number => began + (index * 1_000) / perSecond;
        let sent = 0;
        let answered = 0;

        const finish = (error: Error | null): void => {
          clearInterval(ticking);
          clearTimeout(late);
          if (error === null) resolve([...measured.sort()]);
          else reject(error);
        };
        const sendDue = (): void => {
          while (sent < count && plannedAt(sent) <= performance.now()) {
            // In turn: a server closes an idle connection.
            const connection = idle.shift();
            const request = target.requests[sent % target.requests.length];
            if (connection === undefined || request === undefined) return;
            sendOne(connection, request, sent);
            sent += 1;
          }
        };
        const sendOne = (connection: Connection, request: Buffer, index: number): void => {
          connection.send(
            request,
            (status) => {
              if (status !== 200) {
                finish(refused(status));
                return;
              }
              measured[index] = performance.now() - plannedAt(index);
              answered += 1;
              idle.push(connection);
              if (answered === count) finish(null);
              else sendDue();
            },
            finish,
          );
        };
        const ticking = setInterval(sendDue, TICK_MS);
        const late = setTimeout(
          () => finish(new Error(`${count - answered} of ${count} requests had no answer in time`)),
          seconds * 1_000 + GRACE_MS,
        );
      }),
  );
