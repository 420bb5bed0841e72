import { describe, expect, it } from 'vitest';

import { runGhost } from '../../../src/features/ghosts/run-ghost.js';
import { generateLevel } from '../../../src/features/levels/domain/generate.js';
import { ManualClock } from '../../support/manual-clock.js';

describe('an accepted session', () => {
  it('keeps its level until a day after its timeout [9.8e]', async () => {
    const clock = new ManualClock();
    const kept: string[] = [];
    const level = generateLevel('a place', 1);
    const ref = { levelId: 'a place', version: null, digest: 'the digest', generated: true };
    const deps = {
      clock,
      engines: {},
      levels: {
        openLevel: () => Promise.resolve({ level, ref }),
        keepForSession: (_tenant: string, _opened: object, until: Date) => {
          kept.push(until.toISOString());
          return Promise.resolve();
        },
      },
      runtime: { ask: () => Promise.resolve({ answer: {}, revision: 0, position: 0 }) },
    };
    const by = {
      tenant: 'studio',
      actor: 'a',
      commandId: '0_mwzb3d96_aaaaaaaaaaaaaaaa',
      correlationId: 'c',
      causationId: null,
    };
    const asked = { tenant: 'studio', goal: 'find_bugs', suite: null, timeoutMs: 60_000, driver: 'local', by };
    await runGhost(deps as never, asked as never);
    expect(kept).toEqual([new Date(clock.now().getTime() + 60_000 + 86_400_000).toISOString()]);
  });
});
