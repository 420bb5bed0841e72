import {
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  log,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';

import { processKey } from '../../src/ports/process-runtime.js';
import { nowMs } from './durable-run.js';
import {
  dueBy,
  noDeadlines,
  forgetDeadline,
  addDeadline,
  type UpcomingDeadlines,
  nextDeadlineMs,
} from './upcoming-deadlines.js';
import {
  UPDATE_BATCH,
  type UpdateBatch,
  type BatchedUpdate,
  type BatchedReply,
  type BatchedStep,
  type BatchReply,
  type Deadlined,
  type UpcomingDeadline,
  type KnownProcess,
  type Shard,
  type ShardActivities,
  type ShardInput,
  type ShardState,
  type ShardReachedState,
} from './process-batch.js';
import {
  UPDATES_UNDER_WAY_BYTES,
  BATCH_ANSWER_BYTES,
  DEADLINES_CACHED,
  FIRST_RETRY_MS,
  LAST_RETRY_MS,
  retryDelayMs,
} from '../../src/kernel/processes/process-limits.js';
import {
  LOOK,
  PROCESS_BUSY,
  RUN_ENDING,
  type ProcessStatus,
  STEP_FAILED,
  type StepArgs,
} from '../../src/kernel/processes/process-step.js';

// The comment of durable-process.ts on changes while workflows are open applies here as well. No patches yet.

/**
 * The number of history events, and of batches, after which a run continues as new. After an outage a worker reads the history of each shard again,
 * within one task and while all callers wait: 1,200 events took longer than a task may on a busy machine, and then every attempt failed.
 */
const LONG_HISTORY = 300;
const LONG_RUN_BATCHES = 100;
/**
 * The age at which a run that had requests continues as new, in milliseconds. A history that is read again was then written with a key that is not
 * older than this (docs/operate/encryption.md).
 */
const LONG_RUN_MS = 3_600_000;
/** How many deadlines are tried at a time. */
const DUE_AT_ONCE = 64;
/** The pause between two such tries, in milliseconds. */
const DUE_PAUSE_MS = 50;
/** How long before the first deadline that is not known here the index is read again, and how soon after its last answer, in milliseconds. */
const LOOK_AHEAD_MS = 15_000;
const LOOK_PAUSE_MS = 2_000;
const TRANSITIONS_KEPT = 100;
const TRANSITIONS_SHOWN = 20;

const { advanceBatch } = proxyLocalActivities<Pick<ShardActivities, 'advanceBatch'>>({
  startToCloseTimeout: '10s',
  // The caller decides whether to ask again; deadlines are tried again by the workflow.
  retry: { maximumAttempts: 1 },
});
/** Not local, so that a slow read of the index delays no update. */
const { nearestDeadlines } = proxyActivities<Pick<ShardActivities, 'nearestDeadlines'>>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: FIRST_RETRY_MS, backoffCoefficient: 2, maximumInterval: LAST_RETRY_MS },
});

const batchUpdate = defineUpdate<BatchReply, [UpdateBatch], typeof UPDATE_BATCH>(UPDATE_BATCH);
const lookSignal = defineSignal(LOOK);
const stateQuery = defineQuery<ShardState>('state');
const processQuery = defineQuery<KnownProcess, [string]>('process');

/** One run, as its handlers and its loop share it. */
type ShardRun = {
  readonly shard: Shard;
  readonly kept: UpcomingDeadlines;
  transitions: readonly ShardReachedState[];
  readonly beganMs: number;
  batches: number;
  /** The size of the batches in progress, and the bytes that are left for the answers of further ones. */
  updateBytes: number;
  answerRoom: number;
  /** Whether the index must be read in any case, when it was read last, and the read that is in progress. */
  look: boolean;
  lookedMs: number;
  looking: CancellationScope | null;
  ending: boolean;
};

/**
 * The workflow that runs the turns of one shard of the minds: many processes that have no effects. Updates come in batches, each of which is one
 * local activity; what an input does is decided there, from the stream. The workflow holds the nearest deadlines, and asks the index of open
 * processes for the others. It never ends, but continues as new. It may be terminated at any time, since the stream is the truth: the next batch, or
 * the next scan of the open processes, starts it again.
 */
export async function durableShard(input: ShardInput): Promise<void> {
  const run = beginRun(input);
  // Handlers may run as soon as they are set.
  setHandler(batchUpdate, (batch) => answerBatch(run, batch), {
    validator: (batch: UpdateBatch) => refuseBatch(run, batch),
  });
  setHandler(lookSignal, () => void (run.look = true));
  setHandler(stateQuery, () => stateOf(run));
  setHandler(processQuery, (id) => knownOf(run, id));
  showDetails(run);
  while (!isLong(run)) await awaitNext(run);
  run.ending = true;
  run.looking?.cancel();
  await condition(allHandlersFinished);
  await goOnAsNew(run);
}

