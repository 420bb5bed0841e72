import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Action } from '../../../../src/features/rules/domain/bridge/action.js';
import { act } from '../../../../src/features/ghosts/domain/act.js';
import { withoutLoops } from '../../../../src/features/ghosts/domain/cut-loops.js';
import { beginWorld, type World } from '../../../../src/features/ghosts/domain/world.js';
import { drawnLevel } from './drawn-level.js';

const level = drawnLevel(['######', '#@.a.#', '#.^.G#', '#.####', '######'], { consumed: true });
const go = (x: number, y: number): Action => ({ type: 'MOVE', payload: { x, y } });
const take: Action = { type: 'INTERACT', target: 'a1' };

const direct = (actions: readonly (Action | null)[]): readonly number[] => {
  const slices = withoutLoops(level, actions);
  for (;;) {
    const { done, value } = slices.next();
    if (done === true) return value;
  }
};
/** Everything about a world that a walk without loops must also cause. */
const standing = (actions: readonly (Action | null)[]): Partial<World> => {
  const {
    visited: _visited,
    entered: _entered,
    news: _news,
    ...world
  } = actions.reduce(
    (before, action) => (action === null ? before : act(level, before, action).world),
    beginWorld(level),
  );
  return world;
};

describe('a walk without its loops', () => {
  it('has no detours, and no action without effect', () => {
    const walk = [go(2, 1), go(1, 1), null, go(2, 1), go(2, 1), go(2, 2)];
    expect(direct(walk)).toEqual([3, 5]);
  });

  it('keeps the actions that changed the world on the way', () => {
    expect(direct([go(2, 1), take, go(1, 1), go(2, 1)])).toEqual([0, 1]);
    expect(direct([go(2, 1), take, go(1, 1)])).toEqual([0, 1, 2]);
  });

  it('leads to the same world as the full walk', () => {
    const tile = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 5 })).map(([x, y]) => go(x, y));
    const use: Action = { ...take, type: 'USE' };
    const actions = fc.array(fc.oneof(tile, fc.constantFrom(take, use, null)), { maxLength: 300 });
    fc.assert(
      fc.property(actions, (walk) => {
        const left = direct(walk);
        expect(standing(left.map((position) => walk[position] ?? null))).toEqual(standing(walk));
        expect(direct(left.map((position) => walk[position] ?? null))).toHaveLength(left.length);
      }),
    );
  });
});
