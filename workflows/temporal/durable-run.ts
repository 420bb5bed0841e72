import {
  type CancellationScope,
  continueAsNew,
  patched,
  proxyLocalActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';

import type { CommandContext } from '../../src/kernel/base/command-context.js';
import type { ProcessRef } from '../../src/ports/process-runtime.js';
import { RESULT_BYTES } from '../../src/kernel/processes/process-limits.js';
import {
  type EffectProgress,
  isFinal,
  payloadBytes,
  type ProcessActivities,
  type RunInput,
  type ProcessStatus,
  type StepArgs,
  type StepResult,
  type ReachedState,
} from '../../src/kernel/processes/process-step.js';

// A part of durable-process.ts: its comment on changes applies here as well.

/** History events after which a run continues as new: replay of a lost one then takes well under a workflow task's 10 s. */
const LONG_HISTORY = 1_000;
/**
 * The same limit while an attempt at an effect runs, which would begin again with the next run: in events, bytes and steps. Temporal accepts 51,200
 * events, 50 MB and 2,000 updates in one run, and each update takes at least one step.
 */
const LONGEST_HISTORY = 10_000;
const LONGEST_HISTORY_BYTES = 16 * 1024 * 1024;
const LONGEST_RUN_STEPS = 1_800;
const TRANSITIONS_KEPT = 20;

const { advanceProcess } = proxyLocalActivities<Pick<ProcessActivities, 'advanceProcess'>>({
  startToCloseTimeout: '10s',
  // The caller decides whether to ask again; the runtime's own steps are repeated by the workflow, with a visible timer.
  retry: { maximumAttempts: 1 },
});

/** One run of the workflow, as its handlers and its loop share it. */
export type Run = {
  readonly ref: ProcessRef;
  /** The state of the process; null while unknown. */
  standing: ProcessStatus | null;
  transitions: readonly ReachedState[];
  /** The steps that wait for each other. */
  queue: { readonly end: Promise<unknown>; readonly length: number };
  steps: number;
  /** How many steps in a row failed. */
  failures: number;
  /** The deadline that was tried last, how often, and whether it may be tried again immediately, because what was unknown has been read meanwhile. */
  tried: { readonly due: string; readonly times: number; readonly atOnce: boolean } | null;
  /** The effect in progress, and whether an attempt at it runs. */
  effect: { readonly id: string; readonly scope: CancellationScope; isRunning: boolean } | null;
  /** The progress of the effect that is waited for; the next run needs it too. */
  progress: EffectProgress | null;
  outcomeWaiters: number;
  ending: boolean;
};

export const beginRun = (input: RunInput): Run => {
  const { ref, standing, transitions, failures, progress } = input;
  const run: Run = {
    ref,
    standing: standing ?? null,
    transitions: transitions ?? [],
    queue: { end: Promise.resolve(), length: 0 },
    steps: 0,
    failures: failures ?? 0,
    tried: null,
    effect: null,
    progress: progress ?? null,
    outcomeWaiters: 0,
    ending: false,
  };
  showDetails(run);
  return run;
};

/** Ends this run; the next one continues with its state. */
export const goOnAsNew = ({ ref, standing, transitions, failures, progress }: Run): Promise<never> =>
  continueAsNew<(run: RunInput) => Promise<void>>({
    ref,
    takeUp: standing === null,
    ...(standing === null ? {} : { standing }),
    transitions,
    ...(failures === 0 ? {} : { failures }),
    ...(progress === null ? {} : { progress: travelling(progress) }),
  });

/** Drops a result that is larger than an append holds: it would never be recorded, and might not fit into a run's input. */
const travelling = (progress: EffectProgress): EffectProgress =>
  payloadBytes(progress.result) > RESULT_BYTES ? { ...progress, result: null } : progress;

/** Whether this run must end. It ends as late as possible if an attempt at an effect would be lost with it. */
export const isLong = ({ effect, steps }: Run): boolean => {
  const { historyLength, historySize, continueAsNewSuggested } = workflowInfo();
  if (historyLength <= LONG_HISTORY && !continueAsNewSuggested) return false;
  if (effect?.isRunning !== true || !patched('finish-attempt')) return true;
  return historyLength > LONGEST_HISTORY || historySize > LONGEST_HISTORY_BYTES || steps > LONGEST_RUN_STEPS;
};

/** Whether nothing more happens until a caller asks the process. */
export const waitsForNobody = ({ standing }: Run): boolean =>
  standing !== null && standing.due === null && standing.effect === null;

/** A step, after those that came before it. @throws what it throws */
export const queueStep = (run: Run, inputs: StepArgs['inputs'], by: CommandContext | null): Promise<StepResult> => {
  const mine = run.queue.end
    .then(() => step(run, inputs, by))
    .finally(() => {
      run.queue = { ...run.queue, length: run.queue.length - 1 };
    });
  run.queue = { end: mine.catch(() => undefined), length: run.queue.length + 1 };
  return mine;
};

/** A step of the runtime's own. If it throws, the state of the process is unknown, and is read again. */
export const ownStep = (run: Run, inputs: StepArgs['inputs']): Promise<StepResult | null> =>
  queueStep(run, inputs, null).catch(() => null);

/** Whether the step was refused temporarily. */
export const isPutOff = ({ reply }: StepResult): boolean => 'refused' in reply && !isFinal(reply.refused);

const step = async (run: Run, inputs: StepArgs['inputs'], by: CommandContext | null): Promise<StepResult> => {
  run.steps += 1;
  try {
    const result = await advanceProcess({ ref: run.ref, inputs, by });
    if (result.standing === null) becomeUnknown(run);
    else stand(run, result.standing, inputs);
    return result;
  } catch (error) {
    becomeUnknown(run);
    throw error;
  }
};

const becomeUnknown = (run: Run): void => {
  run.standing = null;
  run.failures += 1;
};

const stand = (run: Run, standing: ProcessStatus, on: StepArgs['inputs']): void => {
  run.standing = standing;
  run.failures = 0;
  if (run.tried?.due !== standing.due) run.tried = null;
  if (run.transitions.at(-1)?.to === standing.state) return;
  const names = on === 'deadline' ? on : on.map(({ type }) => type).join(', ');
  const transition = { at: new Date(nowMs()).toISOString(), to: standing.state, on: names === '' ? 'look' : names };
  run.transitions = [...run.transitions, transition].slice(-TRANSITIONS_KEPT);
  showDetails(run);
};

/** In a workflow this is Temporal's clock, which replay repeats. */
// eslint-disable-next-line no-restricted-properties -- see above
export const nowMs = (): number => Date.now();

/** Markdown for Temporal's own page. */
const showDetails = ({ ref, standing, transitions }: Run): void => {
  if (standing === null) return;
  const { state, due, effect } = standing;
  const lines = [
    `**${state}** (${ref.process} \`${ref.id}\` in \`${ref.stream}\`)`,
    due === null ? null : `due ${due}`,
    effect === null ? null : `runs ${effect.name}`,
    '',
    ...transitions.map(({ at, to, on }) => `- ${at} ${on} → ${to}`),
  ];
  setCurrentDetails(lines.filter((line) => line !== null).join('\n'));
};
