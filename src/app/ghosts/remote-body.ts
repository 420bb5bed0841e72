import type { CommandContext } from '../../domain/shared/command-context.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { ghostMindStream } from '../../domain/shared/stream-names.js';
import type { GhostAnswer } from '../../../workflows/ghost-session.js';
import { type StepDeps, type Stepped, stepTurn, type TurnStep } from '../turns/step-turn.js';
import { type PlayedSession, sessionContext } from './play-slice.js';
import { type CaughtUp, recordEndedTurns, type RemoteStepDeps } from './remote-steps.js';
import { findGhost, type GhostDeps, ghostRef } from './run-ghost.js';

export type RemoteBodyDeps = RemoteStepDeps & Pick<GhostDeps, 'engine' | 'journal'>;

/** Whether a session waits for the steps of a body elsewhere. */
const awaitsBody = (session: GhostAnswer): boolean => session.driver === 'remote' && session.name === 'running';

/** Records what has ended, and ends the session when that was all. Raises what the levels, the event store and ProcessEngine.ask raise. */
const catchUp = async (deps: RemoteBodyDeps, session: PlayedSession): Promise<CaughtUp> => {
  const caughtUp = await recordEndedTurns(deps, session);
  if (caughtUp.over) {
    const { tenant, sessionId } = session;
    const ended = { type: 'played', step: caughtUp.play.step, over: true };
    await deps.engine.ask(ghostRef(tenant, sessionId), [ended], sessionContext(session));
  }
  return caughtUp;
};

/**
 * A session as a reader sees it: of one that has a body elsewhere, every turn that has ended is a step first.
 * @throws Rejection GHOST_NOT_FOUND, and what the levels, the event store and ProcessEngine.ask raise
 */
export const readGhost = async (deps: RemoteBodyDeps, tenant: string, sessionId: string): Promise<GhostAnswer> => {
  const session = await findGhost(deps, tenant, sessionId);
  if (!awaitsBody(session) || !(await catchUp(deps, { ...session, tenant })).over) return session;
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
  if (!awaitsBody(session) || (await catchUp(deps, played)).over) throw new Rejection('GHOST_OVER');
  const stepped = await stepTurn(deps, { ...step, stream: ghostMindStream(tenant, sessionId) });
  if (stepped.answer.instruction.type === 'Finalize') await catchUp(deps, played);
  return stepped;
};
