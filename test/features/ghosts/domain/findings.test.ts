import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../../src/features/ghosts/domain/deed.js';
import { DECISIONS_TO_JUDGE, findingsOf, listedFindings } from '../../../../src/features/ghosts/domain/findings.js';
import { beginTally, noteStep, type StepFacts, type Tally } from '../../../../src/features/ghosts/domain/tally.js';
import { coverageOf, metricsOf, testsOf } from '../../../../src/features/ghosts/domain/results.js';
import { noteTime, type StepTimes, timeMetrics } from '../../../../src/features/ghosts/domain/step-times.js';
import { beginWorld } from '../../../../src/features/ghosts/domain/world.js';
import type { Level } from '../../../../src/features/levels/domain/level.js';
import { defined } from '../../../../src/kernel/base/defined.js';
import { jsonBytes } from '../../../../src/kernel/base/json.js';
import { aRuleset } from '../../../support/rules.js';
import { drawnLevel } from './drawn-level.js';
import { play } from './play.js';

const open = drawnLevel(['@..G']);
const wall: Outcome = { ok: false, code: 'WALL_IN_THE_WAY', reason: 'A wall is in the way.' };
const waited: Outcome = { ok: true, happened: ['You wait.'] };

const note = (level: Level, steps: readonly Partial<StepFacts>[], tally: Tally = beginTally(level)): Tally =>
  steps.reduce((noted, facts) => {
    const step = noted.steps + 1;
    const world = beginWorld(level);
    return noteStep(level, noted, {
      step,
      revision: step * 10,
      before: world,
      after: world,
      action: { type: 'MOVE' },
      verdictValid: true,
      refusalCode: null,
      outcome: waited,
      verdicts: [],
      ...facts,
    });
  }, tally);
const timesOf = (times: readonly number[]) =>
  times.reduce<StepTimes | undefined>((noted, ms, step) => noteTime(noted, step + 1, step, ms), undefined);
const told = (level: Level, tally: Tally, over = false) =>
  findingsOf(level, tally, { over }).map(({ kind, subject }) => `${kind} ${subject}`);

describe('findings of steps', () => {
  it('group similar steps into one, with its first 20 events [9.9a, 9.9b]', () => {
    const tally = note(open, [{}, ...Array.from({ length: 30 }, () => ({ outcome: wall }))]);
    expect(findingsOf(open, tally, { over: false })).toEqual([
      {
        n: 1,
        kind: 'mind_allowed_world_refused',
        subject: 'MOVE/WALL_IN_THE_WAY',
        detail: 'The mind allowed MOVE, but the world refused it: A wall is in the way.',
        fromStep: 2,
        toStep: 31,
        count: 30,
        events: Array.from({ length: 20 }, (_, index) => 20 + index * 10),
      },
    ]);
  });

  it('name disagreements between the mind and the world, and errors', () => {
    const refused = { verdictValid: false, refusalCode: 'RULE_REFUSED', outcome: null };
    const tally = note(open, [
      { ...refused, outcomeIfAllowed: wall },
      { ...refused, outcomeIfAllowed: waited },
      { error: 'The engine gave no text.' },
    ]);
    expect(told(open, tally)).toEqual([
      'mind_refused_world_allows MOVE/RULE_REFUSED',
      'engine_error The engine gave no text.',
    ]);
  });

  it('list slow steps as one finding, last, so that no other number depends on the machine [9.9a, 9.9k]', () => {
    const quick = note(open, [{ outcome: wall }, { error: 'The engine gave no text.' }]);
    const slow = { ...quick, ...defined({ times: timesOf([3, 251, 250, 900]) }) };
    const [over, alike] = [slow, quick].map((tally) => findingsOf(open, tally, { over: true }));
    expect(over?.slice(0, -1)).toEqual(alike);
    expect(over?.at(-1)).toMatchObject({ n: 3, kind: 'slow_step', fromStep: 2, toStep: 4, count: 2, events: [1, 3] });
  });

  it('are sorted by their first step, with absences after them [9.9a]', () => {
    const never = { ...open, ruleset: aRuleset([{ ruleCondition: [['hp', '<1']], ruleAction: 'be sad' }]) };
    const decided = { verdicts: [{ rulesetId: 'test', matched: [] }] };
    const steps = Array.from({ length: DECISIONS_TO_JUDGE }, (_, index) => ({
      ...decided,
      ...(index === 4 ? { outcome: wall } : index === 2 ? { error: 'The engine gave no text.' } : {}),
    }));
    const tally = { ...note(never, steps), ...defined({ times: timesOf([900]) }) };
    const found = findingsOf(never, tally, { over: true });
    expect(found.map(({ n, kind, fromStep }) => [n, kind, fromStep])).toEqual([
      [1, 'engine_error', 3],
      [2, 'mind_allowed_world_refused', 5],
      [3, 'rule_never_fired', DECISIONS_TO_JUDGE],
      [4, 'slow_step', 1],
    ]);
  });

  it('are bounded in number [9.9c]', () => {
    const tally = note(
      open,
      Array.from({ length: 500 }, (_, index) => ({
        action: { type: `TYPE_${index}` },
        outcome: wall,
        error: `e${index}`,
      })),
    );
    // Neither kind displaces the other.
    const counted = (['mind_allowed_world_refused', 'engine_error'] as const).map(
      (kind) => tally.found.filter((one) => one.kind === kind).length,
    );
    expect([counted, tally.found.length]).toEqual([[50, 50], 100]);
    expect(tally.actions['OTHERS']).toBe(400);
  });
});

