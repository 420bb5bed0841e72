import { describe, expect, it } from 'vitest';

import type { GhostResults, GhostStep } from '../../support/ghosts.js';
import { differenceOf, digestsOf, type Played, resultsText } from './difference.js';

const stepOf = (n: number, more: object = {}): GhostStep & { readonly at: string } => ({
  step: n,
  revision: n - 1,
  at: `2026-01-01T00:00:0${String(n)}.000Z`,
  turns: [{ npcId: 'ghost', events: [{ type: 'TurnOpened', data: { observation: `I am at ${String(n)}.` } }] }],
  action: { type: 'MOVE', to: { x: n, y: 1 } },
  ...more,
});
const results = (more: object = {}): GhostResults => ({
  resultsSessionId: 'g0_1_one',
  resultsDuration: 4,
  resultsMetrics: [
    ['steps', 4],
    ['stepsPerSecond', 90],
  ],
  resultsTests: [{ testName: 'goal: the door', testPassed: true, testError: null }],
  resultsFindings: [],
  ...more,
});
const played = (steps: readonly GhostStep[], ended = results()): Played => ({
  steps: digestsOf(steps),
  results: resultsText(ended),
});

const four = [1, 2, 3, 4].map((n) => stepOf(n));
const wanted = played(four);

describe('the difference of two sessions', () => {
  it('is null if only times, ids or the order of members differ', () => {
    const later = four.map(({ action, ...step }) => ({ action, ...step, at: '2027-01-01T00:00:00.000Z' }));
    const ended = results({ resultsSessionId: 'g0_1_two', resultsDuration: 9, resultsMetrics: [['steps', 4]] });
    expect(differenceOf(wanted, played(later, ended))).toBeNull();
  });

  it.each([
    ['lost in the middle', four.toSpliced(1, 1), 'step 2 of 4 is another one'],
    ['lost at the end', four.slice(0, 3), 'it has 3 steps, and not 4'],
    ['doubled', four.toSpliced(2, 0, stepOf(2)), 'step 3 of 4 is another one'],
    ['doubled at the end', [...four, stepOf(4)], 'it has 5 steps, and not 4'],
    ['recorded elsewhere', four.with(3, stepOf(4, { revision: 4 })), 'step 4 of 4 is another one'],
    ['played otherwise', four.with(0, stepOf(1, { action: null })), 'step 1 of 4 is another one'],
    ['played, and all lost', [], 'it has 0 steps, and not 4'],
  ])('is found if a step was %s', (_, steps, difference) => {
    expect(differenceOf(wanted, played(steps))).toBe(difference);
  });

  it('is found if only the end differs', () => {
    const failed = results({ resultsTests: [{ testName: 'goal: the door', testPassed: false, testError: 'shut' }] });
    expect(differenceOf(wanted, played(four, failed))).toContain('it ended otherwise');
  });
});
