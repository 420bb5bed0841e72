import { findingsOf, listedFindings } from '../../domain/ghost/findings.js';
import { coverageOf, metricsOf, testsOf } from '../../domain/ghost/results.js';
import type { GhostReport } from '../../domain/ghost/session-events.js';
import { Rejection } from '../../domain/shared/rejection.js';
import type { GhostAnswer } from '../../../workflows/ghost-session.js';
import {
  loadSession,
  type PlayDeps,
  type PlayedSession,
  sessionContext,
  sessionKey,
  stepsStreamOf,
} from './play-slice.js';
import { remoteReport } from './remote-report.js';
import { recordEndedTurns, type RemoteStepDeps } from './remote-steps.js';
import type { SessionState, Setting } from './session.js';
import { lastStep, recordStep } from './steps-log.js';

const reportOf = ({ level, goal }: Setting, { step, tally, world }: SessionState, over: boolean): GhostReport => ({
  step,
  findings: listedFindings(findingsOf(level, tally, { over })),
  tests: testsOf(level, world, tally, { goal, over }),
  coverage: coverageOf(level, world),
  metrics: metricsOf(level, world, tally),
});

/** What is said of a session whose level is lost: that it was, stands in its ending. */
const NOTHING: Omit<GhostReport, 'step'> = { findings: [], tests: [], coverage: 0, metrics: [] };

const nullWhenLost = (error: unknown): null => {
  if (error instanceof Rejection && error.code === 'LEVEL_NOT_FOUND') return null;
  throw error;
};

/** What a session has found so far. Raises what the levels and the event store raise. */
export const reportSoFar = async (
  deps: Pick<PlayDeps, 'pace'> & RemoteStepDeps,
  tenant: string,
  session: GhostAnswer,
): Promise<GhostReport> => {
  if (session.driver === 'remote') {
    const caughtUp = await recordEndedTurns(deps, { ...session, tenant });
    return remoteReport(caughtUp.setting, caughtUp.play, false);
  }
  const { setting, state } = await loadSession(deps, { ...session, tenant });
  return reportOf(setting, state, false);
};

/** All that a session played, as it can be reported; its last step alone where its level is lost. */
const played = async (
  deps: PlayDeps & RemoteStepDeps,
  session: PlayedSession,
): Promise<{ readonly step: number; readonly report: GhostReport }> => {
  if (session.driver === 'remote') {
    const { setting, play } = await recordEndedTurns(deps, session);
    return { step: play.step, report: remoteReport(setting, play, true) };
  }
  const { setting, state } = await loadSession(deps, session);
  return { step: state.step, report: reportOf(setting, state, true) };
};

/**
 * Ends the steps of a session, so that whoever still plays it records none after the report, and says what was found.
 * Raises what the levels and the event store raise.
 */
export const closeAndReport = async (deps: PlayDeps & RemoteStepDeps, session: PlayedSession): Promise<GhostReport> => {
  const stream = stepsStreamOf(session);
  const by = sessionContext(session);
  for (;;) {
    const { step, report } = (await played(deps, session).catch(nullWhenLost)) ?? {
      step: await lastStep(deps.events, stream),
      report: null,
    };
    const outcome = await recordStep(deps.lanes, stream, by, step, { type: 'GhostStepsClosed', data: { step } });
    if (outcome === 'overtaken') continue;
    deps.kept.delete(sessionKey(session));
    deps.plays.delete(sessionKey(session));
    return report ?? { ...NOTHING, step };
  }
};
