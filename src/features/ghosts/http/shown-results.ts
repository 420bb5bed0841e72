import { Type } from '@sinclair/typebox';

import { POLICY } from '../ghost-engine.js';
import type { GhostSession } from '../run-ghost.js';
import { type GhostGoal, ghostGoals } from '../domain/policy.js';
import type { GhostReport } from '../domain/events.js';
import { named } from '../../../kernel/http/named.js';
import { oneOf } from '../../../kernel/http/schemas.js';

/** The level of a session. */
export const LevelShown = named(
  'LevelRef',
  Type.Object({
    levelId: Type.String(),
    version: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    digest: Type.String({ description: 'The SHA-256 of the map, base64url.' }),
    generated: Type.Boolean(),
  }),
);

/** The status of a session. */
export const ShownStatus = named('GhostStatus', oneOf(['pending', 'running', 'completed', 'failed', 'stopped']));

/** What a session tries to do. */
export const NamedGoal = named('GhostGoal', Type.Unsafe<GhostGoal>({ type: 'string', enum: [...ghostGoals] }));

export const ghostStatusOf = (session: GhostSession): string =>
  session.name === 'pending' || session.name === 'running' ? session.name : session.ending;
/** When it ended, RFC 3339; null while it is not over. */
export const ghostCompletedAt = (session: GhostSession): string | null =>
  'completedAt' in session ? session.completedAt : null;
/** How much of its budget it has played, 0 to 1; 1 once it is over. @param step how many steps are done */
export const ghostProgressOf = (session: GhostSession, step: number): number =>
  'completedAt' in session ? 1 : Math.min(1, step / Math.max(1, session.steps));
/** Why a session could not continue; absent if it could. */
export const ghostErrorsOf = (session: GhostSession): readonly string[] =>
  'reason' in session && session.reason !== null ? [session.reason] : [];

/** Milliseconds from the acceptance of a session to its end, or to now. */
export const durationOf = (session: GhostSession, now: Date): number => {
  const untilMs = 'completedAt' in session ? Date.parse(session.completedAt) : now.getTime();
  return Math.max(0, untilMs - Date.parse(session.startedAt));
};

/**
 * A report with the member names of the results.
 * @param publicUrl where pictures are
 */
export const shownResults = (
  session: GhostSession,
  { tests, metrics, coverage, findings, step }: GhostReport,
  { durationMs, publicUrl }: { readonly durationMs: number; readonly publicUrl: string },
) => {
  const { sessionId } = session;
  const skipped = tests.filter(({ testSkipped }) => testSkipped === true).length;
  const passed = tests.filter(({ testPassed }) => testPassed).length;
  const perSecond = durationMs === 0 ? 0 : Math.round((step * 100_000) / durationMs) / 100;
  const picture = `${publicUrl}/ghost/${sessionId}/picture?format=png`;
  return {
    resultsSessionId: sessionId,
    resultsTotalTests: tests.length,
    resultsPassed: passed,
    resultsFailed: tests.length - passed - skipped,
    resultsSkipped: skipped,
    resultsDuration: durationMs,
    resultsTests: tests.map((test) => ({
      ...test,
      // All tests of a session look at the same steps.
      testDuration: durationMs,
      testScreenshot: test.testPassed || test.testSkipped === true ? null : picture,
    })),
    resultsCoverage: coverage,
    resultsMetrics: [...metrics, ['stepsPerSecond', perSecond] as const],
    resultsFindings: findings,
    resultsGoal: session.goal,
    resultsLevel: session.level,
    resultsSeed: session.seed,
    resultsEngine: session.engine ?? POLICY,
    resultsTimedOut: 'timedOut' in session && session.timedOut,
    resultsStatus: ghostStatusOf(session),
    resultsErrors: ghostErrorsOf(session),
    ...(session.name === 'over' ? {} : { resultsPartial: true as const }),
  };
};