describe('findings of a level', () => {
  it('name goals that cannot be reached, items that cannot be used, and contradictory rules', () => {
    const ruleset = aRuleset([{ ruleAction: 'FLEE' }, { ruleAction: 'ATTACK' }]);
    const level = { ...drawnLevel(['@.j#G', '...G#']), ruleset };
    const findings = findingsOf(level, beginTally(level), { over: false });
    expect(findings.map(({ n, kind, subject }) => `${n} ${kind} ${subject}`)).toEqual([
      '1 unreachable_goal goal1',
      '2 unusable_item j1',
      '3 rules_contradict test/r1 + test/r2',
    ]);
    expect(findings[0]).toMatchObject({ fromStep: 0, toStep: 0, count: 1, events: [] });
  });

  it('name goals that are out of reach because of hazards rather than walls', () => {
    const level = drawnLevel(['G#@^^^.G'], { harm: 4 });
    const details = findingsOf(level, beginTally(level), { over: false }).map(({ detail }) => detail);
    expect(details).toEqual([expect.stringMatching(/^It is unreachable /), expect.stringMatching(/^The hazards /)]);
  });

  it('report no soft lock where only hit points were lost', () => {
    const level = drawnLevel(['j@^^.G'], { harm: 4 });
    const before = beginWorld(level);
    const after = { ...before, hp: 1, spent: [0] };
    expect(told(level, note(level, [{ before, after }]), true)).not.toContain('soft_lock goal1');
  });

  it('report a soft lock in the step that caused it', () => {
    const drawn = drawnLevel(['....A@aB.G'], { consumed: true });
    const level = { ...drawn, items: drawn.items.map((item) => ({ ...item, opens: ['A1', 'B1'] })) };
    const { tally } = play(level, 'maximize_exploration');
    const [lock] = findingsOf(level, tally, { over: true }).filter(({ kind }) => kind === 'soft_lock');
    expect(lock).toMatchObject({ subject: 'goal1', count: 1, events: [10], fromStep: 2 });
    const right = play(level, 'complete_level').tally;
    expect(told(level, right, true)).not.toContain('soft_lock goal1');
  });
});

