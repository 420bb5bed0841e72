import { describe, expect, it } from 'vitest';
import { budgetOf } from '../../../../src/features/ghosts/domain/policies.js';
import { ghostGoals } from '../../../../src/features/ghosts/domain/policy.js';
import { reachableTiles } from '../../../../src/features/ghosts/domain/reach.js';
import { coverageOf } from '../../../../src/features/ghosts/domain/results.js';
import { aRuleset } from '../../../support/rules.js';
import { drawnLevel } from './drawn-level.js';
import { play } from './play.js';

const house = drawnLevel([
  '################',
  '#@...#....a#...#',
  '#....+.....#.h.#',
  '####.#####.#...#',
  '#..#...N.#.+...#',
  '#.j#.###.#.#####',
  '#..B...#.^.A..G#',
  '#..#b..#...#...#',
  '################',
]);
const rooms = drawnLevel([
  '#############', //
  '#@.A..B..C.G#',
  '#.##.###.####',
  '#b..a#c....G#',
  '#############',
]);

describe.each(ghostGoals)('every policy (%s)', (goal) => {
  it('acts the same for the same seed, even if its state was stored in between [9.8l]', () => {
    const played = play(house, goal, { seed: 7, steps: 400 });
    expect(play(house, goal, { seed: 7, steps: 400, checkpoint: true })).toEqual(played);
  });

  it('keeps its plan small', () => {
    const { plan, world, tally } = play(house, goal, { seed: 3, steps: 600 });
    expect(JSON.stringify({ plan, world, tally }).length).toBeLessThan(20_000);
  });
});

describe('exploration', () => {
  it('enters every reachable tile and opens doors with the keys that it finds', () => {
    const { world, steps } = play(house, 'maximize_exploration');
    expect(coverageOf(house, world)).toBe(1);
    expect(steps).toBeLessThan(3 * reachableTiles(house).count);
    expect([world.held.length, world.opened.length]).toEqual([4, 4]);
  });

  it('ends when nothing is left, even if a part of the level stays shut', () => {
    const shut = drawnLevel(['#######', '#@.A..#', '#######']);
    const { plan, world, steps } = play(shut, 'maximize_exploration');
    expect([plan.stuck, world.entered]).toEqual([false, 2]);
    expect(steps).toBeLessThan(10);
    const oneKey = drawnLevel(['#########', '#..A@B..#', '###.a.###', '#########'], { consumed: true });
    const spent = play(
      { ...oneKey, items: oneKey.items.map((item) => ({ ...item, opens: ['A1', 'B1'] })) },
      'maximize_exploration',
    );
    expect([spent.plan.stuck, spent.world.opened.length]).toEqual([true, 1]);
    expect(spent.steps).toBeLessThan(20);
  });

  it('does not give up when a rule prevents one move', () => {
    const ruleset = aRuleset([
      {
        ruleCondition: [
          ['action.type', 'MOVE'],
          ['position.x', '2'],
          ['position.y', '1'],
        ],
        ruleAction: 'FORBID MOVE',
      },
    ]);
    const guarded = { ...drawnLevel(['#####', '#@..#', '#...#', '#####']), ruleset };
    // A ghost at (2, 1) cannot leave, so that tile must be entered last; the policy has no information about it, but all its moves from there fail.
    const { plan, steps } = play(guarded, 'maximize_exploration');
    expect(plan.stuck).toBe(true);
    expect(steps).toBeLessThan(budgetOf('maximize_exploration', guarded));
  });
});

describe('goal seeking', () => {
  it('fetches the keys of the doors on its way, one after the other', () => {
    const { world, steps } = play(rooms, 'complete_level');
    expect(world.reached.length).toBe(2);
    expect(steps).toBeLessThan(60);
    const far = play(house, 'complete_level');
    expect(far.world.reached).toEqual([0]);
  });

  it('goes the shortest way when it is free', () => {
    const plain = drawnLevel(['@....', '.###.', '....G']);
    expect(play(plain, 'complete_level').steps).toBe(6);
  });

  it('goes around hazards, and through them when there is no other way', () => {
    const around = play(drawnLevel(['@^G', '...']), 'complete_level');
    expect([around.world.reached, around.world.hp]).toEqual([[0], 10]);
    const through = play(drawnLevel(['@^G'], { harm: 4 }), 'complete_level');
    expect([through.world.reached, through.world.hp]).toEqual([[0], 6]);
    const deadly = play(drawnLevel(['@^G'], { harm: 10 }), 'complete_level');
    expect([deadly.world.reached, deadly.world.hp, deadly.plan.stuck]).toEqual([[], 10, true]);
  });

  it('spends a key on the door that leads to the goal', () => {
    const fork = drawnLevel(['#########', '#..A@B.G#', '####a####', '#########'], { consumed: true });
    const items = fork.items.map((item) => ({ ...item, opens: ['A1', 'B1'] }));
    const { world } = play({ ...fork, items }, 'complete_level');
    expect([world.reached, world.opened]).toEqual([[0], [1]]);
  });

  it('touches a goal that cannot be entered', () => {
    const walled = drawnLevel(['@..#']);
    const { world } = play({ ...walled, goals: [{ id: 'altar', at: { x: 3, y: 0 } }] }, 'complete_level');
    expect(world.reached).toEqual([0]);
  });

  it('looks around and ends when no goal can be reached', () => {
    const { world, plan } = play(drawnLevel(['@...#G', '....#.']), 'complete_level');
    expect([world.entered, plan.stuck]).toEqual([8, true]);
  });
});

describe('bug hunting', () => {
  it('explores and tries every kind of probe', () => {
    const ruleset = aRuleset([{ ruleCondition: [['hp', '<3']], ruleAction: 'FORBID *' }]);
    const played = play({ ...house, ruleset }, 'find_bugs', { steps: 2_000 });
    expect([...played.kinds].sort()).toEqual([
      ...['boundary', 'explore', 'injection', 'item_on_thing', 'malformed', 'nearby', 'not_held', 'out_of_reach'],
      ...['protocol', 'repeat', 'speech', 'stroll', 'unknown_action'],
    ]);
    expect(played.probes.size).toBe(3);
    expect(coverageOf(house, played.world)).toBeGreaterThan(0.9);
  });

  it('acts differently for another seed', () => {
    const [one, other] = [1, 2 ** 32 + 1].map((seed) => play(house, 'find_bugs', { seed, steps: 50 }).texts);
    expect(one).not.toEqual(other);
  });
});

describe('gathering figures', () => {
  it('mixes the actions of players, few of which the world refuses', () => {
    const { tally } = play(house, 'collect_metrics', { steps: 1_000 });
    expect(Object.keys(tally.done).sort()).toEqual(['ATTACK', 'IDLE', 'INTERACT', 'MOVE', 'SPEAK', 'USE']);
    const refused = Object.values(tally.worldRefusals).reduce((sum, count) => sum + count, 0);
    expect(refused).toBeLessThan(200);
  });
});

describe('the budget', () => {
  it('grows with the level within its bounds [9.8a]', () => {
    expect(budgetOf('maximize_exploration', drawnLevel(['@.']))).toBe(100);
    expect(budgetOf('maximize_exploration', drawnLevel(Array.from({ length: 200 }, () => '@'.padEnd(200, '.'))))).toBe(
      20_000,
    );
    expect(budgetOf('maximize_exploration', house)).toBeGreaterThan(4 * reachableTiles(house).count);
  });
});
