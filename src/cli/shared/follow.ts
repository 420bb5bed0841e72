import { sleepFor } from '../../body/deadline.js';
import type { MindRequest } from '../../body/mind-request.js';
import { CommandFailed } from './terminal.js';

/** How often in a row a server may be away. What is followed survives its restart, so following it does, too. */
const AWAY_LOOKS = 60;

const passing = (error: unknown): boolean =>
  error instanceof CommandFailed && (error.code === 'UNREACHABLE' || error.retryAfter !== null);

/**
 * Looks at something again and again until it is over.
 * @param every milliseconds between two requests; well below the rate limit of a key
 * @param seen says of each answer whether it is the last one @param away is told once for each time that the server is away
 * @throws CommandFailed when there is no such thing, or the server stays away
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