describe('more findings than a report can list', () => {
  const lock = { kind: 'soft_lock', subject: 'way out', detail: 'The goal could be reached at first.' } as const;
  const crash = { kind: 'engine_error', subject: 'x', detail: 'x' } as const;
  const noisy: Tally['found'] = [
    ...Array.from({ length: 50 }, (_, index) => ({
      ...({
        kind: 'mind_allowed_world_refused',
        subject: `${'夢'.repeat(190)}${index}`,
        detail: '夢'.repeat(300),
      } as const),
      ...{ fromStep: 2, toStep: 9, count: 8, events: [1, 2, 3] },
    })),
    ...[lock, crash].map((one) => ({ ...one, fromStep: 15, toStep: 15, count: 1, events: [14] })),
  ];
  const items = Array.from({ length: 990 }, (_, index): Level['items'][number] => ({
    ...{ id: `${'夢'.repeat(60)}${index}`, at: open.spawn, opens: [], heals: 0, consumed: false },
  }));
  const set = (rulesetId: string) => ({
    ...aRuleset(
      Array.from({ length: 400 }, (_, at) => ({ ruleAction: at % 2 === 0 ? 'MOVE' : 'IDLE', rulePriority: at })),
    ),
    rulesetId,
  });
  const npc = { id: 'n', name: 'n', at: open.spawn, persona: '', lines: [] };
  const npcs = Array.from({ length: 7 }, (_, index) => ({ ...npc, ruleset: set(`${'s'.repeat(60)}${index}`) }));
  const levels = {
    items: { ...open, items },
    rules: { ...open, ruleset: set('g'), npcs: npcs as unknown as Level['npcs'] },
  };

  const bytesOf = (findings: ReturnType<typeof listedFindings>): number =>
    findings.reduce((all, finding) => all + jsonBytes(finding), 0);

  it.each(['items', 'rules'] as const)(
    'keep the findings of steps, and change no test result: %s [9.9a, 9.9c]',
    (name) => {
      const level = levels[name];
      const tally = { ...beginTally(level), steps: 20, found: noisy };
      const all = findingsOf(level, tally, { over: true });
      const listed = listedFindings(all);
      expect(jsonBytes(all)).toBeGreaterThan(400_000);
      expect(jsonBytes(listed)).toBeLessThan(401_000);
      expect(listed.filter(({ fromStep }) => fromStep > 0)).toHaveLength(52);
      const ofLevel = bytesOf(listed.filter(({ fromStep }) => fromStep === 0));
      expect([ofLevel > 140_000, ofLevel <= 150_000]).toEqual([true, true]);
      expect(listed.map(({ n }) => n)).toEqual(listed.map(({ n }) => n).toSorted((left, right) => left - right));
      for (const finding of listed) expect(all[finding.n - 1]).toBe(finding);
      const tests = testsOf(level, beginWorld(level), tally, { goal: 'find_bugs', over: true });
      for (const kind of ['soft_lock', 'engine_error'])
        expect(tests).toContainEqual(expect.objectContaining({ testName: kind, testPassed: false }));
    },
  );

  it('list the same findings of the level, whatever was played [9.9c]', () => {
    const ofLevel = (found: Tally['found']) =>
      listedFindings(findingsOf(levels.items, { ...beginTally(open), steps: 20, found }, { over: true })).filter(
        ({ fromStep }) => fromStep === 0,
      );
    expect(ofLevel(noisy)).toEqual(ofLevel([]));
  });

  it('list soft locks first among the findings of steps [9.9c]', () => {
    const wide = noisy.map((one) => ({ ...one, detail: '夢'.repeat(3_000) }));
    const listed = listedFindings(findingsOf(open, { ...beginTally(open), steps: 20, found: wide }, { over: true }));
    expect(listed.length).toBeLessThan(52);
    const bytes = bytesOf(listed.filter(({ fromStep }) => fromStep > 0));
    expect([bytes > 235_000, bytes <= 250_000]).toEqual([true, true]);
    expect(listed.slice(-2).map(({ kind }) => kind)).toEqual(['soft_lock', 'engine_error']);
  });
});

