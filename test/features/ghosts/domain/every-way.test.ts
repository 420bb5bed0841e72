import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { act } from '../../../../src/features/ghosts/domain/act.js';
import { DIRECTIONS } from '../../../../src/features/ghosts/domain/chart.js';
import { canStillReach, reachableTiles } from '../../../../src/features/ghosts/domain/reach.js';
import { beginWorld, type World } from '../../../../src/features/ghosts/domain/world.js';
import { drained } from '../../../../src/kernel/base/sliced.js';
import type { Level } from '../../../../src/features/levels/domain/level.js';
import type { JsonObject } from '../../../../src/kernel/base/json.js';
import { drawnLevel } from './drawn-level.js';
import { play } from './play.js';
import { runs } from '../../../support/long.js';

const actionsIn = (level: Level, { at, held }: World): readonly JsonObject[] => [
  ...DIRECTIONS.map((way) => ({ type: 'MOVE', payload: { x: at.x + way.x, y: at.y + way.y } })),
  ...[...level.items, ...level.doors, ...level.goals].map(({ id }) => ({ type: 'INTERACT', target: id })),
  ...held.flatMap((item) =>
    ['', ...level.doors.map(({ id }) => id)].map((target) => ({
      type: 'USE',
      target,
      payload: { item: level.items[item]?.id ?? '' },
    })),
  ),
];

const sorted = (numbers: readonly number[]): string => numbers.toSorted((a, b) => a - b).join(' ');
const keyOf = ({ at, hp, held, spent, opened, reached }: World): string =>
  [at.x, at.y, hp, ...[held, spent, opened, reached].map(sorted)].join('/');

/** Every world that any actions lead to: the searches must agree with this reachability. */
const everyWorld = (level: Level, from: World): readonly World[] => {
  const known = new Map([[keyOf(from), from]]);
  for (const world of known.values()) {
    for (const action of actionsIn(level, world)) {
      const { world: next, outcome } = act(level, world, action);
      const key = keyOf(next);
      if (outcome.ok && !known.has(key)) known.set(key, next);
    }
  }
  return [...known.values()];
};

/** Small levels of all kinds: the content of each tile, the doors that each key opens, and whether it is consumed. */
const levels = ({ hazards }: { readonly hazards: boolean }) =>
  fc
    .record({
      width: fc.constantFrom(4, 6, 12, 12),
      signs: fc.array(fc.constantFrom(...(hazards ? '........##^^h' : '.........#')), { minLength: 12, maxLength: 12 }),
      things: fc.shuffledSubarray([...'GGAABBab+'], { minLength: 6, maxLength: 8 }),
      places: fc.shuffledSubarray(
        Array.from({ length: 12 }, (_, tile) => tile),
        { minLength: 9, maxLength: 9 },
      ),
      opens: fc.array(fc.oneof(fc.constant(['A1', 'A2', 'B1', 'B2']), fc.subarray(['A1', 'A2', 'B1', 'B2'])), {
        minLength: 3,
        maxLength: 3,
      }),
      consumed: fc.boolean(),
      harm: fc.integer({ min: 1, max: 4 }),
      hp: fc.integer({ min: 2, max: 4 }),
    })
    .map(({ width, signs, things, places, opens, ...members }) => {
      const tiles = [...signs];
      tiles[places[8] ?? 0] = '@';
      things.forEach((thing, index) => (tiles[places[index] ?? 0] = thing));
      const rows = Array.from({ length: 12 / width }, (_, y) => tiles.slice(y * width, (y + 1) * width).join(''));
      const level = drawnLevel(rows, members);
      const items = level.items.map((item, index) =>
        item.heals > 0 ? item : { ...item, opens: opens[index % 3] ?? [] },
      );
      return { ...level, items };
    });

