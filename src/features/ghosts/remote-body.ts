import { Rejection } from '../../kernel/base/rejection.js';
import { ghostMindStream } from '../../kernel/base/stream-names.js';
import type { GhostAnswer, GhostInput } from '../../../workflows/ghost-session.js';
import { turn } from '../../../workflows/turn/turn.js';
import type { TurnState } from '../../../workflows/turn/turn-state.js';
import { type StepDeps, type Stepped, stepTurn, type TurnStep } from '../turns/step-turn.js';
import { LEVEL_LOST, nullWhenLevelLost, type PlayedSession, sessionContext } from './play-slice.js';
import { recordEndedTurns, type RemoteStepDeps } from './remote-steps.js';
import { findGhost, type GhostDeps, ghostRef } from './run-ghost.js';

export type RemoteBodyDeps = RemoteStepDeps & Pick<GhostDeps, 'runtime' | 'repository'>;

/** Whether a session waits for the steps of a remote body. */
const awaitsBody = (session: GhostAnswer): boolean => session.driver === 'remote' && session.name === 'running';

/** The input that ends a session after its ended turns, null if it continues; `through`: the last revision of its mind's stream that is in a step. */
type Caught = { readonly ending: GhostInput | null; readonly through: number };

/** Records the ended turns. Propagates errors from the levels and the event store. */
const record = async (deps: RemoteStepDeps, session: PlayedSession): Promise<Caught> => {
  const recorded = await recordEndedTurns(deps, session).catch(nullWhenLevelLost);
  // Only the requesting body plays the session.
  if (recorded === null) return { ending: { type: 'broken', reason: LEVEL_LOST }, through: -1 };
  const { play, over } = recorded;
  return { ending: over ? { type: 'played', step: play.step, over } : null, through: play.through };
};

/**
 * Records the ended turns, and ends the session if those were all or its level is lost. Returns whether it has ended. Raises what the levels, the
 * event store and ProcessRuntime.ask raise.
 */
const catchUp = async (
  deps: RemoteBodyDeps,
  session: PlayedSession,
): Promise<{ readonly over: boolean; readonly through: number }> => {
  const { ending, through } = await record(deps, session);
  if (ending !== null)
    await deps.runtime.ask(ghostRef(session.tenant, session.sessionId), [ending], sessionContext(session));
  return { over: ending !== null, through };
};

/** Whether the turn of a `Finalize` is now a step: the session may have ended in the meantime. Raises as catchUp. */
const isStep = async (deps: RemoteBodyDeps, session: PlayedSession, stepped: Stepped): Promise<boolean> => {
  const { over, through } = await catchUp(deps, session);
  if (!over) return true;
  const { turnId, round } = stepped.answer;
  const ref = { process: turn.name, id: turnId, stream: ghostMindStream(session.tenant, session.sessionId) };
  const state = (await deps.repository.load(turn, ref, stepped.revision)).state as TurnState;
  return state.name !== 'new' && (state.rounds[round]?.revision ?? Infinity) <= through;
};

/**
 * A session for a reader; with a remote body, every turn that has ended is first recorded as a step.
 * @throws Rejection GHOST_NOT_FOUND, and what the levels, the event store and ProcessRuntime.ask raise
 */
export const readGhost = async (deps: RemoteBodyDeps, tenant: string, sessionId: string): Promise<GhostAnswer> => {
  const session = await findGhost(deps, tenant, sessionId);
  if (!awaitsBody(session) || !(await catchUp(deps, { ...session, tenant })).over) return session;
  return findGhost(deps, tenant, sessionId);
};

/**
 * One request of the body of a session. If it ends a turn, the step is recorded before the response is sent; if the session ended first, the turn is
 * not a step and is refused.
 * @throws Rejection GHOST_NOT_FOUND, GHOST_NOT_REMOTE, GHOST_OVER, and as stepTurn
 */
export const stepGhost = async (
  deps: RemoteBodyDeps & StepDeps,
  sessionId: string,
  step: Omit<TurnStep, 'stream'>,
): Promise<Stepped> => {
  const { tenant } = step.by;
  const session = await findGhost(deps, tenant, sessionId);
  if (session.driver !== 'remote') throw new Rejection('GHOST_NOT_REMOTE');
  const played = { ...session, tenant };
  if (!awaitsBody(session) || (await catchUp(deps, played)).over) throw new Rejection('GHOST_OVER');
  const stepped = await stepTurn(deps, { ...step, stream: ghostMindStream(tenant, sessionId) });
  if (stepped.answer.instruction.type === 'Finalize' && !(await isStep(deps, played, stepped)))
    throw new Rejection('GHOST_OVER');
  return stepped;
};
