import { type ListeningServer, STOP_LINGER_MS } from '../../src/kernel/http/server.js';
import type { ManualClock } from './manual-clock.js';

/** Stops a server on a clock that only tests advance, which skips the wait for requests in transit. */
export const stopServer = async (server: Pick<ListeningServer, 'stop'>, clock: ManualClock): Promise<void> => {
  const stopped = server.stop();
  await clock.advance(STOP_LINGER_MS);
  await stopped;
};