describe('rules that never fired', () => {
  const level = {
    ...open,
    ruleset: aRuleset([
      { ruleCondition: [['hp', '<1']], ruleAction: 'be sad' },
      { ruleCondition: [['hp', '>0']], ruleAction: 'be glad' },
      { ruleName: 'only describes' },
    ]),
  };
  const decided = (count: number) =>
    note(
      level,
      Array.from({ length: count }, () => ({ verdicts: [{ rulesetId: 'test', matched: ['r2'] }] })),
    );

  it('are reported at the end of a session that was long enough to judge', () => {
    expect(told(level, decided(DECISIONS_TO_JUDGE), true)).toEqual(['rule_never_fired test/r1']);
    expect(told(level, decided(DECISIONS_TO_JUDGE), false)).toEqual([]);
    expect(told(level, decided(DECISIONS_TO_JUDGE - 1), true)).toEqual([]);
  });

  it('fail no test unless they can never fire [9.9g]', () => {
    const testOf = (judged: Level) => {
      const tally = note(
        judged,
        Array.from({ length: DECISIONS_TO_JUDGE }, () => ({ verdicts: [{ rulesetId: 'test', matched: ['r2'] }] })),
      );
      return testsOf(judged, beginWorld(judged), tally, { goal: 'find_bugs', over: true }).find(
        ({ testName }) => testName === 'rule_never_fired',
      );
    };
    expect(testOf(level)).toMatchObject({ testPassed: true });
    const impossible = [['hp', '<1'], ['hp', '>2']] as const; // prettier-ignore
    expect(testOf({ ...open, ruleset: aRuleset([{ ruleCondition: impossible, ruleAction: 'FLEE' }]) })).toMatchObject({
      testPassed: false,
      testError: expect.stringContaining('test/r1') as string,
    });
  });

  it('are not reported twice when they never can fire [9.9g]', () => {
    const never = {
      ...open,
      ruleset: aRuleset([
        {
          ruleCondition: [
            ['hp', '<1'],
            ['hp', '>2'],
          ],
          ruleAction: 'FLEE',
        },
      ]),
    };
    const tally = note(
      never,
      Array.from({ length: 300 }, () => ({ verdicts: [{ rulesetId: 'test', matched: [] }] })),
    );
    expect(told(never, tally, true)).toEqual(['rule_never_fired test/r1']);
  });
});

describe('tests of a session', () => {
  const state = (level: Level, tally: Tally, over: boolean, goal: 'complete_level' | 'find_bugs' = 'complete_level') =>
    Object.fromEntries(
      testsOf(level, beginWorld(level), tally, { goal, over }).map(({ testName, testPassed, testSkipped }) => [
        testName,
        testSkipped === true ? 'skipped' : testPassed ? 'passed' : 'failed',
      ]),
    );

  it('are skipped when they could not be judged [9.9d, 9.9e]', () => {
    expect(state(open, beginTally(open), false)).toEqual({
      unreachable_goal: 'passed',
      soft_lock: 'skipped',
      unusable_item: 'skipped',
      mind_allowed_world_refused: 'skipped',
      mind_refused_world_allows: 'skipped',
      rule_never_fired: 'skipped',
      rule_shadowed: 'skipped',
      rules_contradict: 'skipped',
      slow_step: 'skipped',
      engine_error: 'skipped',
      'goal goal1': 'skipped',
    });
  });

  it('fail because of findings, and of goals that the ghost pursued but did not reach [9.9e, 9.9g]', () => {
    const refused = { verdictValid: false, refusalCode: 'RULE_REFUSED', outcome: null, outcomeIfAllowed: waited };
    const tally = { ...note(open, [{ outcome: wall }, refused]), times: noteTime(undefined, 1, 0, 1_000) };
    expect(told(open, tally, true)).toHaveLength(3);
    expect(state(open, tally, true)).toMatchObject({
      // A ghost that hunts bugs provokes these.
      mind_allowed_world_refused: 'passed',
      mind_refused_world_allows: 'passed',
      slow_step: 'passed',
      soft_lock: 'passed',
      'goal goal1': 'failed',
    });
    expect(state(open, tally, true, 'find_bugs')).toMatchObject({ 'goal goal1': 'skipped' });
    const walled = drawnLevel(['@.#G']);
    expect(state(walled, beginTally(walled), false)).toMatchObject({
      unreachable_goal: 'failed',
      'goal goal1': 'failed',
    });
  });

  it('are skipped when the search for ways ended at its bound, unless another goal fails [9.9f]', () => {
    const two = drawnLevel(['@.GG']);
    const tallyOf = (goals: Tally['goals'], goalsNow = goals): Tally => ({ ...note(two, [{}]), goals, goalsNow });
    const searched = ['unreachable_goal', 'soft_lock'] as const;
    const judged = (tally: Tally) => searched.map((name) => state(two, tally, true)[name]);
    const found = (tally: Tally) => told(two, tally, true).map((one) => one.split(' ')[0]);
    const unknown = tallyOf(['yes', 'unknown']);
    expect([judged(unknown), found(unknown)]).toEqual([['skipped', 'skipped'], []]);
    const later = tallyOf(['yes', 'yes'], ['yes', 'unknown']);
    expect([judged(later), found(later)]).toEqual([['passed', 'skipped'], []]);
    const walled = tallyOf(['no', 'unknown']);
    expect([judged(walled), found(walled)]).toEqual([['failed', 'skipped'], ['unreachable_goal']]);
  });

  it('name the death of the ghost for goals that were not reached', () => {
    const dead = { ...beginWorld(open), hp: 0 };
    const lastOf = (goal: 'complete_level' | 'find_bugs') =>
      testsOf(open, dead, beginTally(open), { goal, over: true }).at(-1);
    const died = { testPassed: false, testError: 'The ghost ran out of hit points after 0 steps.' };
    expect(lastOf('complete_level')).toEqual({ testName: 'goal goal1', ...died });
    expect(lastOf('find_bugs')).toEqual({ testName: 'goal goal1', ...died, testSkipped: true });
  });

  it('pass for goals that were reached', () => {
    const { world, tally } = play(open, 'complete_level');
    const tests = testsOf(open, world, tally, { goal: 'complete_level', over: true });
    expect(tests.filter(({ testPassed, testSkipped }) => !testPassed && testSkipped !== true)).toEqual([]);
    expect(tests.at(-1)).toEqual({ testName: 'goal goal1', testPassed: true, testError: null });
  });
});

