import { logEvents } from './domain/events.js';
import { emptyLog, evolveLog, type LogState, savedLog } from './domain/state.js';
import type { Fold } from '../../kernel/streams/fold.js';

/** How a log is folded. */
export const logFold: Fold<LogState> = {
  initial: emptyLog,
  evolve: (state, event) => evolveLog(state, logEvents.decode(event), event.revision),
  versionOf: logEvents.versionOf,
  snapshots: { version: 3, restore: savedLog },
};
