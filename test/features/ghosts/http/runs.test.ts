import { describe, expect, it } from 'vitest';

import { ghostRunRoutes } from '../../../../src/features/ghosts/http/runs.js';
import { generateLevel } from '../../../../src/features/levels/domain/generate.js';
import type { Call } from '../../../../src/kernel/http/route.js';
import { ManualClock } from '../../../support/manual-clock.js';

/** What a suite asks the session for. */
const requestOf = async (body: object): Promise<object> => {
  const asked: object[] = [];
  const level = generateLevel('a place', 1);
  const ref = { levelId: 'a place', version: null, digest: 'the digest', generated: true };
  const routes = ghostRunRoutes({
    ports: {
      clock: new ManualClock(),
      readModels: { reachedPosition: () => Promise.resolve(true), list: () => Promise.resolve({ rows: [] }) },
    },
    engines: {},
    levels: { openLevel: () => Promise.resolve({ level, ref }), keepForSession: () => Promise.resolve() },
    runtime: {
      ask: (_: object, inputs: readonly object[]) => {
        asked.push(...inputs);
        return Promise.resolve({ answer: { name: 'pending', sessionId: 'g1', seed: 1 }, revision: 0, position: 0 });
      },
    },
  } as never);
  const call = {
    ...{ body, wrote: 0, requestId: 'r', commandId: '0_mwzb3d96_aaaaaaaaaaaaaaaa' },
    principal: { tenant: 'studio', keyId: 'key' },
  } as unknown as Call<never, never, never, never>;
  await routes.find(({ path }) => path === '/ghost/run')?.handler(call);
  return asked[0] ?? {};
};

describe('POST /ghost/run', () => {
  it('counts its duration in seconds, 300 by default [9.1a]', async () => {
    expect(await requestOf({ testSuite: 'smoke' })).toMatchObject({ suite: 'smoke', timeoutMs: 300_000 });
    expect(await requestOf({ testSuite: 'smoke', duration: 7 })).toMatchObject({ timeoutMs: 7_000 });
  });

  it('prefers a goal and a timeout to those of the suite [9.1c]', async () => {
    const more = { duration: 7, goal: 'complete_level', timeout: 5, seed: 3, steps: 9 };
    expect(await requestOf({ testSuite: 'smoke', ...more })).toMatchObject({
      ...{ goal: 'complete_level', timeoutMs: 5, seed: 3, steps: 9 },
    });
  });
});