describe('figures of a session', () => {
  const figuresOf = (times: readonly number[]) => Object.fromEntries(timeMetrics(timesOf(times)));

  it('show how long steps took, at most a tenth too much, and which took longest [9.9k]', () => {
    const figures = figuresOf([...Array.from({ length: 98 }, () => 1.234), 17.77, 300.5, 0]);
    expect(figures).toEqual({ 'stepMs.p50': 1.3, 'stepMs.p99': 19, 'stepMs.slowest': 300.5, slowestStep: 100 });
    expect(figuresOf([0])).toEqual({ 'stepMs.p50': 0, 'stepMs.p99': 0, 'stepMs.slowest': 0, slowestStep: 1 });
    expect(figuresOf([])).toEqual({});
  });

  it('hold times in a bounded number of buckets', () => {
    const timed = timesOf(Array.from({ length: 5_000 }, (_, index) => 1.01 ** index - 1));
    expect(timed?.counts).toHaveLength(171);
    expect(timed?.counts.reduce((all, count) => all + count, 0)).toBe(5_000);
  });

  it('cover tiles, interactions, rules, action types and refusals [9.9i, 9.9j]', () => {
    const level = { ...open, ruleset: aRuleset([{ ruleCondition: [['hp', '>0']], ruleAction: 'be glad' }]) };
    const { world, tally } = play(level, 'complete_level');
    expect(coverageOf(level, world)).toBe(1);
    // Of four reachable tiles and one behind a wall, the ghost starts on one.
    const walled = drawnLevel(['@..G#.']);
    expect(coverageOf(walled, beginWorld(walled))).toBe(0.25);
    expect(Object.fromEntries(metricsOf(level, world, tally))).toMatchObject({
      steps: 3,
      interactions: 0,
      'tiles.reachable': 4,
      'tiles.entered': 4,
      'goals.reached': 1,
      rules: 1,
      'rules.fired': 1,
      'actions.MOVE': 3,
      'refusals.world': 0,
    });
  });
});
