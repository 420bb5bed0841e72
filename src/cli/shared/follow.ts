import { sleepFor } from '../../body/deadline.js';
import type { MindRequest } from '../../body/mind-request.js';
import { CommandFailed } from './terminal.js';

/** How many polls in a row may find no server: a session or replay survives a restart, so following it does too. */
const AWAY_LOOKS = 60;

const passing = (error: unknown): boolean =>
  error instanceof CommandFailed && (error.code === 'UNREACHABLE' || error.retryAfter !== null);

/**
 * Polls until the last answer.
 * @param every milliseconds between two polls; well below the rate limit of a key
 * @param seen whether an answer is the last one @param away called once per outage of the server
 * @throws CommandFailed when the request is refused, or the server stays away
 */
export const followTo = async <Answer>(
  request: MindRequest,
  path: string,
  {
    every,
    seen,
    away: tellAway,
  }: { readonly every: number; readonly seen: (answer: Answer) => boolean; readonly away: () => void },
): Promise<Answer> => {
  for (let away = 0; ;) {
    try {
      const answer = (await request('GET', path)) as Answer;
      away = 0;
      if (seen(answer)) return answer;
    } catch (error) {
      away += 1;
      if (!passing(error) || away >= AWAY_LOOKS) throw error;
      if (away === 1) tellAway();
    }
    await sleepFor(every);
  }
};
