import {
  type StepUpdateRequest,
  STEP_UPDATE,
  type StepUpdateResult,
  type Reply,
} from '../../kernel/processes/process-step.js';
import { type Json, jcs } from '../../kernel/base/json.js';
import { sha256Base64url } from '../../kernel/crypto/sha256.js';
import type { Clock } from '../../ports/clock.js';
import type { ProcessRef } from '../../ports/process-runtime.js';
import { defined } from '../../kernel/base/defined.js';
import { runtimeRefusal } from './runtime-refusal.js';
import { updateFailureOf } from './failures.js';
import type { ProcessWorkflows } from './process-workflows.js';
import type { ServerClock } from './server-clock.js';

/** How long one update may take while Temporal answers, in milliseconds: a killed worker's process continues elsewhere within 5 s. */
export const UPDATE_TIMEOUT_MS = 8_000;

export type StepUpdateDeps = {
  readonly workflows: Pick<ProcessWorkflows, 'update'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly serverClock: ServerClock;
  readonly signal?: AbortSignal;
};

/**
 * The same update has the same update id, so that the server alone answers a repeat. Only answers are reused: if the server remembers a refusal or a
 * failure of an earlier update, the update is sent under a new id, within the same UPDATE_TIMEOUT_MS.
 * @throws what the step threw, Rejection ENGINE_UNAVAILABLE if it came too late, and as `ProcessWorkflows.update`
 */
export const replyTo = async (
  { workflows, clock, serverClock, signal }: StepUpdateDeps,
  ref: ProcessRef,
  ask: StepUpdateRequest,
): Promise<Reply> => {
  const untilMs = clock.monotonicMs() + UPDATE_TIMEOUT_MS;
  const digest = digestOf(ref, [ask.by.commandId, ask.inputs]);
  for (const id of [digest, `${digest}.${ask.token}`]) {
    const sentMs = clock.monotonicMs();
    const argOf = (): StepUpdateRequest => ({ ...ask, ...defined({ untilMs: serverClock.at(untilMs) ?? undefined }) });
    const update = { name: STEP_UPDATE, argOf, idOf: () => id, timeoutMs: untilMs - sentMs, signal };
    try {
      const { reply, token, atMs } = await workflows.update<StepUpdateResult>(ref, update);
      // An answer that the server remembers of an earlier update has an earlier time.
      if (token === ask.token && atMs !== undefined) serverClock.note(sentMs, atMs);
      if (!('refused' in reply) || token === ask.token) return reply;
    } catch (error) {
      const failure = updateFailureOf(error);
      // It was late for an earlier caller, or the assumed difference of the clocks is wrong.
      if (failure.kind === 'late') serverClock.reset();
      else if (failure.kind !== 'threw') throw error;
      else if (failure.token === null || failure.token === ask.token) throw failure.cause;
    }
  }
  throw runtimeRefusal('ENGINE_UNAVAILABLE');
};

/** An update id: the server answers the same content for the same process once. */
export const digestOf = ({ process, id, stream }: ProcessRef, of: readonly Json[]): string =>
  sha256Base64url(jcs([process, id, stream, ...of]));
