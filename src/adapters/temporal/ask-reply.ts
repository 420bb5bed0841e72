import { type Ask, ASK, type AskResult, type Reply } from '../../../workflows/process-step.js';
import { type Json, jcs } from '../../domain/shared/json.js';
import { sha256Base64url } from '../../domain/shared/sha256.js';
import type { Clock } from '../../ports/clock.js';
import type { ProcessRef } from '../../ports/process-engine.js';
import { updateFailureOf } from './failures.js';
import type { ProcessWorkflows } from './process-workflows.js';

/** How long one ask may take while Temporal answers, in milliseconds: a killed worker's process goes on elsewhere within 2 s. */
export const ASK_TIMEOUT_MS = 8_000;

export type AskDeps = {
  readonly workflows: Pick<ProcessWorkflows, 'update'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
};

/**
 * The same ask has the same update id, so that a repeat is answered by the server alone. Only answers are kept so: a refusal or a failure that
 * the server remembers of an earlier ask is asked for afresh, within the same ASK_TIMEOUT_MS.
 * @throws what the step threw, and as `ProcessWorkflows.update`
 */
export const replyTo = async ({ workflows, clock }: AskDeps, ref: ProcessRef, ask: Ask): Promise<Reply> => {
  const untilMs = clock.monotonicMs() + ASK_TIMEOUT_MS;
  const digest = digestOf(ref, [ask.by.commandId, ask.inputs]);
  for (const id of [digest, `${digest}.${ask.token}`]) {
    const timeoutMs = untilMs - clock.monotonicMs();
    const update = { name: ASK, argOf: () => ask, idOf: () => id, timeoutMs };
    try {
      const { reply, token } = await workflows.update<AskResult>(ref, update);
      if (!('refused' in reply) || token === ask.token) return reply;
    } catch (error) {
      const failure = updateFailureOf(error);
      if (failure.kind !== 'threw') throw error;
      if (failure.token === null || failure.token === ask.token) throw failure.cause;
    }
  }
  throw new Error('the answer to an ask under an id of its own belongs to another ask');
};

/** An update id: the server answers the same content for the same process once. */
export const digestOf = ({ process, id, stream }: ProcessRef, of: readonly Json[]): string =>
  sha256Base64url(jcs([process, id, stream, ...of]));
