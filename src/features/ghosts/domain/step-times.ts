import { merged, type MergedFinding } from './finding-kinds.js';

/**
 * How long the steps of a session took on this server: the work itself, without waiting for the store, the engine or the ghost's share of the
 * processor. It depends on the machine, so it is separate from everything that is the same for the same seed.
 */
export type StepTimes = {
  /** A histogram of durations: at position n the steps that took at most `SHORTEST_MS * GROWTH ** n`, and more than the position before. */
  readonly counts: readonly number[];
  readonly slowest: { readonly step: number; readonly ms: number };
  readonly slow: readonly MergedFinding[];
};

/** A step that takes longer than this counts as slow, in milliseconds. */
export const SLOW_STEP_MS = 250;
/** Times that differ by less than this factor are not distinguished, and neither are those below or above these bounds, in milliseconds. */
const GROWTH = 1.1;
const SHORTEST_MS = 0.01;
const LONGEST_MS = 100_000;

const NONE: StepTimes = { counts: [], slowest: { step: 0, ms: 0 }, slow: [] };
const SLOW = {
  kind: 'slow_step',
  subject: 'step',
  detail: `The server took longer than ${SLOW_STEP_MS} ms for a step.`,
} as const;

const placeOf = (ms: number): number =>
  Math.ceil(Math.log(Math.min(LONGEST_MS, Math.max(SHORTEST_MS, ms)) / SHORTEST_MS) / Math.log(GROWTH));

/** The times including one more step. */
export const noteTime = (times: StepTimes | undefined, step: number, revision: number, ms: number): StepTimes => {
  const { counts, slowest, slow } = times ?? NONE;
  const place = placeOf(ms);
  const wide = place < counts.length ? counts : [...counts, ...Array<number>(place + 1 - counts.length).fill(0)];
  return {
    counts: wide.with(place, (wide[place] ?? 0) + 1),
    slowest: ms > slowest.ms || slowest.step === 0 ? { step, ms } : slowest,
    slow: ms > SLOW_STEP_MS ? merged(slow, SLOW, step, revision) : slow,
  };
};

/** The time, in milliseconds to two digits, that this share of the steps did not exceed. */
const within = (share: number, { counts, slowest }: StepTimes): number => {
  const wanted = share * counts.reduce((all, count) => all + count, 0);
  let seen = 0;
  const place = counts.findIndex((count) => (seen += count) >= wanted);
  return Number(Math.min(slowest.ms, SHORTEST_MS * GROWTH ** place).toPrecision(2));
};

/** The metrics for times; empty if no step was timed. */
export const timeMetrics = (times: StepTimes | undefined): readonly (readonly [name: string, value: number])[] =>
  times === undefined
    ? []
    : [
        ['stepMs.p50', within(0.5, times)],
        ['stepMs.p99', within(0.99, times)],
        ['stepMs.slowest', times.slowest.ms],
        ['slowestStep', times.slowest.step],
      ];
