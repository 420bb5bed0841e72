import { findingsOf, listedFindings } from './domain/findings.js';
import { type RemotePlay, remoteTally, remoteUnjudged, remoteWorld, untoldMetrics } from './domain/remote-play.js';
import { coverageOf, metricsOf, testsOf } from './domain/results.js';
import type { GhostReport } from './domain/events.js';
import type { GhostAnswer } from '../../../workflows/ghost-session.js';
import { defined } from '../../kernel/base/defined.js';
import {
  nullWhenLevelLost,
  type PlayDeps,
  type PlayedSession,
  presentSession,
  sessionContext,
  sessionKey,
  stepsStreamOf,
} from './play-slice.js';
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

/** The report of a session whose level is lost; its ending gives that reason. */
const NOTHING: Omit<GhostReport, 'step'> = { findings: [], tests: [], coverage: 0, metrics: [] };

type ReportDeps = Pick<PlayDeps, 'pace' | 'kept'> & RemoteStepDeps;

const NO_GOALS = 'The game did not report which goals were reached.';

/** The report of a session with a remote body: only what its body reported, and what the level itself shows. */
const remoteReport = ({ level, goal }: Setting, play: RemotePlay, over: boolean): GhostReport => {
  const [tally, world] = [remoteTally(level, play), remoteWorld(level, play)];
  const unjudged = remoteUnjudged(play);
  return {
    step: play.step,
    findings: listedFindings(findingsOf(level, tally, { over, elsewhere: true })),
    tests: testsOf(level, world, tally, {
      ...{ goal, over, elsewhere: true, unjudged },
      ...defined({ goalsUnjudged: play.toldGoals ? undefined : NO_GOALS }),
    }),
    coverage: coverageOf(level, world),
    metrics: metricsOf(level, world, tally).filter(([name]) => !untoldMetrics.includes(name)),
  };
};

/** The findings in all recorded steps of a session; `over`: no step follows. Propagates errors from the levels and the event store. */
const reportRecorded = async (deps: ReportDeps, session: PlayedSession, over: boolean): Promise<GhostReport> => {
  if (session.driver === 'remote') {
    const { setting, play } = await recordEndedTurns(deps, session);
    return remoteReport(setting, play, over);
  }
  const { setting, state } = await presentSession(deps, session);
  return reportOf(setting, state, over);
};

/**
 * Ends the steps of a session, so that a process that is still playing it records none after the report, and reports its findings. Propagates errors
 * from the levels and the event store.
 */
export const closeAndReport = async (deps: ReportDeps, session: PlayedSession): Promise<GhostReport> => {
  const stream = stepsStreamOf(session);
  const by = sessionContext(session);
  for (;;) {
    const report = (await reportRecorded(deps, session, true).catch(nullWhenLevelLost)) ?? {
      ...NOTHING,
      step: await lastStep(deps.events, stream),
    };
    const { step } = report;
    const outcome = await recordStep(deps.writers, stream, by, step, { type: 'GhostStepsClosed', data: { step } });
    // Another process may have closed it after a step that is not in this report.
    if (outcome === 'overtaken' || (outcome === 'closed' && (await lastStep(deps.events, stream)) !== step)) continue;
    deps.kept.delete(sessionKey(session));
    deps.plays.delete(sessionKey(session));
    return report;
  }
};

/** A session with its findings: all of them if the session has ended, otherwise those so far. */
export type ReportedSession = { readonly session: GhostAnswer; readonly report: GhostReport };

/**
 * The findings of a session. A session that has ended is never reported as running: if its report is not recorded yet, its steps end here. Propagates
 * errors from the levels and the event store.
 */
export const reportSession = async (
  deps: ReportDeps,
  tenant: string,
  session: GhostAnswer,
): Promise<ReportedSession> => {
  if (session.name === 'over') return { session, report: session.report };
  const played = { ...session, tenant };
  if (session.name !== 'ending') return { session, report: await reportRecorded(deps, played, false) };
  const report = await closeAndReport(deps, played);
  return { session: { ...session, name: 'over', step: report.step, report }, report };
};
