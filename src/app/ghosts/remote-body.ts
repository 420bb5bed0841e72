import type { CommandContext } from '../../domain/shared/command-context.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { ghostMindStream } from '../../domain/shared/stream-names.js';
import type { GhostAnswer, GhostInput } from '../../../workflows/ghost-session.js';
import { type StepDeps, type Stepped, stepTurn, type TurnStep } from '../turns/step-turn.js';
import { type PlayedSession, sessionContext } from './play-slice.js';
import { recordEndedTurns, type RemoteStepDeps } from './remote-steps.js';
import { findGhost, type GhostDeps, ghostRef } from './run-ghost.js';

export type RemoteBodyDeps = RemoteStepDeps & Pick<GhostDeps, 'engine' | 'journal'>;

/** Whether a session waits for the steps of a body elsewhere. */
const awaitsBody = (session: GhostAnswer): boolean => session.driver === 'remote' && session.name === 'running';

/** What ends a session after the turns that have ended; null where it goes on. Raises what the levels and the event store raise. */
const endingOf = async (deps: RemoteStepDeps, session: PlayedSession): Promise<GhostInput | null> => {
  try {
    const { play, over } = await recordEndedTurns(deps, session);
    return over ? { type: 'played', step: play.step, over } : null;
  } catch (error) {
    // Nothing brings it back, and nobody plays the session but the body that asks.
    if (error instanceof Rejection && error.code === 'LEVEL_NOT_FOUND')
      return { type: 'broken', reason: error.message };
    throw error;
  }
};

/**
 * Records what has ended, and ends the session when that was all or its level is lost. Says whether it is over.
 * Raises what the levels, the event store and ProcessEngine.ask raise.
 */
const catchUp = async (deps: RemoteBodyDeps, session: PlayedSession): Promise<boolean> => {
  const ending = await endingOf(deps, session);
  if (ending === null) return false;
  await deps.engine.ask(ghostRef(session.tenant, session.sessionId), [ending], sessionContext(session));
  return true;
};

/**
 * A session as a reader sees it: of one that has a body elsewhere, every turn that has ended is a step first.
 * @throws Rejection GHOST_NOT_FOUND, and what the levels, the event store and ProcessEngine.ask raise
 */
export const readGhost = async (deps: RemoteBodyDeps, tenant: string, sessionId: string): Promise<GhostAnswer> => {
  const session = await findGhost(deps, tenant, sessionId);
  if (!awaitsBody(session) || !(await catchUp(deps, { ...session, tenant }))) return session;
  return findGhost(deps, tenant, sessionId);
};

/**
 * One step of the body of a session (contract 9.6). When it ends a turn, its step is recorded before it is answered.
 * @throws Rejection GHOST_NOT_FOUND, GHOST_NOT_REMOTE, GHOST_OVER, and as stepTurn
 */
export const stepGhost = async (
  deps: RemoteBodyDeps & StepDeps,
  sessionId: string,
  step: Omit<TurnStep, 'stream' | 'by'> & { readonly by: CommandContext },
): Promise<Stepped> => {
  const { tenant } = step.by;
  const session = await findGhost(deps, tenant, sessionId);
  if (session.driver !== 'remote') throw new Rejection('GHOST_NOT_REMOTE');
  const played = { ...session, tenant };
  if (!awaitsBody(session) || (await catchUp(deps, played))) throw new Rejection('GHOST_OVER');
  const stepped = await stepTurn(deps, { ...step, stream: ghostMindStream(tenant, sessionId) });
  if (stepped.answer.instruction.type === 'Finalize') await catchUp(deps, played);
  return stepped;
};
