import { findingsOf } from '../../domain/ghost/findings.js';
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
import type { SessionState, Setting } from './session.js';
import { lastStep, recordStep } from './steps-log.js';

const reportOf = ({ level, goal }: Setting, { step, tally, world }: SessionState, over: boolean): GhostReport => ({
  step,
  findings: findingsOf(level, tally, { over }),
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
  deps: Pick<PlayDeps, 'events' | 'levels' | 'pace'>,
  tenant: string,
  session: GhostAnswer,
): Promise<GhostReport> => {
  const { setting, state } = await loadSession(deps, { ...session, tenant });
  return reportOf(setting, state, false);
};

/**
 * Ends the steps of a session, so that whoever still plays it records none after the report, and says what was found.
 * Raises what the levels and the event store raise.
 */
export const closeAndReport = async (deps: PlayDeps, session: PlayedSession): Promise<GhostReport> => {
  const stream = stepsStreamOf(session);
  const by = sessionContext(session);
  for (;;) {
    const loaded = await loadSession(deps, session).catch(nullWhenLost);
    const step = loaded?.state.step ?? (await lastStep(deps.events, stream));
    const outcome = await recordStep(deps.lanes, stream, by, step, { type: 'GhostStepsClosed', data: { step } });
    if (outcome === 'overtaken') continue;
    deps.kept.delete(sessionKey(session));
    return loaded === null ? { ...NOTHING, step } : reportOf(loaded.setting, loaded.state, true);
  }
};
