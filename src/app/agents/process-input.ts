import type { RecalledMemory, Verdict } from '../../domain/npc/events.js';
import { Rejection } from '../../domain/shared/rejection.js';
import type { CortexEngine } from '../../ports/cortex.js';
import { OUTCOME_WAIT_MS, processKey, type StepAnswer } from '../../ports/process-engine.js';
import type { AgentTurnAnswer } from '../../../workflows/agent-turn.js';
import type { SharedWork } from '../pacing/shared-work.js';
import { withTimeLimit } from '../pacing/time-limit.js';
import { type AgentInput, agentTurnRef, sameInput, takeInput, type TakeDeps } from './take-input.js';
import { untilDown } from './until-down.js';

export type AgentDeps = TakeDeps & {
  /** How long a request waits for the outcome, in milliseconds (ANIMA_AGENT_WAIT_MS). */
  readonly waitMs: number;
  readonly engineOf: (tenant: string) => CortexEngine;
  /** The waits under way. An engine lets only a few wait for one outcome, so this process waits once for each turn. */
  readonly waits: SharedWork<StepAnswer>;
};

/** A turn with its verdict, and where the mind's stream stood. */
export type AgentOutcome = {
  readonly turnId: string;
  readonly memories: readonly RecalledMemory[];
  readonly verdict: Verdict;
  readonly revision: number;
  readonly position: number;
};

/**
 * One turn on this server, to its verdict, within the time that a request has for all of it. The turn goes on without its asker.
 * @throws Rejection CORTEX_UNAVAILABLE when there is no verdict in time, or the engine is known to be down; and as `takeInput`
 */
export const processInput = async (deps: AgentDeps, asked: AgentInput): Promise<AgentOutcome> => {
  const { clock, engineOf, waitMs, unanswered } = deps;
  const cortex = engineOf(asked.by.tenant);
  const untilMs = clock.monotonicMs() + waitMs;
  const turnId = await takeInput(deps, asked, untilMs);
  const late = (): Rejection => noVerdictYet(turnId, cortex);
  try {
    const ms = Math.max(untilMs - clock.monotonicMs(), 0);
    const outcome = await untilDown(clock, cortex, (signal) =>
      withTimeLimit(clock, { ms, late, signal }, (limited) => sharedOutcome(deps, asked, turnId, limited)),
    );
    const answer = outcome?.answer as AgentTurnAnswer | undefined;
    if (!outcome || answer?.verdict === undefined) throw late();
    const { revision, position } = outcome;
    return { turnId, memories: answer.memories, verdict: answer.verdict, revision, position };
  } catch (error) {
    unanswered.noted(sameInput(asked), turnId);
    throw error;
  }
};

/** Ends only with the outcome, or when nobody waits for it any more. */
const sharedOutcome = (
  { engine, waits }: AgentDeps,
  { stream, by }: AgentInput,
  turnId: string,
  left: AbortSignal,
): Promise<StepAnswer> => {
  const ref = agentTurnRef(stream, turnId);
  return waits.join(processKey(ref), left, async (signal) => {
    for (;;) {
      const outcome = await engine.outcome(ref, by, { withinMs: OUTCOME_WAIT_MS, signal });
      if (outcome !== null) return outcome;
    }
  });
};

/** @param engine says why, where it knows */
export const noVerdictYet = (turnId: string, engine: Pick<CortexEngine, 'id' | 'down'>): Rejection => {
  const reason = engine.down() ?? 'It has not answered in time; the turn goes on.';
  return new Rejection('CORTEX_UNAVAILABLE', { details: { turnId, cortexId: engine.id, reason }, retryAfter: 1 });
};
