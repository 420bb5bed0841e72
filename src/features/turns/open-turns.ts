import { parseProcessId } from '../../kernel/crypto/process-id.js';
import type { EventStore } from '../../ports/event-store.js';
import { turn } from '../../../workflows/turn/turn.js';

/** The turns of all tenants that wait for a step, and the age of the oldest; 0 if there is none. Propagates errors from the event store. */
export const openTurns = async (
  events: Pick<EventStore, 'openProcesses'>,
  now: Date,
): Promise<{ readonly count: number; readonly oldestSeconds: number }> => {
  let [count, oldestMs] = [0, now.getTime()];
  for (const { name, id } of await events.openProcesses()) {
    if (name !== turn.name) continue;
    count += 1;
    oldestMs = Math.min(oldestMs, parseProcessId(id)?.timeMs ?? oldestMs);
  }
  return { count, oldestSeconds: (now.getTime() - oldestMs) / 1000 };
};
