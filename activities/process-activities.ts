import { askedBySystem } from '../src/app/streams/command-id.js';
import type { Instance } from '../src/app/processes/process-journal.js';
import { Rejection } from '../src/domain/shared/rejection.js';
import type { Clock } from '../src/ports/clock.js';
import type { AskedBy, ProcessInput, ProcessRef } from '../src/ports/process-engine.js';
import type { Random } from '../src/ports/random.js';
import { type AnyProcess, statusOf } from '../workflows/process.js';
import type { Refused, Reply, Standing, StepArgs, StepResult } from '../workflows/process-step.js';
import { advance, type AdvanceDeps, type Advanced, hosted } from './advance.js';

/** Answers above this many bytes of JSON do not travel through the engine, which refuses payloads of 2 MiB and copies each one twice. */
export const ANSWER_BYTES = 256 * 1024;

export type ProcessActivityDeps = AdvanceDeps & { readonly clock: Clock; readonly random: Random };

/**
 * One step for a shell that knows no table: `advance`, with refusals as values and with what the shell must know to go on.
 * `deadline` is taken only if it has fallen due by what the stream says now: the shell's timer may be older than the state.
 * @throws what is not a refusal
 */
export const advanceProcess = async (deps: ProcessActivityDeps, { ref, inputs, by }: StepArgs): Promise<StepResult> => {
  const { process } = hosted(deps.processes, ref.process);
  const asker = by ?? askedBySystem(deps, ref.stream);
  try {
    const advanced =
      inputs === 'deadline' ? await expire(deps, process, ref, asker) : await advance(deps, ref, inputs, asker);
    return { reply: replyOf(advanced), standing: standingOf(process, advanced.state) };
  } catch (thrown) {
    if (!(thrown instanceof Rejection)) throw thrown;
    const instance = await deps.journal.load(process, ref).catch(() => null);
    return { reply: { refused: refusedOf(thrown) }, standing: instance && standingOf(process, instance.state) };
  }
};

/** The input that the far effect `effectId` makes; null when the process waits for it no longer. @throws what the effect throws */
export const runEffect = async (
  deps: ProcessActivityDeps,
  ref: ProcessRef,
  effectId: string,
  signal: AbortSignal,
): Promise<ProcessInput | null> => {
  const host = hosted(deps.processes, ref.process);
  const { state } = await deps.journal.load(host.process, ref);
  const { effect } = statusOf(host.process, state);
  return effect?.id === effectId ? host.effect(ref, effect, signal) : null;
};

const expire = async (
  deps: ProcessActivityDeps,
  process: AnyProcess,
  ref: ProcessRef,
  by: AskedBy,
): Promise<Advanced> => {
  const looked = await advance(deps, ref, [], by);
  const { deadline } = statusOf(process, looked.state);
  if (deadline === null || Date.parse(deadline.at) > deps.clock.now().getTime()) return looked;
  return advance(deps, ref, [deadline.input], by);
};

const replyOf = ({ answer, revision, position }: Advanced): Reply => {
  const at = { revision, position };
  if (answer === undefined) return at;
  return Buffer.byteLength(JSON.stringify(answer)) > ANSWER_BYTES ? { ...at, large: true } : { ...at, answer };
};

const refusedOf = ({ code, message, details, retryAfter }: Rejection): Refused => ({
  code,
  message,
  details,
  ...(retryAfter === undefined ? {} : { retryAfter }),
});

const standingOf = (process: AnyProcess, state: Instance['state']): Standing => {
  const { deadline, effect } = statusOf(process, state);
  return {
    state: state.name,
    due: deadline?.at ?? null,
    effect: effect === null || effect.near ? null : { id: effect.id, name: effect.name },
  };
};
