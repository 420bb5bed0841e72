import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import {
  createSessionCache,
  loadSession,
  type PlayDeps,
  type PlayedSession,
  playSlice,
  presentSession,
} from '../../../src/features/ghosts/play-slice.js';
import type { Levels } from '../../../src/features/levels/levels.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { generateLevel } from '../../../src/features/levels/domain/generate.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { ManualClock } from '../../support/manual-clock.js';

const level = generateLevel('a place', 3);
const session = (steps: number): PlayedSession => ({
  ...{ tenant: 'studio', sessionId: 'g0_0_aaaaaaaaaaaaaaaa', goal: 'find_bugs', seed: 3, steps },
  level: { levelId: 'a place', version: null, digest: 'the digest', generated: true },
});

describe('a session that another process plays', () => {
  it('is folded on from where it was last read', async () => {
    const store = new MemoryEventStore();
    const clock = new ManualClock();
    const player: PlayDeps = {
      levels: { levelOf: () => Promise.resolve(level) } as unknown as Levels,
      ...{
        clock,
        events: store,
        kept: createSessionCache(),
        writers: new StreamWriters(store, clock, { shared: true }),
      },
      pace: (work) => Promise.resolve().then(work),
      callEngine: () => Promise.reject(new Error('no engine plays')),
    };
    let read = 0;
    const events: Pick<EventStore, 'read'> = {
      read: async (...asked) => {
        const page = await store.read(...asked);
        read += page.events.length;
        return page;
      },
    };
    const reader = { ...player, events, kept: createSessionCache() };
    const readWhile = async (steps: number): Promise<number> => {
      await playSlice(player, session(steps), new AbortController().signal);
      read = 0;
      const { state } = await presentSession(reader, session(steps));
      const told = read;
      expect(state).toEqual((await loadSession(player, session(steps))).state);
      return told;
    };
    expect(await readWhile(200)).toBeGreaterThan(200);
    expect(await readWhile(210)).toBeLessThan(20);
    expect(await readWhile(210)).toBe(1);
    // Nothing before a checkpoint is read.
    expect(await readWhile(255)).toBeLessThan(20);
  });
});
