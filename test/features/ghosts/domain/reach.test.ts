import { describe, expect, it } from 'vitest';
import { act } from '../../../../src/features/ghosts/domain/act.js';
import { beginTally, noteStep } from '../../../../src/features/ghosts/domain/tally.js';
import { closureOf } from '../../../../src/features/ghosts/domain/closure.js';
import {
  canStillReach,
  departureOf,
  REACH_LOOKS,
  reachableTiles,
  searchReach,
  unusableItems,
} from '../../../../src/features/ghosts/domain/reach.js';
import { spoilingOf } from '../../../../src/features/ghosts/domain/spoil.js';
import { study } from '../../../../src/features/ghosts/domain/study.js';
import { beginWorld, type World } from '../../../../src/features/ghosts/domain/world.js';
import type { Level } from '../../../../src/features/levels/domain/level.js';
import { drained } from '../../../../src/kernel/base/sliced.js';
import type { Json } from '../../../../src/kernel/base/json.js';
import { allSlices } from '../../../support/rules.js';
import { drawnLevel } from './drawn-level.js';
import { manyKeys } from './many-keys.js';

const reachOf = (level: Level, world: World = beginWorld(level)) => drained(canStillReach(level, world)).join(' ');
const after = (level: Level, ...actions: readonly Json[]): World =>
  actions.reduce<World>((world, action) => {
    const { world: next, outcome } = act(level, world, action);
    expect(outcome).toMatchObject({ ok: true });
    return next;
  }, beginWorld(level));

/** One key, consumed by its use, for two doors. */
const fork = (rows: readonly string[]): Level => {
  const level = drawnLevel(rows, { consumed: true });
  return { ...level, items: level.items.map((item) => ({ ...item, opens: ['A1', 'B1'] })) };
};

describe('the tiles that can be reached', () => {
  it('include everything behind doors that can be opened', () => {
    const level = drawnLevel(['@.a#..', '..A...', '####..', '..B...', '..#...']);
    const tiles = reachableTiles(level);
    expect(tiles.has({ x: 5, y: 4 })).toBe(true);
    expect(tiles.has({ x: 0, y: 3 })).toBe(false);
    expect(tiles.count).toBe(5 + 1 + 2 + 3 + 2 + 3 + 3);
  });

  it('include the tiles behind each of two doors for one key, and no hazard that kills immediately', () => {
    expect(reachableTiles(fork(['..A@aB..'])).count).toBe(8);
    expect(reachableTiles(drawnLevel(['@.^.'], { harm: 9 })).count).toBe(4);
    expect(reachableTiles(drawnLevel(['@.^.'], { harm: 10 })).count).toBe(2);
  });
});

