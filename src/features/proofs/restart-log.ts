import type { LogEvent } from './domain/events.js';
import { leavesLogged, logPlaceOf } from './domain/leaves-logged.js';
import { nextOrigin } from './domain/origin.js';
import { defined } from '../../kernel/base/defined.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { logStream } from '../../kernel/base/stream-names.js';
import { DECIDE_ATTEMPTS } from '../../kernel/streams/attempts.js';
import { type Command, type CommandDeps, runCommand } from '../../kernel/streams/run-command.js';
import { busyAfter } from './busy-after.js';
import { logFold } from './log-fold.js';
import { originOfLog } from './not-behind.js';
import type { EventChecks } from '../../kernel/streams/event-checks.js';

/** How long one request checks a log, in milliseconds. */
const CHECK_MS = 20_000;

/** A log with its new name. `position`: of the events that were recorded. */
export type RestartedLog = { readonly origin: string; readonly size: number; readonly position: number };

/**
 * Gives a log a new name, so that it can be signed again after its store has lost a part of it. The first leaf under the new name is the head of the
 * log's own stream, so the new log covers everything that is left of the old one. The next round signs it.
 * @throws Rejection CHAIN_BROKEN if an event of the log is not what was recorded: a new name would not mend it; BUSY if
 *   that cannot be told in time, and a repeat continues; CONFLICT if others keep writing; errors from the event store
 */
export const restartLog = async (
  deps: CommandDeps & { readonly issuer: string; readonly checks: Pick<EventChecks, 'requireWhole'> },
  tenant: string,
  reason: string,
  by: Command,
): Promise<RestartedLog> => {
  const stream = logStream(tenant);
  for (let attempt = 0; attempt < DECIDE_ATTEMPTS; attempt += 1) {
    const [head] = (await deps.events.read(stream, { direction: 'backwards', limit: 1 })).events;
    if (head !== undefined)
      await busyAfter(CHECK_MS, 'The log is still being checked. Try again shortly.', (signal) =>
        deps.checks.requireWhole(stream, head.revision, signal),
      );
    const { events, state, position } = await runCommand(deps, stream, logFold, by, (log, revision): LogEvent[] => {
      if (revision !== (head?.revision ?? -1)) return [];
      const origin = nextOrigin(originOfLog(log, deps.issuer, tenant));
      const restarted: LogEvent = { type: 'LogRestarted', data: { ...logPlaceOf(log), origin, reason } };
      if (head === undefined) return [restarted];
      const leaf = { stream, revision: head.revision, hash: head.meta.hash, at: head.meta.at };
      return [
        restarted,
        leavesLogged(log, {
          roundId: by.commandId,
          leaves: [leaf],
          through: log.through,
          ...defined({ kinds: log.kinds ?? undefined }),
        }),
      ];
    });
    if (events.length > 0 || by.done === true)
      return { origin: originOfLog(state, deps.issuer, tenant), size: state.size, position };
  }
  throw new Rejection('CONFLICT', { retryAfter: 1 });
};
