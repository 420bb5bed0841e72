import type { MindRequest } from '../body/mind-request.js';
import { followTo } from './follow.js';
import type { GhostFinding, GhostResults } from './ghost-text.js';

/** How often a session is looked at, in milliseconds. */
const LOOK_MS = 2_000;

/** What is told on the way: each finding once, and that the server is away, once for each time. */
export type FollowGhost = { readonly found: (finding: GhostFinding) => void; readonly away: () => void };

/**
 * Follows a session to its end, and tells of each finding once.
 * @throws CommandFailed when the session is unknown, or the server stays away
 */
export const followGhost = (
  request: MindRequest,
  sessionId: string,
  { found, away }: FollowGhost,
): Promise<GhostResults> => {
  const told = new Set<string>();
  return followTo<GhostResults>(request, `/ghost/${encodeURIComponent(sessionId)}/results`, {
    every: LOOK_MS,
    away,
    seen: (results) => {
      for (const finding of results.resultsFindings) {
        const name = `${finding.kind} ${finding.subject}`;
        if (!told.has(name)) found(finding);
        told.add(name);
      }
      return results.resultsPartial !== true;
    },
  });
};