describe('whether goals can still be reached', () => {
  const levels: readonly [title: string, level: Level, reach: string][] = [
    ['in the open', drawnLevel(['@..G']), 'yes'],
    ['behind a wall', drawnLevel(['@.#.G', '..#..']), 'no'],
    ['behind an unlocked door', drawnLevel(['@+..G']), 'yes'],
    ['behind a lock with its key here', drawnLevel(['@aA.G']), 'yes'],
    ['behind a lock with its key behind it', drawnLevel(['@.A.aG']), 'no'],
    ['behind three doors, each with the key to the next', drawnLevel(['@a.A.b.B.c.C.G']), 'yes'],
    ['behind two doors, each with the key to the other', drawnLevel(['a.B.@.A.b', '####.####', '####G####']), 'yes'],
    ['as above, with the goal behind them', drawnLevel(['aGB.@.A.b']), 'no'],
    ['one of two behind doors for one key', fork(['G.A.@a.B.G']), 'yes yes'],
    ['behind a second door for one key', fork(['@a.A..B..G']), 'no'],
    ['across a survivable hazard', drawnLevel(['@.^.G']), 'yes'],
    ['across hazards that are deadly together', drawnLevel(['@^^^.G'], { harm: 4 }), 'no'],
    ['across fewer of them, touching it from the last one', drawnLevel(['@^^^G'], { harm: 4, hp: 13 }), 'yes'],
    ['around some of them', drawnLevel(['@^^^.G', '^.^...'], { harm: 4 }), 'yes'],
    ['across hazards, for a key and back', drawnLevel(['a.^@.A.G'], { harm: 4, hp: 9 }), 'yes'],
    ['as above, where the way back kills', drawnLevel(['a.^@.A.G'], { harm: 4, hp: 8 }), 'unknown'],
    ['across hazards, with what heals on the way', drawnLevel(['@h^^^.G'], { harm: 4 }), 'unknown'],
    ['behind a key across deadly hazards', drawnLevel(['a.^^^@A.G'], { harm: 4 }), 'no'],
    ['across a deadly hazard', drawnLevel(['@.^.G'], { harm: 10 }), 'no'],
    ['on a tile that can only be touched', { ...drawnLevel(['@.#']), goals: [{ id: 'g', at: { x: 2, y: 0 } }] }, 'yes'],
    ['off the map', { ...drawnLevel(['@..']), goals: [{ id: 'g', at: { x: 0, y: 9 } }] }, 'no'],
  ];
  it.each(levels)('is decided for one goal: %s', (_, level, reach) => {
    expect(reachOf(level)).toBe(reach);
  });

  it('is decided for a soft lock: the key was spent on the other door', () => {
    const level = fork(['..A@aB.G']);
    const take = { type: 'INTERACT', target: 'a1' };
    const use = (target: string) => ({ type: 'USE', target, payload: { item: 'a1' } });
    expect(reachOf(level, after(level, take))).toBe('yes');
    expect(reachOf(level, after(level, take, use('A1')))).toBe('no');
    const right = after(level, take, { type: 'MOVE', target: 'a1', payload: { x: 4, y: 0 } }, use('B1'));
    expect(reachOf(level, right)).toBe('yes');
  });

  it('is decided however many keys of one kind exist, and whatever they open first', () => {
    // Two keys for three doors, two of which are on the way.
    const level = (opens: readonly string[]) => {
      const drawn = drawnLevel(['@a.A.B.G', 'a#######'], { consumed: true });
      return { ...drawn, items: drawn.items.map((item) => ({ ...item, opens })) };
    };
    expect(reachOf(level(['A1', 'B1']))).toBe('yes');
    expect(reachOf(level(['A1', 'B1', 'C1']))).toBe('yes');
    expect(reachOf(level(['A1']))).toBe('no');
  });

  it('takes into account the order in which keys must be spent', () => {
    // The first key opens either door; behind the right one (A) is another of its kind.
    expect(reachOf(fork(['#####', '#a@B.', '#A##.', '#a##G', '#####']))).toBe('yes');
  });

  it('counts reached goals, and no others once the ghost is dead', () => {
    const level = drawnLevel(['@G.G']);
    const world = { ...after(level, { type: 'MOVE', payload: { x: 1, y: 0 } }), hp: 0 };
    expect(reachOf(level, world)).toBe('yes no');
  });

  it('is unknown when there are too many ways to search [9.9f]', () => {
    // 14 different keys, each for all of 20 doors, and a goal behind a wall: no search of bounded length finds that nothing helps.
    const rows = [
      '@'.padEnd(40, '.'),
      ''.padEnd(40, 'A#'),
      ''.padEnd(40, '.#'),
      ''.padEnd(40, '#'),
      'G'.padEnd(40, '#'),
    ];
    const level = drawnLevel(rows);
    const items = Array.from({ length: 14 }, (_, item) => ({
      id: `key${item}`,
      at: { x: item, y: 0 },
      opens: level.doors.filter((__, door) => door !== item).map(({ id }) => id),
      heals: 0,
      consumed: true,
    }));
    expect(reachOf({ ...level, items })).toBe('unknown');
  });
});

