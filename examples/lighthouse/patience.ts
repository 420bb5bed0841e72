import { setTimeout as sleep } from 'node:timers/promises';

import { MindError } from '../../src/body/mind-request.js';

/** How long the game waits for a server that is away, in milliseconds, and how long between two attempts. */
const AWAY_MS = 120_000;
const PAUSE_MS = 500;

const isPassing = ({ code, status }: MindError): boolean =>
  code === 'UNREACHABLE' || code === 'TIMEOUT' || code === 'BAD_ANSWER' || status === 429 || status === 503;

/**
 * Asks again while the server is away or asks for patience: steps may be repeated (contract 2.6).
 * @throws MindError what is no matter of patience, and the last one when it lasts too long
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
