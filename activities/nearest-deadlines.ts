import { partitionOf } from '../src/kernel/base/partition.js';
import type { EventStore } from '../src/ports/event-store.js';
import { processKey, type ProcessRef } from '../src/ports/process-runtime.js';
import type { Deadlined, Shard } from '../workflows/temporal/process-batch.js';
import { DEADLINES_CACHED } from '../src/kernel/processes/process-limits.js';

/** The shard that runs a process of this stream. */
export const shardOf = ({ stream }: Pick<ProcessRef, 'stream'>, count: number): number => partitionOf(stream, count);

/**
 * The open processes of a shard that are due first, at most DEADLINES_CACHED, in this order, except those in `without`. The index may be behind.
 * @throws what the index throws
 */
export const nearestDeadlines = async (
  events: Pick<EventStore, 'openProcesses'>,
  { index, count, processes }: Shard,
  without: readonly string[] = [],
): Promise<readonly Deadlined[]> => {
  const tried = new Set(without);
  return (await events.openProcesses())
    .flatMap(({ name, id, stream, due }): readonly Deadlined[] =>
      due === null ||
      !processes.includes(name) ||
      shardOf({ stream }, count) !== index ||
      tried.has(processKey({ process: name, id, stream }))
        ? []
        : [{ ref: { process: name, id, stream }, dueMs: Date.parse(due) }],
    )
    .sort((one, other) => one.dueMs - other.dueMs)
    .slice(0, DEADLINES_CACHED);
};
