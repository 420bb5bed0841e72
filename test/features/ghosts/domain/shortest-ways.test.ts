import { describe, expect, it } from 'vitest';

import type { Action } from '../../../../src/features/rules/domain/bridge/action.js';
import { byShortestWays, lastingSteps } from '../../../../src/features/ghosts/domain/shortest-ways.js';
import type { Sliced } from '../../../../src/kernel/base/sliced.js';
import { drawnLevel } from './drawn-level.js';

const level = drawnLevel(['#####', '#@..#', '#..A#', '#..a#', '#####'], { consumed: true });
const go = (x: number, y: number): Action => ({ type: 'MOVE', payload: { x, y } });
const said = (action: Action | null) => ({ text: action === null ? 'Hm.' : JSON.stringify({ action }), action });
const take: Action = { type: 'INTERACT', target: 'a1' };
const wander = [go(2, 1), go(1, 1), go(2, 1), null, go(3, 1), go(2, 1), go(2, 2), go(2, 3), take, go(2, 2), go(9, 9)];

const done = <Result>(slices: Sliced<Result>): Result => {
  for (;;) {
    const slice = slices.next();
    if (slice.done === true) return slice.value;
  }
};

describe('the shortest ways between the lasting steps of a ghost', () => {
  const lasting = done(lastingSteps(level, wander.map(said)));

  it('lead from each lasting step to the next [9.10a]', () => {
    expect(lasting.map(({ at, action }) => [at, action])).toEqual([
      [{ x: 2, y: 3 }, take],
      [{ x: 2, y: 2 }, go(9, 9)],
    ]);
    const texts = done(byShortestWays(level, lasting)).map(({ text }) => text);
    expect(texts).toHaveLength(3 + 1 + 1 + 1);
    expect(texts[3]).toBe(JSON.stringify({ action: take }));
    expect(texts.at(-1)).toBe(JSON.stringify({ action: go(9, 9) }));
  });

  it('are left out when none exists', () => {
    const behind = { ...said(take), at: { x: 0, y: 0 } };
    expect(done(byShortestWays(level, [behind]))).toEqual([{ text: JSON.stringify({ action: take }) }]);
  });
});
