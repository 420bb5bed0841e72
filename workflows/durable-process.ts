import {
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';

import type { AskedBy, ProcessInput, ProcessRef } from '../src/ports/process-engine.js';
import { FAR_EFFECT_MS, FAR_EFFECT_SILENCE_MS, FIRST_RETRY_MS, LAST_RETRY_MS, retryDelayMs } from './process-limits.js';
import {
  type Answered,
  ASK,
  type Ask,
  type ProcessActivities,
  type ProcessRun,
  RUN_ENDING,
  type Standing,
  STEP_FAILED,
  type StepArgs,
  type StepResult,
  TELL,
  type Transition,
} from './process-step.js';

// Changing this file while workflows are open: every change of what it does, in which order, stands behind `patched('<name>')`, and the
// recorded histories in test/fixtures are replayed against it. A change of a table, an event or an effect needs nothing of this: they are
// not in here. Should a replay fail all the same, the workflow can be terminated: the stream is the truth, and the next ask or the next
// look at the open processes starts it again (docs/adr/0007-temporal-shell.md).

/** History events after which a run goes on as a new one: replay of a lost one then takes well under a workflow task's 10 s. */
const LONG_HISTORY = 1_000;
/** How long a run that was started by an ask waits for that ask, in milliseconds, before it looks at the stream itself. */
const ASK_GRACE_MS = 5_000;
/** An attempt at a far effect is ended by its worker; the server steps in a minute later. */
const FAR_EFFECT_SERVER_MS = FAR_EFFECT_MS + 60_000;
const TRANSITIONS_KEPT = 20;

const { advanceProcess } = proxyLocalActivities<Pick<ProcessActivities, 'advanceProcess'>>({
  startToCloseTimeout: '10s',
  // Who asked decides whether to ask again; the shell's own steps are repeated below, with the timer that shows.
  retry: { maximumAttempts: 1 },
});
const { runEffect } = proxyActivities<Pick<ProcessActivities, 'runEffect'>>({
  startToCloseTimeout: FAR_EFFECT_SERVER_MS,
  heartbeatTimeout: FAR_EFFECT_SILENCE_MS,
  retry: { initialInterval: FIRST_RETRY_MS, backoffCoefficient: 2, maximumInterval: LAST_RETRY_MS },
});

/** Requests: somebody waits for the answer. */
const askUpdate = defineUpdate<Answered, [Ask], typeof ASK>(ASK);
/** Facts: recorded as soon as possible, nobody waits. With no inputs it looks at the stream, which also ends a wait for the next try. */
const tellSignal = defineSignal<[readonly ProcessInput[]]>(TELL);
const stateQuery = defineQuery<{ standing: Standing | null; transitions: readonly Transition[] }>('state');

/**
 * The one workflow of every process: takes inputs one after the other, waits for deadlines, runs far effects, tries again, and goes on as new.
 * What an input does it does not know: each step is one local activity, which folds the stream and looks the cell up.
 * It is the default of its bundle, which serves every workflow type: the type of a workflow is the name of its process.
 * It ends when the process waits for nothing but askers: the next ask starts it again and finds everything in the stream.
 */
export default async function durableProcess(run: ProcessRun): Promise<void> {
  const { ref } = run;
  let standing: Standing | null = run.standing ?? null;
  let transitions: readonly Transition[] = run.transitions ?? [];
  let line: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let failures = 0;
  let steps = 0;
  let ending = false;
  let effect: { readonly id: string; readonly scope: CancellationScope } | null = null;

  const note = (next: Standing, on: StepArgs['inputs']): void => {
    standing = next;
    if (transitions.at(-1)?.to === next.state) return;
    const names = on === 'deadline' ? on : on.map(({ type }) => type).join(', ');
    const transition = { at: new Date(nowMs()).toISOString(), to: next.state, on: names === '' ? 'look' : names };
    transitions = [...transitions, transition].slice(-TRANSITIONS_KEPT);
    setCurrentDetails(detailsOf(ref, next, transitions));
  };

  const inLine = <T>(work: () => Promise<T>): Promise<T> => {
    waiting += 1;
    const mine = line.then(work).finally(() => (waiting -= 1));
    line = mine.catch(() => undefined);
    return mine;
  };

  const step = async (inputs: StepArgs['inputs'], by: AskedBy | null): Promise<StepResult> => {
    steps += 1;
    try {
      const result = await advanceProcess({ ref, inputs, by });
      if (result.standing === null) standing = null;
      else note(result.standing, inputs);
      failures = result.standing === null ? failures + 1 : 0;
      return result;
    } catch (error) {
      standing = null;
      failures += 1;
      throw error;
    }
  };

  /** A step of the shell's own: what it throws only makes the process unknown, and that is looked at again. */
  const ownStep = (inputs: StepArgs['inputs']): Promise<StepResult | null> =>
    inLine(() => step(inputs, null)).catch(() => null);

  const runs = async (mine: NonNullable<typeof effect>): Promise<void> => {
    const input = await mine.scope.run(() => runEffect(ref, mine.id)).catch(() => null);
    // Its result is not lost with the store: the effect may have been dear.
    while (effect === mine) {
      const result = await ownStep(input === null ? [] : [input]);
      if (result !== null && result.standing !== null) break;
      await condition(() => effect !== mine, retryDelayMs(failures));
    }
    // Still waited for: the process did not take the result. It is run again, but not at once.
    if (standing?.effect?.id === mine.id) await condition(() => effect !== mine, retryDelayMs((failures += 1)));
    if (effect === mine) effect = null;
  };

  const follow = (wanted: Standing['effect']): void => {
    if (effect?.id === wanted?.id) return;
    effect?.scope.cancel();
    effect = wanted === null ? null : { id: wanted.id, scope: new CancellationScope() };
    // A cancelled run ends the waiting in there as well; what is open is taken up from the stream.
    if (effect !== null) void runs(effect).catch(() => undefined);
  };

  // Handlers may run as soon as they are set; everything they use stands above.
  setHandler(
    askUpdate,
    ({ inputs, by, token }) =>
      inLine(async () => {
        try {
          return { token, reply: (await step(inputs, by)).reply };
        } catch (error) {
          throw failed(error instanceof Error ? error.message : String(error), token, error);
        }
      }),
    {
      validator: (_: Ask) => {
        if (ending) throw ApplicationFailure.create({ message: 'ask the next run', type: RUN_ENDING });
      },
    },
  );
  setHandler(tellSignal, async (inputs) => {
    await ownStep(inputs);
  });
  setHandler(stateQuery, () => ({ standing, transitions }));

  if (standing !== null) setCurrentDetails(detailsOf(ref, standing, transitions));
  const isLong = (): boolean => workflowInfo().historyLength > LONG_HISTORY || workflowInfo().continueAsNewSuggested;
  if (run.takeUp) await ownStep([]);
  let triedDue: string | null = null;
  for (;;) {
    // Whatever stands in line may change what is known.
    await condition(() => waiting === 0);
    const known: Standing | null = standing;
    if (known !== null) {
      follow(known.effect);
      if ((known.due === null && known.effect === null) || isLong()) break;
    }
    // Another state that waits for the same leaves the timer as it is.
    const changed = (): boolean =>
      (standing === null) !== (known === null) ||
      standing?.due !== known?.due ||
      standing?.effect?.id !== known?.effect?.id ||
      (waiting === 0 && (isLong() || (known !== null && effect === null && known.effect !== null)));
    const wait: number | null =
      known === null
        ? steps === 0
          ? ASK_GRACE_MS
          : retryDelayMs(failures)
        : known.due === null
          ? null
          : Math.max(Date.parse(known.due) - nowMs(), known.due === triedDue ? FIRST_RETRY_MS : 0);
    if (wait === null) await condition(changed);
    else if (wait === 0 || !(await condition(changed, wait))) {
      triedDue = known?.due ?? null;
      await ownStep(known === null ? [] : 'deadline');
    }
  }

  ending = true;
  await condition(() => waiting === 0 && allHandlersFinished());
  // Signals may have come in while the last answers left.
  const last: Standing | null = standing;
  if (last === null || last.due !== null || last.effect !== null) {
    await continueAsNew<typeof durableProcess>({
      ref,
      takeUp: last === null,
      ...(last === null ? {} : { standing: last }),
      transitions,
    });
  }
}

/** In here this is Temporal's clock, which replay repeats. */
// eslint-disable-next-line no-restricted-properties -- see above
const nowMs = (): number => Date.now();

const failed = (message: string, token: string, cause?: unknown): ApplicationFailure =>
  ApplicationFailure.create({
    message,
    type: STEP_FAILED,
    nonRetryable: true,
    details: [token],
    ...(cause instanceof Error ? { cause } : {}),
  });

/** Markdown for Temporal's own page. */
const detailsOf = (ref: ProcessRef, { state, due, effect }: Standing, transitions: readonly Transition[]): string =>
  [
    `**${state}** (${ref.process} \`${ref.id}\` in \`${ref.stream}\`)`,
    due === null ? null : `due ${due}`,
    effect === null ? null : `runs ${effect.name}`,
    '',
    ...transitions.map(({ at, to, on }) => `- ${at} ${on} → ${to}`),
  ]
    .filter((part) => part !== null)
    .join('\n');
