import { requireRecordable } from '../../domain/npc/recorded-bytes.js';
import { comparisonText } from '../../domain/npc/same.js';
import { makeTurnId } from '../../domain/npc/turn-id.js';
import type { JsonObject } from '../../domain/shared/json.js';
import { shortDigest } from '../../domain/shared/sha256.js';
import type { ProcessRef } from '../../ports/process-engine.js';
import { agentTurn, type AgentTurnInput } from '../../../workflows/agent-turn.js';
import type { TurnState } from '../../../workflows/turn-state.js';
import { mindFold } from '../minds/mind.js';
import { anotherAttempt, type TurnAttempt } from '../turns/another-attempt.js';
import type { StepDeps } from '../turns/step-turn.js';
import { saidKey } from '../turns/turn-key.js';
import type { Unanswered } from './unanswered.js';

export type TakeDeps = StepDeps & { readonly unanswered: Unanswered };

/** What is said to an agent (contract 7.1). */
export type AgentInput = TurnAttempt & {
  readonly input: string;
  readonly context: JsonObject;
  /** Overlays the mind's recorded state for this turn. */
  readonly npcState: JsonObject;
};

/** What makes two requests the same: the mind, the input, the context and the state, as JSON values. */
export const sameInput = ({ stream, input, context, npcState }: AgentInput): string =>
  `agent ${stream} ${shortDigest(`${saidKey(input, context)} ${comparisonText(npcState)}`)}`;

export const agentTurnRef = (stream: string, id: string): ProcessRef => ({ process: agentTurn.name, id, stream });

/**
 * Opens a turn on this server, or joins one with the same input: one that is open, or one that has ended since a request for it was told to come
 * again.
 * @returns the turn's id
 * @throws Rejection EVENTS_TOO_LARGE, and as ProcessEngine.ask
 */
export const takeInput = async (deps: TakeDeps, asked: AgentInput): Promise<string> => {
  const { input, context, npcState } = asked;
  requireRecordable([input, context, npcState]);
  const { earlier, since } = await anotherAttempt(deps, agentTurn, asked);
  if (earlier !== null && earlier.name !== 'expired') return earlier.turnId;
  const same = sameInput(asked);
  const owed = deps.unanswered.take(same);
  if (owed !== null && (await stateOf(deps, asked.stream, owed)).name === 'ended') return owed;
  // One after the other, so that the second of two equal requests finds the turn of the first.
  return deps.journal.inTurn(same, async () => (await openTurn(deps, asked)) ?? begin(deps, asked, since));
};

const stateOf = async ({ journal }: TakeDeps, stream: string, turnId: string): Promise<TurnState> =>
  (await journal.load(agentTurn, agentTurnRef(stream, turnId))).state as TurnState;

/** The newest open agent's turn with the same input, context and state. */
const openTurn = async (deps: TakeDeps, { stream, input, context, npcState }: AgentInput): Promise<string | null> => {
  const nowMs = deps.clock.now().getTime();
  const said = saidKey(input, context);
  const same = (await deps.index.recent(stream)).filter(
    (turn) => turn.agent && turn.awaits !== null && turn.deadlineMs > nowMs && turn.said === said,
  );
  for (const { turnId } of same) {
    const state = await stateOf(deps, stream, turnId);
    const isOpen = state.name === 'awaitingMemories' || state.name === 'awaitingInference';
    if (isOpen && comparisonText(state.npcState) === comparisonText(npcState)) return turnId;
  }
  return null;
};

const begin = async (deps: TakeDeps, asked: AgentInput, since: number | undefined): Promise<string> => {
  const { engine, lanes, clock, turnDeadlineMs, unanswered } = deps;
  const { stream, by, input: observation, context, npcState } = asked;
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
  try {
    await engine.ask(agentTurnRef(stream, turnId), [opening], by);
  } catch (error) {
    // An engine that did not answer in time may still open it.
    unanswered.noted(sameInput(asked), turnId);
    throw error;
  }
  return turnId;
};
