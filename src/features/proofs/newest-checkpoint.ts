import { logStream } from '../../kernel/base/stream-names.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { logFold } from './log-fold.js';

/** The time of the newest checkpoint of these tenants, in milliseconds since 1970; null if none has one. Propagates errors from the event store. */
export const newestCheckpointAt = async (
  writers: Pick<StreamWriters, 'current'>,
  tenants: readonly string[],
): Promise<number | null> => {
  let newest: number | null = null;
  for (const tenant of tenants) {
    const { last } = (await writers.current(logStream(tenant), logFold)).state;
    if (last !== null) newest = Math.max(newest ?? 0, Date.parse(last.at));
  }
  return newest;
};
