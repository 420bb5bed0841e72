import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { ghostRunRoutes } from '../../../../src/features/ghosts/http/runs.js';
import { generateLevel } from '../../../../src/features/levels/domain/generate.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';
import type { JsonObject } from '../../../../src/kernel/base/json.js';
import { startApp, type TestApp } from '../../../support/http.js';
import { ManualClock } from '../../../support/manual-clock.js';

let app: TestApp;
/** What the process engine is told; it accepts nothing. */
let asked: JsonObject[];
beforeEach(async () => {
  asked = [];
  const clock = new ManualClock();
  const readModels = { reachedPosition: async () => true, list: async () => ({ rows: [], more: false }) };
  const ref = { levelId: 'a place', version: null, digest: 'the digest', generated: true };
  const levels = {
    openLevel: async () => ({ level: generateLevel('a place', 1), ref }),
    keepForSession: async () => undefined,
  };
  const ask = async (_: unknown, inputs: readonly JsonObject[]) => {
    asked.push(...inputs);
    throw new Rejection('ENGINE_UNAVAILABLE', { retryAfter: 1 });
  };
  app = await startApp(
    ghostRunRoutes({ ports: { clock, readModels }, runtime: { ask }, engines: {}, levels } as never),
    {
      clock,
    },
  );
});
afterEach(() => app.stop());

const run = (body: JsonObject) => app.post('/v1/ghost/run', body);

describe('a request for a ghost session', () => {
  it('has a timeout of 60,000 ms and the driver of this server by default [7.3a]', async () => {
    for (const goal of ['maximize_exploration', 'complete_level', 'find_bugs', 'collect_metrics'])
      expect((await run({ goal })).body.error.code).toBe('ENGINE_UNAVAILABLE');
    expect(asked).toHaveLength(4);
    for (const { timeoutMs, driver = 'local' } of asked) expect([timeoutMs, driver]).toEqual([60_000, 'local']);
    await run({ goal: 'find_bugs', level: 'a place', timeout: 5, seed: 3, driver: 'remote' });
    expect(asked.at(-1)).toMatchObject({ goal: 'find_bugs', timeoutMs: 5, seed: 3, driver: 'remote' });
  });

  it('has no other goal or driver [7.3a]', async () => {
    for (const body of [{ goal: 'win' }, { goal: 'find_bugs', driver: 'elsewhere' }])
      expect((await run(body)).body.error.code).toBe('SCHEMA_INVALID');
    expect(asked).toEqual([]);
  });
});