/** A corridor with four locked chambers, and keys inside and outside them: what can be reached depends on which door each key is spent on. */
const chambers = fc
  .record({
    corridor: fc.constantFrom('a@', 'a@b', '@ab'),
    contents: fc.array(fc.constantFrom(...'GGa..'), { minLength: 4, maxLength: 4 }),
    // Keys are often alike.
    opens: fc.array(
      fc.oneof(
        fc.constantFrom(['A1', 'A2', 'A3', 'A4'], ['A1', 'A2'], ['A2', 'A3', 'A4']),
        fc.subarray(['A1', 'A2', 'A3', 'A4'], { minLength: 1 }),
      ),
      { minLength: 6, maxLength: 6 },
    ),
    consumed: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 6, maxLength: 6 }),
  })
  .map(({ corridor, contents, opens, consumed }): Level => {
    const level = drawnLevel([
      corridor.padEnd(6, '.'),
      'A#AA#A',
      contents
        .join('')
        .replace(/^(.)(.)/, '$1#$2')
        .replace(/(.)$/, '#$1'),
    ]);
    return {
      ...level,
      items: level.items.map((item, index) => ({
        ...item,
        opens: opens[index] ?? [],
        consumed: consumed[index] !== 0,
      })),
    };
  });
const anyLevel = fc.oneof(levels({ hazards: false }), chambers, chambers);

const RUNS = { numRuns: runs(6, 40) };

describe('an exhaustive walk through a level', () => {
  it('agrees with the search for reachable goals, from every world on the way', () => {
    fc.assert(
      fc.property(anyLevel, fc.nat(), (level, pick) => {
        const worlds = everyWorld(level, beginWorld(level));
        const from = worlds[pick % worlds.length] ?? beginWorld(level);
        const reached = new Set(everyWorld(level, from).flatMap((world) => world.reached));
        const said = drained(canStillReach(level, from));
        expect(said).toEqual(level.goals.map((_, goal) => (reached.has(goal) ? 'yes' : 'no')));
      }),
      RUNS,
    );
  });

  it('never contradicts that search where hazards harm', () => {
    fc.assert(
      fc.property(levels({ hazards: true }), fc.nat(), (level, pick) => {
        const worlds = everyWorld(level, beginWorld(level));
        const from = worlds[pick % worlds.length] ?? beginWorld(level);
        const reached = new Set(everyWorld(level, from).flatMap((world) => world.reached));
        drained(canStillReach(level, from)).forEach((said, goal) => {
          if (said !== 'unknown') expect(said).toBe(reached.has(goal) ? 'yes' : 'no');
        });
      }),
      RUNS,
    );
  });

  it('enters only tiles that count as reachable, and all of them where nothing is consumed', () => {
    fc.assert(
      fc.property(levels({ hazards: false }), (level) => {
        const entered = new Set(everyWorld(level, beginWorld(level)).map(({ at }) => `${at.x} ${at.y}`));
        const { count, has } = reachableTiles(level);
        for (const tile of entered) {
          const [x = 0, y = 0] = tile.split(' ').map(Number);
          expect(has({ x, y })).toBe(true);
        }
        if (level.items.every(({ consumed }) => !consumed)) expect(entered.size).toBe(count);
      }),
      RUNS,
    );
  });

  it('reaches no more goals than the ghost that seeks goals', () => {
    fc.assert(
      fc.property(anyLevel, (level) => {
        const most = Math.max(...everyWorld(level, beginWorld(level)).map(({ reached }) => reached.length));
        expect(play(level, 'complete_level').world.reached.length).toBe(most);
      }),
      RUNS,
    );
  });

  it('enters no more tiles than the ghost that explores, where nothing is consumed', () => {
    fc.assert(
      fc.property(levels({ hazards: false }), (drawn) => {
        const level = { ...drawn, items: drawn.items.map((item) => ({ ...item, consumed: false })) };
        const { world, plan } = play(level, 'maximize_exploration');
        expect(world.entered).toBe(reachableTiles(level).count);
        expect(plan.shunned).toEqual([]);
      }),
      RUNS,
    );
  });
});
