import { describe, expect, it, vi } from 'vitest';

import { startCheckpoints } from '../../../src/app/audit/checkpoint-ticker.js';
import { newestCheckpoint } from '../../../src/app/audit/log.js';
import { LOG_TENANT, openLog } from '../../support/logs.js';
import { ManualClock } from '../../support/manual-clock.js';

const PERIOD_MS = 3_600_000;
const warn = (): void => undefined;

describe('the ticker of checkpoints', () => {
  it('begins a round for what was written before the start and since, and none for nothing', async () => {
    await using log = await openLog();
    const clock = new ManualClock(new Date().toISOString());
    const sizes = async (): Promise<number> => (await newestCheckpoint(log.events, LOG_TENANT))?.size ?? 0;
    const ends = (): Promise<number> => log.events.lastPosition();
    await log.write('before', { n: 1 });
    const deps = { ...log.rounds, clock, periodMs: PERIOD_MS, log: { warn }, tenants: () => [LOG_TENANT, 'idle'] };
    await using _first = startCheckpoints(deps);
    await using _second = startCheckpoints(deps);
    await clock.advance(60_000);
    await vi.waitFor(async () => expect(await sizes()).toBe(1));
    const quiet = await ends();
    await clock.advance(PERIOD_MS);
    await clock.advance(PERIOD_MS);
    expect(await ends()).toBe(quiet);
    await log.write('since', { n: 1 });
    await log.write('before', { n: 2 });
    await clock.advance(PERIOD_MS);
    await vi.waitFor(async () => expect(await sizes()).toBe(3));
  });
});
