import { describe, expect, it } from 'vitest';

import { findingsOf } from '../../../../src/features/ghosts/domain/findings.js';
import { spoilingOf } from '../../../../src/features/ghosts/domain/spoil.js';
import { beginWorld } from '../../../../src/features/ghosts/domain/world.js';
import { drawnLevel } from './drawn-level.js';
import { play } from './play.js';

/** One key for two doors; only one of them leads to the goal. */
const rooms = [
  // The planner reaches the good door first.
  '###########',
  '#@a.A..G..#',
  '#...#######',
  '#...A.....#',
  '###########',
];

describe('the action that would waste an item', () => {
  it('uses a key that leaves a goal behind the other door', () => {
    const level = drawnLevel(rooms, { consumed: true });
    const world = { ...beginWorld(level), held: [0] };
    expect(spoilingOf(level, world)).toEqual({ door: 1, item: 0 });
  });

  it('does not exist while the key is not held, is not consumed, or fits only one door', () => {
    const level = drawnLevel(rooms, { consumed: true });
    expect(spoilingOf(level, beginWorld(level))).toBeNull();
    const lasting = drawnLevel(rooms);
    expect(spoilingOf(lasting, { ...beginWorld(lasting), held: [0] })).toBeNull();
    expect(spoilingOf(level, { ...beginWorld(level), held: [0], opened: [1] })).toBeNull();
  });

  it.each([1, 2, 3, 4, 5])(
    'is performed by the ghost that hunts bugs (seed %i), so that soft locks are found',
    (seed) => {
      const level = drawnLevel(rooms, { consumed: true });
      const { tally } = play(level, 'find_bugs', { seed });
      expect(findingsOf(level, tally, { over: true }).map(({ kind }) => kind)).toContain('soft_lock');
    },
  );

  /** Each key opens these doors, in the order in which they are drawn. */
  const withKeys = (drawn: readonly string[], opens: readonly (readonly string[])[]) => {
    const level = drawnLevel(drawn, { consumed: true });
    return { ...level, items: level.items.map((item, index) => ({ ...item, opens: opens[index] ?? [] })) };
  };
  const others = [
    withKeys(['#########', '#@aa..A.#', '#.....###', '#.....BG#', '#########'], [['A1'], ['A1', 'B1']]),
    withKeys(
      ['###########', '##A#.B#...#', '#.a###...a#', '#..@#G..G.#', '##a.C...###', '###########'],
      [
        ['A1', 'C1'],
        ['A1', 'C1'],
        ['B1', 'A1'],
      ],
    ),
  ];
  it.each(others)('is performed even if another key opens that door as well (%#)', (level) => {
    for (const seed of [1, 2, 3]) {
      const { tally } = play(level, 'find_bugs', { seed });
      expect(findingsOf(level, tally, { over: true }).map(({ kind }) => kind)).toContain('soft_lock');
    }
  });
});
