import { fromHex, rootOfEdge } from './domain/edge.js';
import { consistencySpans, isConsistent } from './domain/proofs.js';
import type { LogState } from './domain/state.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { EventStore } from '../../ports/event-store.js';
import { openLogTree } from './log-tree.js';

/**
 * Why a log does not extend its last checkpoint, as computed from the leaves in it; null if it does.
 * @throws Rejection of the event store
 */
export const extensionProblem = async (events: EventStore, stream: string, log: LogState): Promise<string | null> => {
  if (log.last === null) return null;
  const { size: earlier, root: earlierRoot } = log.last;
  const changed = `the log ${stream} does not extend its checkpoint of size ${String(earlier)}: it was changed`;
  try {
    const path =
      earlier === log.size ? [] : await openLogTree(events, stream, log).roots(consistencySpans(earlier, log.size));
    const root = rootOfEdge(log.edge);
    const holds = isConsistent({ earlier, earlierRoot: fromHex(earlierRoot), size: log.size, root, path });
    return holds ? null : changed;
  } catch (error) {
    // The store was not reached, or a page of it is damaged, which it says.
    if (error instanceof Rejection) throw error;
    return `${changed} (${error instanceof Error ? error.message : String(error)})`;
  }
};
