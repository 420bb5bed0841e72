import { describe, expect, it } from 'vitest';

import { ghosts, OPEN_GHOST } from '../../projections/ghosts.js';
import { ghostStream } from '../../src/kernel/base/stream-names.js';
import { givenRowsOf } from '../support/given.js';

const sessionId = 'g0_0_aaaaaaaaaaaaaaaa';
const level = { levelId: 'inn', version: 1, digest: 'd', generated: false };
const plan = { goal: 'find_bugs', suite: null, level, seed: 1, steps: 5, timeoutMs: 5 };
const past = [
  { type: 'GhostRequested', data: { sessionId, ...plan, deadlineAt: '2026-01-01T00:00:00.000Z' } },
  { type: 'GhostBegun', data: { sessionId } },
  { type: 'GhostEnded', data: { sessionId, ending: 'stopped', timedOut: false, reason: null } },
  { type: 'GhostReported', data: { sessionId, step: 0, findings: [], tests: [], coverage: 0, metrics: [] } },
];

describe('a session in the history', () => {
  it.each([
    [1, 'pending', OPEN_GHOST],
    [2, 'running', OPEN_GHOST],
    // Its report needs the level.
    [3, 'stopped', OPEN_GHOST],
    [4, 'stopped', ''],
  ])('is open until its report is made: after %i events', (count, status, tag) => {
    const [row] = givenRowsOf(ghosts, ghostStream('studio', sessionId))(...past.slice(0, count)).state.values();
    expect(row).toMatchObject({ status });
    expect(row && ghosts.indexOf(row)).toMatchObject({ partition: 'studio', tag });
  });
});
