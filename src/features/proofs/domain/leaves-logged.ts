import { growEdge } from './edge.js';
import type { LeafBatch, LogEvent, LogPlace } from './events.js';
import { leafHash } from './leaf.js';
import type { LogState } from './state.js';

/** The state of a log as each of its events carries it. */
export const logPlaceOf = ({ size, through, last }: LogState): LogPlace => ({
  size,
  through,
  checkpoint: last?.revision ?? null,
});

/** The event that adds leaves to a log. @param through the global position up to which the log then holds the heads of all minds */
export const leavesLogged = (
  log: LogState,
  added: Pick<LeafBatch, 'roundId' | 'leaves' | 'through' | 'kinds' | 'caughtUp'>,
): Extract<LogEvent, { type: 'LeavesLogged' }> => {
  const after = growEdge(log.edge, log.size, added.leaves.map(leafHash), -1);
  const stored = after.map(({ hash, at }) => ({ hash, at: at === -1 ? null : at }));
  const data = { ...logPlaceOf(log), ...added, before: log.edge, after: stored };
  return { type: 'LeavesLogged', data };
};
