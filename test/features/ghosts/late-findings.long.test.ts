import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { createSessionCache, type PlayDeps, type PlayedSession } from '../../../src/features/ghosts/play-slice.js';
import { createPlayCache } from '../../../src/features/ghosts/remote-steps.js';
import { closeAndReport } from '../../../src/features/ghosts/report.js';
import { createSearches, reproduce } from '../../../src/features/ghosts/reproduce.js';
import type { Levels } from '../../../src/features/levels/levels.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import type { GhostAnswer } from '../../../workflows/ghost-session.js';
import { drawnLevel } from './domain/drawn-level.js';
import { ManualClock } from '../../support/manual-clock.js';
import { playAllSlices } from '../../support/played-sessions.js';

/** The only key fits two doors, is far away, and is consumed by its use. */
const open = drawnLevel(
  [
    '################################',
    '#@.............................#',
    '#..............................#',
    '#..............................#',
    '#..............................#',
    '#..............................#',
    '#.............................a#',
    '#..............................#',
    '#A##########################A###',
    '#..#........................G..#',
    '################################',
  ],
  { consumed: true },
);
/** To the key and back to the wrong door; both are touched on the way. */
const SHORTEST = 29 + 5 + 29 + 1 + 2;

/** The same with walls, so that the walk of the ghost differs from the shortest way even without its loops. */
const winding = drawnLevel(
  [
    '################################',
    '#@.....#.......#.......#......a#',
    '#..............#...............#',
    '#......#.......#.......#.......#',
    '#......#.......#.......#.......#',
    '#......#.......#.......#.......#',
    '#......#.......#.......#.......#',
    '#......#.......#.......#.......#',
    '#......#...............#.......#',
    '#......#.......#.......#.......#',
    '#A##########################A###',
    '#..#........................G..#',
    '################################',
  ],
  { consumed: true },
);
/** Down to the gap in the middle and up again, both ways. */
const SHORTEST_WINDING = 29 + 14 + 29 + 14 + 8 + 1;

describe('a late soft lock', () => {
  it.each([
    ['an open place', open, SHORTEST, 1_500],
    ['a place with walls', winding, SHORTEST_WINDING, 2_000],
  ])(
    'is reproduced in a few steps within the time of one search, in %s',
    async (_, level, shortest, steps) => {
      const session: PlayedSession = {
        ...{ tenant: 'studio', sessionId: 'g0_0_aaaaaaaaaaaaaaaa', goal: 'find_bugs', seed: 7, steps },
        level: { levelId: 'two doors', version: null, digest: 'the digest', generated: true },
      };
      const store = new MemoryEventStore();
      const clock = new ManualClock();
      const levels = { levelOf: () => Promise.resolve(level), ownLevelOf: () => level } as unknown as Levels;
      const deps: PlayDeps = {
        ...{
          levels,
          clock,
          events: store,
          kept: createSessionCache(),
          writers: new StreamWriters(store, clock, { shared: true }),
        },
        pace: (work) => Promise.resolve().then(work),
        callEngine: () => Promise.reject(new Error('no engine plays')),
      };
      await playAllSlices(deps, session);
      const { findings } = await closeAndReport({ ...deps, plays: createPlayCache() }, session);
      const lock = findings.find(({ kind }) => kind === 'soft_lock');
      let now = 0;
      const ticking = { monotonicMs: () => (now += 1) };
      const found = await reproduce(
        { ...deps, clock: ticking, searches: createSearches() },
        { tenant: 'studio', session: { ...session, name: 'over' } as unknown as GhostAnswer, finding: lock },
        undefined,
      );
      expect(lock?.fromStep).toBeGreaterThan(4 * shortest);
      expect(found.steps).toBeLessThanOrEqual(shortest);
    },
    60_000,
  );
});
