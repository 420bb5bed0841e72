import { setTimeout as sleep } from 'node:timers/promises';

import { MindError } from '../../src/body/mind-request.js';

/** How long the game waits for a server that is away, in milliseconds, and how long between two attempts. */
const AWAY_MS = 120_000;
const PAUSE_MS = 500;

const isPassing = ({ code, status }: MindError): boolean =>
  code === 'UNREACHABLE' || code === 'TIMEOUT' || code === 'BAD_ANSWER' || status === 429 || status === 503;

/**
 * Retries while the server is unavailable or asks the client to wait: steps are safe to repeat.
 * @throws MindError errors that a retry does not help, and the last error when it takes too long
 */
export const patiently = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
  const untilMs = Date.now() + AWAY_MS;
  let told = false;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof MindError) || !isPassing(error) || Date.now() > untilMs) throw error;
      if (!told && error.status !== 429) console.error(`${error.message} Waiting ...`);
      told = true;
      await sleep(error.retryAfter === null ? PAUSE_MS : error.retryAfter * 1_000);
    }
  }
};
