import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

/** Below the range of ports for outgoing connections, which could take a port while its server is down. */
const FIRST_PORT = 20_000;
const PORT_COUNT = 12_000;
const TRIES = 100;

/** Whether a server can listen on this loopback port now. */
export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });

/** Draws this many free loopback ports. */
export const drawPorts = async (count: number): Promise<readonly number[]> => {
  const ports = new Set<number>();
  for (let left = TRIES; ports.size < count; left -= 1) {
    if (left === 0) throw new Error(`no ${count} free ports between ${FIRST_PORT} and ${FIRST_PORT + PORT_COUNT - 1}`);
    const port = randomInt(FIRST_PORT, FIRST_PORT + PORT_COUNT);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
};
