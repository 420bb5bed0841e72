import { systemContext } from '../src/kernel/streams/command-id.js';
import { withTimeLimit } from '../src/kernel/concurrency/time-limit.js';
import { Rejection } from '../src/kernel/base/rejection.js';
import type { CommandContext } from '../src/kernel/base/command-context.js';
import type { ProcessInput, ProcessRef } from '../src/ports/process-runtime.js';
import type { Clock } from '../src/ports/clock.js';
import type { Random } from '../src/ports/random.js';
import { deadlineOf, pendingEffect, statusOf } from '../src/kernel/processes/state-machine.js';
import { EFFECT_MS } from '../src/kernel/processes/process-limits.js';
import type { Refusal, Reply, StepArgs, StepResult } from '../src/kernel/processes/process-step.js';
import { advance, type AdvanceDeps, type Advanced, processNamed } from './advance.js';
import { defined } from '../src/kernel/base/defined.js';

/** Answers above this many bytes of JSON are not sent through Temporal, which refuses payloads of 2 MiB and copies each one twice. */
export const ANSWER_BYTES = 256 * 1024;

export type ProcessActivityDeps = AdvanceDeps & { readonly clock: Clock; readonly random: Random };

/**
 * One step for a runtime without state machines: `advance`, with refusals as values and with what the runtime needs to continue. `deadline` is
 * handled only if it is due according to the stream now: the runtime's timer may be older than the state.
 * @throws what is not a refusal
 */
export const advanceProcess = async (deps: ProcessActivityDeps, { ref, inputs, by }: StepArgs): Promise<StepResult> => {
  const { process } = processNamed(deps.processes, ref.process);
  const asker = by ?? systemContext(deps, ref.stream);
  try {
    const advanced = await (inputs === 'deadline' ? expire(deps, ref, asker) : advance(deps, ref, inputs, asker));
    return { reply: replyOf(advanced), standing: statusOf(process, advanced.state) };
  } catch (thrown) {
    if (!(thrown instanceof Rejection)) throw thrown;
    const instance = await deps.repository.load(process, ref).catch(() => null);
    return { reply: { refused: refusalOf(thrown) }, standing: instance && statusOf(process, instance.state) };
  }
};

/**
 * One attempt at the effect `effectId`: the input that it produces; null if the process no longer waits for it. Its signal aborts with `signal`, and
 * when the attempt takes longer than the process or EFFECT_MS allows.
 * @throws what the effect throws, Error when it is late, and the reason of `signal`
 */
export const runEffect = async (
  deps: ProcessActivityDeps,
  ref: ProcessRef,
  effectId: string,
  signal: AbortSignal,
): Promise<ProcessInput | null> => {
  const effects = processNamed(deps.processes, ref.process);
  const { state } = await deps.repository.load(effects.process, ref);
  const effect = pendingEffect(effects.process, state);
  if (effect?.id !== effectId) return null;
  const { effectMs = EFFECT_MS } = effects;
  const ms = Math.min(typeof effectMs === 'number' ? effectMs : effectMs(effect), EFFECT_MS);
  const late = (): Error => new Error(`the effect ${effect.name} took longer than ${String(ms)} ms`);
  return withTimeLimit(deps.clock, { ms, late, signal }, (limited) => effects.effect(ref, effect, limited));
};

/**
 * The step for a deadline that may be due. The state is folded first, because a runtime's timer may be older.
 * @throws as `advance`
 */
export const expire = async (deps: ProcessActivityDeps, ref: ProcessRef, by: CommandContext): Promise<Advanced> => {
  const { process } = processNamed(deps.processes, ref.process);
  const deadline = deadlineOf(process, (await deps.repository.load(process, ref)).state);
  const isDue = deadline !== null && Date.parse(deadline.at) <= deps.clock.now().getTime();
  return advance(deps, ref, isDue ? [deadline.input] : [], by);
};

const replyOf = ({ answer, revision, position }: Advanced): Reply => {
  const at = { revision, position };
  if (answer === undefined) return at;
  return Buffer.byteLength(JSON.stringify(answer)) > ANSWER_BYTES ? { ...at, large: true } : { ...at, answer };
};

const refusalOf = ({ code, message, details, retryAfter }: Rejection): Refusal => ({
  code,
  message,
  details,
  ...defined({ retryAfter }),
});