describe('the work of a search', () => {
  const searched = (level: Level, world: World = beginWorld(level)) => {
    allSlices(study(level));
    return allSlices(canStillReach(level, world));
  };
  const sum = (looks: readonly number[]): number => looks.reduce((all, one) => all + one, 0);
  /** How far the last closure of a search exceeds its bound: each door and each item once. */
  const ONE_MORE = 2_000;

  it('is small where there are as many keys as doors for them, so that none has to be chosen', () => {
    const level = manyKeys(333, 600, () => true);
    const { result, slices } = searched(level);
    expect(result).toEqual(['yes', 'yes']);
    expect(sum(slices)).toBeLessThan(10_000);
    const { choices, looks } = closureOf(level, 'bold', departureOf(beginWorld(level)));
    expect([choices.length, looks < 10_000]).toEqual([0, true]);
  });

  it('has one choice for each door and kind of key, however many keys of that kind exist', () => {
    // All doors except one can be reached.
    const level = manyKeys(32, 31, () => true);
    expect(closureOf(level, 'bold', departureOf(beginWorld(level))).choices).toHaveLength(31);
    const two = manyKeys(32, 20, (key, door) => door < 30 || key % 2 === 0);
    expect(closureOf(two, 'bold', departureOf(beginWorld(two))).choices).toHaveLength(30 + 31);
  });

  it('follows only one of the ways that spend different keys of the same kind', () => {
    // Each of three keys opens each of four doors.
    const level = { ...manyKeys(4, 3, () => true), goals: [{ id: 'walled', at: { x: 63, y: 5 } }] };
    const budget = { left: REACH_LOOKS };
    const { exact } = searchReach(level, 'bold', departureOf(beginWorld(level)), 'each', budget);
    const once = closureOf(level, 'bold', departureOf(beginWorld(level))).looks;
    expect(exact).toBe(true);
    // By the number of open doors, there are 1, 4, 6 and 4 states, and one choice for each shut door. Telling keys apart would multiply them.
    expect(REACH_LOOKS - budget.left).toBeLessThan(2 * once * (1 + 1 * 4 + 4 * 3 + 6 * 2));
  });

  const bounded: readonly (readonly [string, Level])[] = [
    ['fewer keys of one kind than doors', manyKeys(400, 300, () => true)],
    ['keys for all doors except one', manyKeys(450, 450, (key, door) => key !== door)],
    ['keys of many kinds', manyKeys(450, 450, (key, door) => (7 * key + 13 * door) % 5 < 2)],
  ];
  it.each(bounded)('ends at its bound with an unknown result: %s [9.9f]', (_, level) => {
    const { result, slices } = searched(level);
    expect(result).toEqual(['unknown', 'unknown']);
    expect(sum(slices)).toBeLessThanOrEqual(REACH_LOOKS + 2 * ONE_MORE);
    // This includes a ghost that holds all keys and may waste each.
    const held = { ...beginWorld(level), held: level.items.map((__, item) => item), hp: Infinity };
    expect(sum(searched(level, held).slices)).toBeLessThanOrEqual(REACH_LOOKS + 2 * ONE_MORE);
    expect(spoilingOf(level, held)).toBeNull();
  });

  it('is divided into small slices when a level is studied, and is done once', () => {
    const open = Array.from({ length: 256 }, (_, y) => (y === 5 ? '^' : '.').repeat(256));
    const large = drawnLevel(['@'.padEnd(256, '.'), ...open.slice(1)], { hp: 2 });
    const goals = Array.from({ length: 256 }, (_, x) => ({ id: `goal${String(x)}`, at: { x, y: 200 } }));
    for (const level of [
      { ...large, goals },
      ...bounded.map(([, one]) => ({ ...one })),
      manyKeys(333, 600, () => true),
    ]) {
      const { slices } = allSlices(study(level));
      expect(Math.max(...slices)).toBeLessThanOrEqual(256 * 256);
      expect(allSlices(study(level)).slices).toEqual([]);
      expect(sum(allSlices(canStillReach(level, beginWorld(level))).slices)).toBeLessThan(2_000_000);
    }
  });
});