const beginRun = ({ shard, look, kept, horizonMs, transitions }: ShardInput): ShardRun => {
  const run: ShardRun = {
    shard,
    kept: noDeadlines(),
    transitions: transitions ?? [],
    beganMs: nowMs(),
    batches: 0,
    updateBytes: 0,
    answerRoom: BATCH_ANSWER_BYTES,
    look,
    lookedMs: 0,
    looking: null,
    ending: false,
  };
  for (const process of kept ?? []) addDeadline(run.kept, process);
  run.kept.horizonMs = Math.min(run.kept.horizonMs, horizonMs ?? Infinity);
  return run;
};

const goOnAsNew = ({ shard, kept, transitions, look, looking }: ShardRun): Promise<never> =>
  continueAsNew<typeof durableShard>({
    shard,
    look: look || looking !== null,
    ...(kept.horizonMs === Infinity ? {} : { horizonMs: kept.horizonMs }),
    kept: [...kept.byKey.values()],
    transitions,
  });

const isLong = (run: ShardRun): boolean => {
  const { batches } = run;
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return historyLength > LONG_HISTORY || batches > LONG_RUN_BATCHES || continueAsNewSuggested || nowMs() >= endMs(run);
};

/**
 * Refuses a batch that is too large. Answers to simultaneous batches leave together, and more than Temporal accepts at a time would never leave. A
 * refused batch is sent again.
 */
const refuseBatch = (run: ShardRun, { bytes }: UpdateBatch): void => {
  if (run.ending) throw ApplicationFailure.create({ message: 'ask the next run', type: RUN_ENDING });
  if (run.updateBytes > 0 && run.updateBytes + bytes > UPDATES_UNDER_WAY_BYTES)
    throw ApplicationFailure.create({ message: 'other batches are under way', type: PROCESS_BUSY });
};

const answerBatch = async (run: ShardRun, batch: UpdateBatch): Promise<BatchReply> => {
  // Each gets half of what is left, so that the first, which is mostly alone, has the most.
  const answerBytes = Math.floor(run.answerRoom / 2);
  run.batches += 1;
  run.updateBytes += batch.bytes;
  run.answerRoom -= answerBytes;
  try {
    return await repliesTo(run, batch, answerBytes);
  } finally {
    run.updateBytes -= batch.bytes;
    run.answerRoom += answerBytes;
  }
};

const repliesTo = async (run: ShardRun, { asks }: UpdateBatch, answerBytes: number): Promise<BatchReply> => {
  const atMs = nowMs();
  const isLate = ({ untilMs }: BatchedUpdate): boolean => untilMs !== null && untilMs <= atMs;
  const results = await advanced(
    run,
    asks.filter((ask) => !isLate(ask)).map(({ ref, inputs, by }) => ({ ref, inputs, by })),
    answerBytes,
  );
  let taken = 0;
  const replies = asks.map((ask): BatchedReply => {
    if (isLate(ask)) return { late: true };
    const result = results[taken];
    taken += 1;
    if (result === undefined) return { failed: 'a step came back without its result' };
    return 'reply' in result ? result.reply : result;
  });
  return { atMs, replies };
};

/** Runs the steps and notes the states of their processes. @throws ApplicationFailure STEP_FAILED if the complete batch failed */
const advanced = async (
  run: ShardRun,
  steps: readonly StepArgs[],
  answerBytes: number,
): Promise<readonly BatchedStep[]> => {
  if (steps.length === 0) return [];
  const results = await advanceBatch(steps, answerBytes).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    throw ApplicationFailure.create({ message, type: STEP_FAILED, nonRetryable: true });
  });
  steps.forEach((step, at) => {
    const result = results[at];
    if (result !== undefined && 'reply' in result && result.standing !== null) stand(run, step, result.standing);
  });
  showDetails(run);
  return results;
};

const stand = (run: ShardRun, { ref, inputs }: StepArgs, { state, due }: ProcessStatus): void => {
  const known = run.kept.byKey.get(processKey(ref));
  if (due === null) forgetDeadline(run.kept, ref);
  else addDeadline(run.kept, { ref, state, dueMs: Date.parse(due), tries: 0, againMs: 0 });
  const names = inputs === 'deadline' ? inputs : inputs.map(({ type }) => type).join(', ');
  if (known?.state === state || names === '') return;
  const transition = { at: new Date(nowMs()).toISOString(), id: ref.id, to: state, on: names };
  run.transitions = [...run.transitions, transition].slice(-TRANSITIONS_KEPT);
};

