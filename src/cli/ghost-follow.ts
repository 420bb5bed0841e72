import { sleepFor } from '../body/deadline.js';
import type { MindRequest } from '../body/mind-request.js';
import type { GhostFinding, GhostResults } from './ghost-text.js';
import { CommandFailed } from './terminal.js';

/** How often a session is looked at, in milliseconds: well below the rate limit of a key (contract 1.4). */
const LOOK_MS = 2_000;
/** How often in a row a server may be away. Sessions survive its restart, so following one does, too. */
const AWAY_LOOKS = 60;

const passing = (error: unknown): boolean =>
  error instanceof CommandFailed && (error.code === 'UNREACHABLE' || error.retryAfter !== null);

/** What is told on the way: each finding once, and that the server is away, once for each time. */
export type FollowGhost = { readonly found: (finding: GhostFinding) => void; readonly away: () => void };

/**
 * Follows a session to its end, and tells of each finding once.
 * @throws CommandFailed when the session is unknown, or the server stays away
 */
export const followGhost = async (
  request: MindRequest,
  sessionId: string,
  { found, away: tellAway }: FollowGhost,
): Promise<GhostResults> => {
  const told = new Set<string>();
  for (let away = 0; ;) {
    try {
      const path = `/ghost/${encodeURIComponent(sessionId)}/results`;
      const results = (await request('GET', path)) as GhostResults;
      away = 0;
      for (const finding of results.resultsFindings) {
        const name = `${finding.kind} ${finding.subject}`;
        if (!told.has(name)) found(finding);
        told.add(name);
      }
      if (results.resultsPartial !== true) return results;
    } catch (error) {
      away += 1;
      if (!passing(error) || away >= AWAY_LOOKS) throw error;
      if (away === 1) tellAway();
    }
    await sleepFor(LOOK_MS);
  }
};