describe('unusable items', () => {
  it('open nothing and heal nothing, cannot be reached, or open only something that cannot be reached', () => {
    const level = drawnLevel(['@.ajh#b#', '..A...#B', '#######.']);
    expect(unusableItems(level)).toEqual([
      { id: 'j1', why: 'The item neither opens a locked door of the level nor heals.' },
      { id: 'b1', why: 'The item is unreachable.' },
    ]);
    const away = drawnLevel(['@a#A']);
    expect(unusableItems(away)).toEqual([{ id: 'a1', why: 'The item opens only doors that are unreachable.' }]);
    const unlocked = { ...level, items: level.items.slice(0, 1).map((item) => ({ ...item, opens: ['nothing'] })) };
    expect(unusableItems(unlocked)).toHaveLength(1);
  });
});

describe('hit points in a search', () => {
  it('cost a bounded amount of work in a long level with a door at every other step', () => {
    const n = 256;
    const wall = (y: number): string => (y % 4 === 1 ? `${'#'.repeat(n - 1)}.` : `.${'#'.repeat(n - 1)}`);
    const way = Array.from({ length: n / 2 }, (_, row) =>
      Array.from({ length: n }, (__, x) => ({ x: row % 2 === 0 ? x : n - 1 - x, y: 2 * row })),
    ).flat();
    const [doors, goals] = [300, 300];
    const first = way.length - 2 * doors - goals - 10;
    const at = (place: number) => way[place] ?? { x: 0, y: 0 };
    const maze = {
      ...drawnLevel(['@G']),
      ...{ width: n, height: n, spawn: { x: 0, y: 0 }, hp: 2 * doors + 1 },
      rows: Array.from({ length: n }, (_, y) => (y % 2 === 1 ? wall(y) : '.'.repeat(n))),
      items: Array.from({ length: doors }, (_, one) => ({
        ...{ id: `k${String(one)}`, at: at(first + 2 * one), opens: [`d${String(one)}`], heals: 0, consumed: true },
      })),
      doors: Array.from({ length: doors }, (_, one) => ({
        ...{ id: `d${String(one)}`, at: at(first + 2 * one + 1), locked: true },
      })),
      hazards: [{ id: 'h', at: at(3), harm: 1 }],
      goals: Array.from({ length: goals }, (_, one) => ({
        ...{ id: `g${String(one)}`, at: at(first + 2 * doors + one) },
      })),
    };
    // Without a bound this takes minutes, all in one piece.
    expect(new Set(drained(canStillReach(maze, beginWorld(maze))))).toEqual(new Set(['unknown']));
  });

  it('are no reason for a soft lock: only used-up items are', () => {
    const level = drawnLevel(['.Aa.^@^.G'], { harm: 6, consumed: true });
    const [key] = level.items;
    const [cupboard] = level.doors;
    const move = (x: number) => ({ type: 'MOVE', payload: { x, y: 0 } });
    let world = beginWorld(level);
    let tally = beginTally(level);
    for (const [index, action] of [
      ...[move(4), move(3), { type: 'INTERACT', target: key?.id ?? '' }, move(2)],
      { type: 'USE', target: cupboard?.id ?? '', payload: { item: key?.id ?? '' } },
    ].entries()) {
      const { world: after, outcome } = act(level, world, action);
      expect(outcome.ok, JSON.stringify(outcome)).toBe(true);
      const facts = { step: index + 1, revision: index, before: world, after, action, outcome };
      const decided = { verdictValid: true, refusalCode: null, outcomeIfAllowed: null, verdicts: [] };
      tally = noteStep(level, tally, { ...facts, ...decided });
      world = after;
    }
    expect(world.spent).toHaveLength(1);
    expect(tally.found).toEqual([]);
  });
});