/** Waits until the workflow itself has something to do, and does it. */
const awaitNext = async (run: ShardRun): Promise<void> => {
  const wakeMs = nextWakeMs(run);
  const now = nowMs();
  if (wakeMs > now) {
    const changed = (): boolean => isLong(run) || nextWakeMs(run) < wakeMs;
    if (wakeMs === Infinity) await condition(changed);
    else await condition(changed, wakeMs - now);
  } else if (nextLookMs(run) <= now) look(run);
  else {
    await tryDeadlines(run, dueBy(run.kept, now, DUE_AT_ONCE));
    // Lets in the updates that have arrived meanwhile: while one activity directly follows another, the server delivers nothing.
    await sleep(DUE_PAUSE_MS);
  }
};

const nextWakeMs = (run: ShardRun): number => Math.min(nextDeadlineMs(run.kept), nextLookMs(run), endMs(run));

/** The latest end of the run. A run without requests has nothing to leave behind. */
const endMs = ({ batches, beganMs }: ShardRun): number => (batches === 0 ? Infinity : beganMs + LONG_RUN_MS);

const nextLookMs = ({ look: wanted, lookedMs, looking, kept }: ShardRun): number =>
  looking === null ? Math.max(wanted ? 0 : kept.horizonMs - LOOK_AHEAD_MS, lookedMs + LOOK_PAUSE_MS) : Infinity;

/** Asks the index for the nearest deadlines, concurrently with everything else. */
const look = (run: ShardRun): void => {
  const scope = new CancellationScope();
  run.looking = scope;
  run.look = false;
  // A deadline that does not fit from now on sets it again.
  run.kept.horizonMs = Infinity;
  void scope
    .run(() => nearestDeadlines(run.shard, triedInVain(run)))
    .then(
      (open) => {
        learn(run, open);
        run.lookedMs = nowMs();
        run.looking = null;
      },
      // Cancelled with its run: the next one asks again.
      () => undefined,
    );
};

const triedInVain = ({ kept }: ShardRun): readonly string[] =>
  [...kept.byKey.values()].filter(({ tries }) => tries > 0).map(({ ref }) => processKey(ref));

/** Adds deadlines from the index. The workflow's own knowledge is newer than the index. */
const learn = ({ kept }: ShardRun, open: readonly Deadlined[]): void => {
  for (const { ref, dueMs } of open) {
    if (!kept.byKey.has(processKey(ref))) addDeadline(kept, { ref, state: 'open', dueMs, tries: 0, againMs: 0 });
  }
  const last = open.at(-1);
  if (last !== undefined && open.length >= DEADLINES_CACHED) kept.horizonMs = Math.min(kept.horizonMs, last.dueMs);
};

const tryDeadlines = async (run: ShardRun, due: readonly UpcomingDeadline[]): Promise<void> => {
  const steps = due.map(({ ref }): StepArgs => ({ ref, inputs: 'deadline', by: null }));
  // Their answers are not needed.
  await advanced(run, steps, 0).catch((error: unknown) =>
    log.warn('Failed to check deadlines', { error: String(error) }),
  );
  // A deadline that is still due failed. It is tried again after a pause, which grows.
  for (const { ref, dueMs, tries } of due) {
    const now = run.kept.byKey.get(processKey(ref));
    if (now === undefined || now.dueMs !== dueMs) continue;
    addDeadline(run.kept, { ...now, tries: tries + 1, againMs: nowMs() + retryDelayMs(tries + 1) });
  }
};

const stateOf = ({ shard, kept, transitions }: ShardRun): ShardState => {
  const nextMs = nextDeadlineMs(kept);
  return {
    shard,
    states: Object.fromEntries(kept.states),
    nextDue: nextMs === Infinity ? null : new Date(nextMs).toISOString(),
    transitions,
  };
};

const knownOf = ({ kept, transitions }: ShardRun, id: string): KnownProcess => {
  const known = [...kept.byKey.values()].find(({ ref }) => ref.id === id);
  return {
    standing:
      known === undefined ? null : { state: known.state, due: new Date(known.dueMs).toISOString(), effect: null },
    transitions: transitions.filter((transition) => transition.id === id),
  };
};

/** Markdown for Temporal's own page. */
const showDetails = ({ shard, kept, transitions }: ShardRun): void => {
  const states = [...kept.states].map(([state, count]) => `${state} ${String(count)}`).join(', ');
  const lines = [
    `Shard ${String(shard.index + 1)} of ${String(shard.count)}. Open: ${states === '' ? 'none' : states}${kept.horizonMs === Infinity ? '' : ', and more in the index'}.`,
    '',
    ...transitions.slice(-TRANSITIONS_SHOWN).map(({ at, id, on, to }) => `- ${at} \`${id}\` ${on} → ${to}`),
  ];
  setCurrentDetails(lines.join('\n'));
};
