import { processKey, type ProcessRef } from '../../src/ports/process-runtime.js';
import type { UpcomingDeadline } from './process-batch.js';
import { DEADLINES_BYTES, DEADLINES_CACHED } from '../../src/kernel/processes/process-limits.js';

/**
 * The open processes whose deadlines will be tried next. The number and the bytes are bounded: what does not fit is known only to the index, from
 * `horizonMs` on. A deadline whose attempt failed counts at its next attempt, so that deadlines that always fail leave room for the others.
 */
export type UpcomingDeadlines = {
  readonly byKey: Map<string, UpcomingDeadline>;
  readonly states: Map<string, number>;
  bytes: number;
  horizonMs: number;
};

export const noDeadlines = (): UpcomingDeadlines => ({
  byKey: new Map(),
  states: new Map(),
  bytes: 0,
  horizonMs: Infinity,
});

/** When its deadline will be tried. */
const tryMs = ({ dueMs, againMs }: UpcomingDeadline): number => Math.max(dueMs, againMs);

/** The bytes around the names if a kept process is written as JSON. */
const BYTES_AROUND = 120;
/** Its size in bytes: names of streams and ids are ASCII. */
const bytesOf = ({ ref, state }: UpcomingDeadline): number =>
  BYTES_AROUND + ref.process.length + ref.stream.length + ref.id.length + state.length;

/** Keeps a process, or its changes, if its deadline is among the nearest. */
export const addDeadline = (kept: UpcomingDeadlines, process: UpcomingDeadline): void => {
  forgetDeadline(kept, process.ref);
  if (tryMs(process) >= kept.horizonMs) return;
  kept.byKey.set(processKey(process.ref), process);
  kept.bytes += bytesOf(process);
  count(kept, process.state, 1);
  while (kept.byKey.size > DEADLINES_CACHED || kept.bytes > DEADLINES_BYTES) {
    const farthest = [...kept.byKey.values()].reduce((far, one) => (tryMs(one) > tryMs(far) ? one : far));
    forgetDeadline(kept, farthest.ref);
    kept.horizonMs = tryMs(farthest);
  }
};

export const forgetDeadline = (kept: UpcomingDeadlines, ref: ProcessRef): void => {
  const known = kept.byKey.get(processKey(ref));
  if (known === undefined) return;
  kept.byKey.delete(processKey(ref));
  kept.bytes -= bytesOf(known);
  count(kept, known.state, -1);
};

/** When the next of them will be tried, in milliseconds since the epoch; Infinity if none is kept. */
export const nextDeadlineMs = (kept: UpcomingDeadlines): number => {
  let next = Infinity;
  for (const process of kept.byKey.values()) next = Math.min(next, tryMs(process));
  return next;
};

/** The deadlines to try by now, the most overdue first, at most `limit`. */
export const dueBy = (kept: UpcomingDeadlines, nowMs: number, limit: number): readonly UpcomingDeadline[] =>
  [...kept.byKey.values()]
    .filter((process) => tryMs(process) <= nowMs)
    .sort((one, other) => one.dueMs - other.dueMs)
    .slice(0, limit);

const count = ({ states }: UpcomingDeadlines, state: string, by: number): void => {
  const now = (states.get(state) ?? 0) + by;
  if (now === 0) states.delete(state);
  else states.set(state, now);
};
