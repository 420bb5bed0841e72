import type { RecalledMemory, Verdict } from '../npcs/domain/events.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { CortexEngine } from '../../ports/cortex.js';
import type { Embedder } from '../../ports/embedder.js';
import type { StepAnswer } from '../../ports/process-runtime.js';
import type { AgentTurnAnswer } from '../../../workflows/agent-turn.js';
import type { SingleFlight } from '../../kernel/concurrency/single-flight.js';
import { withTimeLimit } from '../../kernel/concurrency/time-limit.js';
import { type AgentInput, agentTurnRef, retryKey, stateOf, takeInput, type TakeDeps } from './take-input.js';
import { sharedOutcome } from '../../kernel/processes/shared-outcome.js';
import type { createSentences } from './sentences.js';
import { whenDown } from './when-down.js';
import { streamEnd } from '../../kernel/streams/stream-end.js';

export type AgentDeps = TakeDeps & {
  /** How long a request waits for the outcome, in milliseconds (ANIMA_AGENT_WAIT_MS). */
  readonly waitMs: number;
  readonly embedder: Pick<Embedder, 'id' | 'down'>;
  /** The current waits. An engine allows only a few waits for one outcome, so this process waits once for each turn. */
  readonly waits: SingleFlight<StepAnswer>;
  /** Finds the sentences of a verdict once for all requests that follow its turn. */
  readonly sentences: ReturnType<typeof createSentences>;
};

/** A turn with its verdict, and the end of the mind's stream after it: a list must have reached it to show what the turn wrote. */
export type AgentOutcome = {
  readonly turnId: string;
  readonly memories: readonly RecalledMemory[];
  readonly verdict: Verdict;
  readonly revision: number;
  readonly position: number;
};

/** How long before its deadline a request checks the progress of its turn, in milliseconds: the error reports it if there is no verdict. */
const CHECK_BEFORE_MS = 500;

/**
 * Runs one turn on this server to its verdict, within the request's total time limit. The turn continues if its caller leaves.
 * @throws Rejection as `noVerdictYet` if there is no verdict in time, or the engine is known to be down; STORE_UNAVAILABLE if there is one but the
 * store does not report the end of its stream in time; and as `takeInput`
 */
export const processInput = async (deps: AgentDeps, asked: AgentInput): Promise<AgentOutcome> => {
  const { clock, engineOf, waitMs, retries } = deps;
  const { stream } = asked;
  const cortex = engineOf(asked.by.tenant);
  const untilMs = clock.monotonicMs() + waitMs;
  const turnId = await takeInput(deps, asked, untilMs);
  const ms = Math.max(untilMs - clock.monotonicMs(), 0);
  let hasRecalled = false;
  const checkRecall = async (): Promise<void> => {
    hasRecalled = (await stateOf(deps, stream, turnId)).name !== 'awaitingMemories';
  };
  // A failed read counts as not having recalled.
  const stopCheck = clock.after(Math.max(ms - CHECK_BEFORE_MS, 0), () => void checkRecall().catch(() => undefined));
  const late = (): Rejection => noVerdictYet(turnId, cortex, deps.embedder, hasRecalled);
  const { signal, stop } = whenDown(clock, cortex, late);
  try {
    const outcome = await withTimeLimit(clock, { ms, late, signal }, (limited) =>
      sharedOutcome(deps, agentTurnRef(stream, turnId), asked.by, limited),
    );
    const answer = outcome.answer as AgentTurnAnswer | undefined;
    if (answer?.failure !== undefined) throw new TurnFailed(turnId, cortex, answer.failure.reason);
    if (answer?.verdict === undefined) throw new TurnExpired(turnId, cortex, answer?.recalled !== false);
    const end = await streamEndInTime(deps, stream, turnId, untilMs);
    return { turnId, memories: answer.memories, verdict: answer.verdict, ...end };
  } catch (error) {
    if (!(error instanceof TurnExpired || error instanceof TurnFailed)) retries.expect(retryKey(asked), turnId);
    throw error;
  } finally {
    stop();
    stopCheck();
  }
};

/**
 * The end of a mind's stream, for an answer that is due at `untilMs` on the monotonic clock.
 * @throws Rejection STORE_UNAVAILABLE if the store does not answer in time, and what it throws
 */
export const streamEndInTime = (
  { clock, events }: Pick<AgentDeps, 'clock' | 'events'>,
  stream: string,
  turnId: string,
  untilMs: number,
): ReturnType<typeof streamEnd> => {
  const late = (): Rejection =>
    new Rejection('STORE_UNAVAILABLE', {
      message: 'The turn has ended, but the event store did not respond in time. Send the same request again.',
      details: { turnId },
      retryAfter: 1,
    });
  const ms = Math.max(untilMs - clock.monotonicMs(), 0);
  return withTimeLimit(clock, { ms, late }, () => streamEnd(events, stream));
};

/**
 * CORTEX_UNAVAILABLE if the turn is known to have recalled, or its engine is known to be down; EMBEDDER_UNAVAILABLE if it is not, and the last call
 * of this process to the embedder failed; otherwise ENGINE_UNAVAILABLE, because often only another process has the cause of a delayed recall (promise
 * 7.1o).
 * @param engine gives the reason, if it is known
 * @param hasRecalled whether the turn is known to have its memories
 */
export const noVerdictYet = (
  turnId: string,
  engine: Pick<CortexEngine, 'id' | 'down' | 'problem'>,
  embedder: Pick<Embedder, 'id' | 'down'>,
  hasRecalled: boolean,
): Rejection => {
  const down = engine.down();
  if (down !== null || hasRecalled) {
    const problem = engine.problem?.() ?? 'The engine did not respond in time.';
    const reason = down ?? `${problem} The turn continues.`;
    return new Rejection('CORTEX_UNAVAILABLE', { details: { turnId, cortexId: engine.id, reason }, retryAfter: 1 });
  }
  const reason = embedder.down?.() ?? null;
  if (reason === null) {
    return new Rejection('ENGINE_UNAVAILABLE', {
      message: 'The turn has not completed its recall yet. The turn continues; send the same request again.',
      details: { turnId },
      retryAfter: 1,
    });
  }
  return new Rejection('EMBEDDER_UNAVAILABLE', {
    message: `The turn is waiting for its recall. ${reason} The turn continues.`,
    details: { turnId, embedder: embedder.id, reason },
    retryAfter: 1,
  });
};

/** A turn that ended without a verdict, because the engine gave no text in any attempt: no retry can get one. */
export class TurnFailed extends Rejection {
  constructor(turnId: string, { id }: Pick<CortexEngine, 'id'>, reason: string) {
    super('CORTEX_NO_ANSWER', { details: { turnId, cortexId: id, reason } });
  }
}

const OPENS_ANOTHER = 'Sending the same input opens a new turn.';

/** A turn that ended without a verdict: no retry can get one. If it never had its memories, the engine was not asked. */
export class TurnExpired extends Rejection {
  constructor(turnId: string, { id }: Pick<CortexEngine, 'id'>, hasRecalled: boolean) {
    if (hasRecalled) {
      const reason = `The turn expired without a verdict. ${OPENS_ANOTHER}`;
      super('CORTEX_UNAVAILABLE', { details: { turnId, cortexId: id, reason }, retryAfter: 1 });
    } else {
      const message = `The turn expired before its recall was complete; the engine was not called. ${OPENS_ANOTHER}`;
      super('ENGINE_UNAVAILABLE', { message, details: { turnId }, retryAfter: 1 });
    }
  }
}
