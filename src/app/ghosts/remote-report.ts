import { findingsOf, listedFindings } from '../../domain/ghost/findings.js';
import {
  type RemotePlay,
  remoteTally,
  remoteUnjudged,
  remoteWorld,
  untoldMetrics,
} from '../../domain/ghost/remote-play.js';
import { coverageOf, metricsOf, testsOf } from '../../domain/ghost/results.js';
import type { GhostReport } from '../../domain/ghost/session-events.js';
import { defined } from '../../domain/shared/defined.js';
import type { Setting } from './session.js';

const NO_GOALS = 'The game did not tell which goals were reached.';

/** What is said of a session that has a body elsewhere: only what its body told, and what the level itself tells (contract 9.6). */
export const remoteReport = ({ level, goal }: Setting, play: RemotePlay, over: boolean): GhostReport => {
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
