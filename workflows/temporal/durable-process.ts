import {
  type ActivityOptions,
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  patched,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';

import { defined } from '../../src/kernel/base/defined.js';
import { tenantOf } from '../../src/kernel/base/stream-names.js';
import type { ProcessInput, ProcessRef } from '../../src/ports/process-runtime.js';
import {
  beginRun,
  goOnAsNew,
  isLong,
  isPutOff,
  nowMs,
  ownStep,
  type Run,
  queueStep,
  waitsForNobody,
} from './durable-run.js';
import {
  EFFECT_MS,
  EFFECT_SILENCE_MS,
  FIRST_RETRY_MS,
  LAST_RETRY_MS,
  OUTCOME_WAITERS,
  retryDelayMs,
} from '../../src/kernel/processes/process-limits.js';
import {
  type StepUpdateResult,
  STEP_UPDATE,
  type StepUpdateRequest,
  UPDATE_LATE,
  backgroundQueueOf,
  type EffectProgress,
  LOOK,
  OUTCOME,
  type OutcomeWait,
  PROCESS_BUSY,
  type ProcessActivities,
  type Reply,
  RUN_ENDING,
  type RunInput,
  type ProcessStatus,
  STEP_FAILED,
  type StepArgs,
  type ReachedState,
} from '../../src/kernel/processes/process-step.js';

// To change this file, or durable-run.ts, while workflows are open: put every change of what it does, or in which order, behind `patched('<name>')`;
// the recorded histories in test/fixtures are replayed against it. A change of a state machine, an event or an effect needs none of this, because
// they are not in here. If a replay fails all the same, the workflow can be terminated: the stream is the truth, and the next update or the next scan
// of the open processes starts it again (docs/adr/0007-temporal-shell.md).
//
// Patches: `keep-put-off-result`: an effect's result whose step was refused for now is tried again; before, the effect was run again. `late-asks`: an
// update that arrives after its caller stopped waiting runs no step. `finish-attempt`: a long run does not end while an attempt at an effect runs;
// before, the next run began it again.

/** How long a run that was started by an update waits for that update, in milliseconds, before it reads the stream itself. */
const UPDATE_GRACE_MS = 5_000;
/** An attempt at an effect is ended by its worker; the server ends it a minute later. */
const EFFECT_SERVER_MS = EFFECT_MS + 60_000;

/** An effect may wait for a worker without limit: its time begins when one takes it. */
const EFFECT_OPTIONS: ActivityOptions = {
  startToCloseTimeout: EFFECT_SERVER_MS,
  heartbeatTimeout: EFFECT_SILENCE_MS,
  retry: { initialInterval: FIRST_RETRY_MS, backoffCoefficient: 2, maximumInterval: LAST_RETRY_MS },
};
type Effects = Pick<ProcessActivities, 'runEffect'>;
/** The effects of many tenants wait for one worker: the server serves the tenants in turn (matching.enableFairness). */
const optionsOf = ({ stream }: ProcessRef): ActivityOptions => ({
  ...EFFECT_OPTIONS,
  priority: defined({ fairnessKey: tenantOf(stream) ?? undefined }),
});
const runEffect: Effects['runEffect'] = (ref, effectId) =>
  proxyActivities<Effects>(optionsOf(ref)).runEffect(ref, effectId);
const runInBackground: Effects['runEffect'] = (ref, effectId) => {
  const taskQueue = backgroundQueueOf(workflowInfo().taskQueue);
  return proxyActivities<Effects>({ ...optionsOf(ref), taskQueue }).runEffect(ref, effectId);
};

/** Requests: a caller waits for the answer. */
const stepUpdate = defineUpdate<StepUpdateResult, [StepUpdateRequest], typeof STEP_UPDATE>(STEP_UPDATE);
/** Waits until the process waits for no effect. */
const outcomeUpdate = defineUpdate<Reply | null, [OutcomeWait], typeof OUTCOME>(OUTCOME);
/** Reads the stream, which also ends a wait for the next retry. */
const lookSignal = defineSignal(LOOK);
/** The name of `look` in the first version. Open runs may have it in their histories, so it runs the same step for ever. */
const tellSignal = defineSignal('tell');
const stateQuery = defineQuery<{ standing: ProcessStatus | null; transitions: readonly ReachedState[] }>('state');

/**
 * The one workflow of every process: handles inputs one after the other, waits for deadlines, runs effects, retries, and continues as new. It does
 * not interpret inputs: each step is one local activity, which folds the stream and looks up the transition.
 * It is the default of its bundle, which serves every workflow type: the type of a workflow is the name of its process. It ends when the process
 * waits only for callers: the next update starts it again and finds everything in the stream.
 */
export default async function durableProcess(input: RunInput): Promise<void> {
  const run = beginRun(input);
  // Handlers may run as soon as they are set.
  listen(run);
  if (input.takeUp) await ownStep(run, []);
  while (await isOpen(run)) await awaitNext(run);
  run.ending = true;
  await condition(() => run.queue.length === 0 && allHandlersFinished());
  // Signals may have arrived while the last answers left.
  if (!waitsForNobody(run)) await goOnAsNew(run);
}

const listen = (run: Run): void => {
  setHandler(stepUpdate, (ask) => answerUpdate(run, ask), { validator: (_: StepUpdateRequest) => refuseAtEnd(run) });
  setHandler(outcomeUpdate, (wait) => awaitOutcome(run, wait), { validator: (_: OutcomeWait) => refuseWaiter(run) });
  for (const signal of [lookSignal, tellSignal]) setHandler(signal, () => look(run));
  setHandler(stateQuery, () => ({ standing: run.standing, transitions: run.transitions }));
};

const answerUpdate = async (
  run: Run,
  { stream, inputs, by, token, untilMs }: StepUpdateRequest,
): Promise<StepUpdateResult> => {
  // A backlog shrinks faster than it grew: updates whose callers have stopped waiting cost no step.
  const atMs = nowMs();
  if (untilMs !== undefined && untilMs <= atMs && patched('late-asks'))
    throw ApplicationFailure.create({
      message: 'nobody waits for this any more',
      type: UPDATE_LATE,
      nonRetryable: true,
    });
  if (stream !== undefined && stream !== run.ref.stream) throw failed(token, `${run.ref.id} belongs to another stream`);
  try {
    return { token, reply: (await queueStep(run, inputs, by)).reply, atMs };
  } catch (error) {
    throw failed(token, error);
  }
};

const look = async (run: Run): Promise<void> => {
  await ownStep(run, []);
};

/** The answer of the present state once no effect is waited for; null after the timeout. */
const awaitOutcome = async (run: Run, { by, withinMs }: OutcomeWait): Promise<Reply | null> => {
  run.outcomeWaiters += 1;
  try {
    const untilMs = nowMs() + withinMs;
    for (;;) {
      const { reply, standing } = await queueStep(run, [], by);
      if ('refused' in reply || standing?.effect === null) return reply;
      const leftMs = untilMs - nowMs();
      const isReached = (): boolean => run.standing?.effect === null;
      if (leftMs <= 0 || !(await condition(() => isReached() || run.ending, leftMs))) return null;
      if (!isReached()) throw ending();
    }
  } catch (error) {
    throw error instanceof ApplicationFailure ? error : failed('', error);
  } finally {
    run.outcomeWaiters -= 1;
  }
};

const refuseAtEnd = (run: Run): void => {
  if (run.ending) throw ending();
};

const refuseWaiter = (run: Run): void => {
  refuseAtEnd(run);
  if (run.outcomeWaiters >= OUTCOME_WAITERS)
    throw ApplicationFailure.create({ message: 'too many wait for the outcome', type: PROCESS_BUSY });
};

/** Waits until no step is in progress, and starts or continues the effect. False: this run must end. */
const isOpen = async (run: Run): Promise<boolean> => {
  await condition(() => run.queue.length === 0);
  if (run.standing !== null) followEffect(run, run.standing.effect);
  // The same `isLong` as in `changeOf`: a long run neither waits nor stays.
  return !waitsForNobody(run) && !isLong(run);
};

/** Waits until something has changed or the run's own next step is due, and runs that step. */
const awaitNext = async (run: Run): Promise<void> => {
  const next = nextStep(run);
  const changed = changeOf(run);
  if (next === null) await condition(changed);
  else if (next.inMs === 0 || !(await condition(changed, next.inMs))) {
    noteTry(run, next.inputs);
    await ownStep(run, next.inputs);
  }
};

/** The run's own next step: a read of the stream while nothing is known, else the deadline; null if it has none. */
const nextStep = ({ standing, steps, failures, tried }: Run): NextStep | null => {
  if (standing === null) {
    const pauseMs = retryDelayMs(Math.max(failures, tried?.times ?? 0));
    return { inMs: steps === 0 ? UPDATE_GRACE_MS : pauseMs, inputs: [] };
  }
  if (standing.due === null) return null;
  const pauseMs = tried === null || tried.atOnce ? 0 : retryDelayMs(tried.times);
  return { inMs: Math.max(Date.parse(standing.due) - nowMs(), pauseMs), inputs: 'deadline' };
};
type NextStep = { readonly inMs: number; readonly inputs: StepArgs['inputs'] };

const noteTry = (run: Run, inputs: StepArgs['inputs']): void => {
  const { standing, tried } = run;
  if (inputs === 'deadline' && standing !== null && standing.due !== null) {
    run.tried = { due: standing.due, times: (tried?.times ?? 0) + 1, atOnce: false };
  } else if (standing === null && tried !== null) run.tried = { ...tried, atOnce: true };
};

/** Returns a function that tests whether what this run waits for has changed since. Another state that waits for the same keeps the timer. */
const changeOf = (run: Run): (() => boolean) => {
  const { standing: known } = run;
  return () =>
    (run.standing === null) !== (known === null) ||
    run.standing?.due !== known?.due ||
    run.standing?.effect?.id !== known?.effect?.id ||
    (run.queue.length === 0 && (isLong(run) || (known !== null && run.effect === null && known.effect !== null)));
};

/** Begins the effect that is waited for, unless it is already running, and ends any other. */
const followEffect = (run: Run, wanted: ProcessStatus['effect']): void => {
  if (run.effect?.id !== wanted?.id) {
    run.effect?.scope.cancel();
    run.effect = null;
  }
  if (run.progress?.id !== wanted?.id) run.progress = null;
  if (wanted === null) return;
  run.progress ??= { id: wanted.id, failures: 0, result: null };
  if (run.effect !== null) return;
  run.effect = { id: wanted.id, scope: new CancellationScope(), isRunning: false };
  const attempt = wanted.background === true ? runInBackground : runEffect;
  // A cancelled run ends the waits in there as well; what is open is taken up from the stream.
  void driveEffect(run, run.effect, run.progress, attempt).catch(() => undefined);
};

/** Runs an effect, and records its result in a step. */
const driveEffect = async (
  run: Run,
  mine: NonNullable<Run['effect']>,
  progress: EffectProgress,
  attempt: Effects['runEffect'],
): Promise<void> => {
  const isOver = (): boolean => run.effect !== mine;
  const pauseAfterFailure = (): Promise<boolean> => condition(isOver, retryDelayMs((progress.failures += 1)));
  if (progress.result === null) {
    mine.isRunning = true;
    progress.result = await mine.scope.run(() => attempt(run.ref, mine.id)).catch(() => null);
    mine.isRunning = false;
  }
  // Its result must not be lost with the store or with this run: the effect may have been expensive. Other steps may succeed meanwhile, so the pauses
  // grow with the failures here.
  while (!isOver() && !(await hasTaken(run, progress.result))) await pauseAfterFailure();
  progress.result = null;
  // Still waited for: the process did not accept the result. It is run again, after a pause.
  if (run.standing?.effect?.id === mine.id) await pauseAfterFailure();
  if (!isOver()) run.effect = null;
};

/** Whether the step for the result of an effect completed, even with a refusal. */
const hasTaken = async (run: Run, input: ProcessInput | null): Promise<boolean> => {
  const result = await ownStep(run, input === null ? [] : [input]);
  if (result === null || result.standing === null) return false;
  return !isPutOff(result) || !patched('keep-put-off-result');
};

const failed = (token: string, cause: unknown): ApplicationFailure =>
  ApplicationFailure.create({
    message: cause instanceof Error ? cause.message : String(cause),
    type: STEP_FAILED,
    nonRetryable: true,
    details: [token],
    ...(cause instanceof Error ? { cause } : {}),
  });

const ending = (): ApplicationFailure => ApplicationFailure.create({ message: 'ask the next run', type: RUN_ENDING });
