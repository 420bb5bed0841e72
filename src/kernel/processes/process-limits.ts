/**
 * Time limits and queue limits of processes, the same for both runtimes, which enforce them. Times are in milliseconds. Temporal's workflow reads
 * this too: changes here are safe for open runs, because they record which timers and activities they started, never how long these may take.
 */

/** How long one attempt at an effect may take; a process may set less. The attempt is then aborted and retried. */
export const EFFECT_MS = 3_600_000;
/** How long a worker that runs an effect may be silent before another worker takes over the effect. */
export const EFFECT_SILENCE_MS = 5_000;

/** The delays before a retry after the runtime's own step or an effect failed. The last one repeats. */
const RETRY_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000] as const;
export const FIRST_RETRY_MS = RETRY_MS[0];
export const LAST_RETRY_MS = RETRY_MS[RETRY_MS.length - 1] ?? FIRST_RETRY_MS;

/** The pause after this many failures in a row. */
export const retryDelayMs = (failures: number): number =>
  RETRY_MS[Math.min(Math.max(failures - 1, 0), RETRY_MS.length - 1)] ?? FIRST_RETRY_MS;

/** The largest result of an effect that a run of a workflow passes to the next, in bytes of JSON: no append holds more. */
export const RESULT_BYTES = 800_000;
/** How many callers may wait for the outcome of one process. Temporal accepts ten updates of one workflow at a time, and steps need some of them. */
export const OUTCOME_WAITERS = 4;

/**
 * The maximum number of steps that are sent to a shard's workflow as one update, and their maximum size, in bytes of JSON. Temporal accepts 2 MiB per
 * payload.
 */
export const BATCH_STEPS = 128;
export const BATCH_BYTES = 262_144;
/**
 * The maximum size of the steps of all batches that a shard's workflow has in progress, and of their answers, in bytes of JSON. Further steps are
 * refused and sent again; answers beyond that are rebuilt from the stream. Temporal accepts 4 MiB from a workflow at a time: each step, and each
 * answer twice, as the result of its step and as a reply.
 */
export const UPDATES_UNDER_WAY_BYTES = 1_572_864;
export const BATCH_ANSWER_BYTES = 1_048_576;
/** How long a batch waits for a step, in milliseconds: a workflow accepts no update while its activity runs. A slower step continues alone. */
export const BATCHED_STEP_MS = 300;
/** How many deadlines a shard's workflow remembers, and their maximum size, in bytes: each new run receives all of them. */
export const DEADLINES_CACHED = 1_000;
export const DEADLINES_BYTES = 262_144;
