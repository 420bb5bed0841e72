import { describe, expect, it } from 'vitest';

import type { GhostSession } from '../../../../src/features/ghosts/run-ghost.js';
import { JudgedNo } from '../../../../src/cli/shared/judging.js';
import { requirePassed } from '../../../../src/features/ghosts/cli/show.js';
import type { GhostReport } from '../../../../src/features/ghosts/domain/events.js';
import { shownResults } from '../../../../src/features/ghosts/http/shown-results.js';

const at = '2026-01-01T00:00:00.000Z';
const report: GhostReport = { step: 3, findings: [], tests: [], coverage: 0, metrics: [] };
const begun = {
  ...{ sessionId: 'g1', goal: 'find_bugs' as const, suite: null, seed: 1, steps: 20, timeoutMs: 1, deadlineAt: at },
  level: { levelId: 'a place', version: 1, digest: 'the digest', generated: false },
  startedAt: at,
  step: 3,
} satisfies Partial<GhostSession>;
const over = {
  ...begun,
  name: 'over' as const,
  timedOut: false,
  reason: null,
  completedAt: at,
  report,
} satisfies Partial<GhostSession>;
const shown = (session: GhostSession) => {
  const { resultsFindings, ...results } = shownResults(session, report, { durationMs: 1, publicUrl: '' });
  return { ...results, resultsFindings: [...resultsFindings] };
};
const judged = (session: GhostSession) => () => {
  requirePassed(shown(session));
};

describe('the results of an incomplete session', () => {
  it('report how it ended and why, and are not a pass even if no test failed [9.9h]', () => {
    const reason = 'The level of this session no longer exists.';
    const failed = { ...over, ending: 'failed', reason } as const;
    expect(shown(failed)).toMatchObject({
      ...{ resultsFailed: 0, resultsStatus: 'failed', resultsErrors: [reason], resultsTimedOut: false },
      ...{ resultsGoal: 'find_bugs', resultsLevel: begun.level, resultsSeed: 1, resultsEngine: 'scripted' },
    });
    expect(shown({ ...failed, engine: 'openai', timedOut: true })).toMatchObject({
      ...{ resultsEngine: 'openai', resultsTimedOut: true },
    });
    expect(judged(failed)).toThrow(reason);
    expect(judged({ ...over, ending: 'stopped' })).toThrow('It was stopped.');
    expect(judged({ ...over, ending: 'completed', timedOut: true })).toThrow('--timeout');
  });

  it('are a pass once everything was done, with the steps per second [9.9h, 9.9j]', () => {
    const completed = { ...over, ending: 'completed' } as const;
    expect(shown(completed)).toMatchObject({ resultsStatus: 'completed', resultsErrors: [] });
    // Three steps in one millisecond.
    expect(shown(completed).resultsMetrics).toContainEqual(['stepsPerSecond', 3_000]);
    const passed = { ...shown(completed), resultsPassed: 1 };
    expect(() => requirePassed(passed)).not.toThrow();
  });

  it('neither pass nor fail when none of the tests could be checked', () => {
    const unchecked = judged({ ...over, ending: 'completed' });
    expect(unchecked).toThrow('none of its tests could be checked');
    expect(unchecked).not.toThrow(JudgedNo);
  });

  it('report that a running session is playing', () => {
    expect(shown({ ...begun, name: 'running', slices: 1 })).toMatchObject({
      ...{ resultsStatus: 'running', resultsErrors: [], resultsPartial: true },
    });
  });
});
