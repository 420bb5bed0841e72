import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginMinimising, noteTrial, trialOf, TRIALS } from '../../../../src/features/ghosts/domain/minimise.js';

/** Minimises, with the state stored as JSON between trials. */
const minimise = (length: number, fails: (positions: readonly number[]) => boolean) => {
  let state = beginMinimising(length);
  for (let trial = trialOf(state); trial !== null; trial = trialOf(state)) {
    state = JSON.parse(JSON.stringify(noteTrial(state, fails(trial)))) as typeof state;
  }
  return state;
};

describe('minimising a list that fails', () => {
  it('keeps exactly the inputs that are needed [9.10a]', () => {
    const state = minimise(100, (positions) => [3, 40, 41, 99].every((one) => positions.includes(one)));
    expect([state.kept, state.ended]).toEqual([[3, 40, 41, 99], 'minimal']);
    expect(state.trials).toBeLessThan(200);
  });

  it('keeps one input where one is enough, and tries nothing for a list of one', () => {
    expect(minimise(64, (positions) => positions.includes(17)).kept).toEqual([17]);
    expect(minimise(1, () => true)).toMatchObject({ kept: [0], trials: 0, ended: 'minimal' });
  });

  it('ends after a bounded number of trials with a list that still fails', () => {
    const state = minimise(5_000, (positions) => positions.length >= 4_990);
    expect([state.ended, state.trials]).toEqual(['bounded', TRIALS]);
    expect(state.kept.length).toBeGreaterThanOrEqual(4_990);
  });

  it('keeps no input that could be left out', () => {
    const needs = fc.uniqueArray(fc.integer({ min: 0, max: 29 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(needs, needs, fc.integer({ min: 30, max: 60 }), (all, either, length) => {
        const fails = (positions: readonly number[]) =>
          all.every((one) => positions.includes(one)) && either.some((one) => positions.includes(one));
        const { kept, ended } = minimise(length, fails);
        expect(ended).toBe('minimal');
        expect(fails(kept)).toBe(true);
        if (kept.length > 1) for (const one of kept) expect(fails(kept.filter((other) => other !== one))).toBe(false);
      }),
    );
  });
});
