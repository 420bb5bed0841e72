/**
 * How long what a process waits for may take, and how much may wait: the same for both runtimes, which are the ones that hold to it. Times are
 * in milliseconds. Temporal's workflow reads this too: a change here is one that open runs can follow, since they record which timers and
 * activities they started, never how long these may take.
 */

/** How long one attempt at an effect may take; a process may say less. It is then aborted and tried again. */
export const EFFECT_MS = 3_600_000;
/** How long a worker that runs an effect may be silent before another worker takes the effect over. */
export const EFFECT_SILENCE_MS = 5_000;

/** After a step of the runtime's own or an effect failed: how long until it is tried again. Stays at the last. */
const RETRY_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000] as const;
export const FIRST_RETRY_MS = RETRY_MS[0];
export const LAST_RETRY_MS = RETRY_MS[RETRY_MS.length - 1] ?? FIRST_RETRY_MS;

/** The pause after so many failures in a row. */
export const retryDelayMs = (failures: number): number =>
  RETRY_MS[Math.min(Math.max(failures - 1, 0), RETRY_MS.length - 1)] ?? FIRST_RETRY_MS;

/** How much of an effect's result a run of a workflow hands on to the next, in bytes of JSON: no append holds more. */
export const RESULT_BYTES = 800_000;
/** How many may wait for the outcome of one process. Temporal takes ten updates of one workflow at a time, and steps need some of them. */
export const OUTCOME_WAITERS = 4;

/** How many steps travel to a shard's workflow as one update, and how much they take, in bytes of JSON. Temporal takes 2 MiB for one payload. */
export const BATCH_STEPS = 128;
export const BATCH_BYTES = 262_144;
/**
 * How much the steps of all batches that a shard's workflow has under way take, and their answers, in bytes of JSON. More steps are refused and sent again;
 * answers beyond that are made again from the stream. Temporal takes 4 MiB from a workflow at once: each step, and each answer twice, as what its step
 * gave and as a reply.
 */
export const UPDATES_UNDER_WAY_BYTES = 1_572_864;
export const BATCH_ANSWER_BYTES = 1_048_576;
/** How long a batch waits for a step, in milliseconds: a workflow takes no update while its activity runs. A slower step goes on alone. */
export const BATCHED_STEP_MS = 300;
/** How many deadlines a shard's workflow knows by itself, and how much they take, in bytes: each new run gets them whole. */
export const DEADLINES_CACHED = 1_000;
export const DEADLINES_BYTES = 262_144;
