import type { RecalledMemory, Verdict } from '../../domain/npc/events.js';
import { requireRecordable } from '../../domain/npc/recorded-bytes.js';
import { comparisonText } from '../../domain/npc/same.js';
import { makeTurnId } from '../../domain/npc/turn-id.js';
import type { JsonObject } from '../../domain/shared/json.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { shortDigest } from '../../domain/shared/sha256.js';
import type { CortexEngine } from '../../ports/cortex.js';
import type { ProcessRef } from '../../ports/process-engine.js';
import { agentTurn, type AgentTurnAnswer, type AgentTurnInput } from '../../../workflows/agent-turn.js';
import type { TurnState } from '../../../workflows/turn-state.js';
import { mindFold } from '../minds/mind.js';
import { anotherAttempt, type TurnAttempt } from '../turns/another-attempt.js';
import type { StepDeps } from '../turns/step-turn.js';
import { saidKey } from '../turns/turn-key.js';
import { untilDown } from './until-down.js';

export type AgentDeps = StepDeps & {
  /** How long a request waits for the outcome, in milliseconds (ANIMA_AGENT_WAIT_MS). */
  readonly waitMs: number;
  readonly engineOf: (tenant: string) => CortexEngine;
};

/** What is said to an agent (contract 7.1). */
export type AgentInput = TurnAttempt & {
  readonly input: string;
  readonly context: JsonObject;
  /** Overlays the mind's recorded state for this turn. */
  readonly npcState: JsonObject;
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
 * Opens a turn on this server, or joins an open one with the same input, context and state.
 * @returns the turn's id
 * @throws Rejection EVENTS_TOO_LARGE, and as ProcessEngine.ask
 */
export const takeInput = (deps: AgentDeps, asked: AgentInput): Promise<string> => {
  const { input: observation, context, npcState, stream } = asked;
  requireRecordable([observation, context, npcState]);
  const said = saidKey(observation, context);
  const line = `agent ${stream} ${shortDigest(`${said} ${comparisonText(npcState)}`)}`;
  // One after the other, so that the second of two equal requests finds the turn of the first.
  return deps.journal.inTurn(line, () => beginOrJoin(deps, asked, said));
};

/**
 * One turn on this server, to its verdict. The turn goes on without its asker.
 * @throws Rejection CORTEX_UNAVAILABLE when there is no verdict in time, or the engine is known to be down; and as `takeInput`
 */
export const processInput = async (deps: AgentDeps, asked: AgentInput): Promise<AgentOutcome> => {
  const { clock, engine, engineOf, waitMs } = deps;
  const cortex = engineOf(asked.by.tenant);
  const untilMs = clock.monotonicMs() + waitMs;
  const turnId = await takeInput(deps, asked);
  const withinMs = Math.max(untilMs - clock.monotonicMs(), 0);
  const outcome = await untilDown(clock, cortex, (signal) =>
    engine.outcome(refOf(asked.stream, turnId), asked.by, { withinMs, signal }),
  );
  const answer = outcome?.answer as AgentTurnAnswer | undefined;
  if (!outcome || answer?.verdict === undefined) throw noVerdictYet(turnId, cortex);
  const { revision, position } = outcome;
  return { turnId, memories: answer.memories, verdict: answer.verdict, revision, position };
};

const refOf = (stream: string, id: string): ProcessRef => ({ process: agentTurn.name, id, stream });

/** @param engine says why, where it knows */
export const noVerdictYet = (turnId: string, engine: Pick<CortexEngine, 'id' | 'down'>): Rejection => {
  const reason = engine.down() ?? 'It has not answered in time; the turn goes on.';
  return new Rejection('CORTEX_UNAVAILABLE', { details: { turnId, cortexId: engine.id, reason }, retryAfter: 1 });
};

const beginOrJoin = async (deps: AgentDeps, asked: AgentInput, said: string): Promise<string> => {
  const { earlier, since } = await anotherAttempt(deps, agentTurn, asked);
  if (earlier !== null && earlier.name !== 'expired') return earlier.turnId;
  return (await openTurn(deps, asked, said)) ?? begin(deps, asked, since);
};

/** The newest open agent's turn with the same input, context and state. */
const openTurn = async (
  { index, journal, clock }: AgentDeps,
  { stream, npcState }: AgentInput,
  said: string,
): Promise<string | null> => {
  const nowMs = clock.now().getTime();
  const same = (await index.recent(stream)).filter(
    (turn) => turn.agent && turn.awaits !== null && turn.deadlineMs > nowMs && turn.said === said,
  );
  for (const { turnId } of same) {
    const state = (await journal.load(agentTurn, refOf(stream, turnId))).state as TurnState;
    const isOpen = state.name === 'awaitingMemories' || state.name === 'awaitingInference';
    if (isOpen && comparisonText(state.npcState) === comparisonText(npcState)) return turnId;
  }
  return null;
};

const begin = async (
  { engine, lanes, clock, turnDeadlineMs }: AgentDeps,
  { stream, by, input: observation, context, npcState }: AgentInput,
  since: number | undefined,
): Promise<string> => {
  const nowMs = clock.now().getTime();
  const revision = since ?? (await lanes.current(stream, mindFold)).revision;
  const turnId = makeTurnId('process', revision, nowMs, by.commandId);
  const opening: AgentTurnInput = {
    type: 'open',
    turnId,
    observation,
    context,
    npcState,
    deadlineAt: new Date(nowMs + turnDeadlineMs).toISOString(),
  };
  await engine.ask(refOf(stream, turnId), [opening], by);
  return turnId;
};
