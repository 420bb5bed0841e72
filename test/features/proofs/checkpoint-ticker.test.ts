import { describe, expect, it, vi } from 'vitest';

import { startCheckpoints } from '../../../src/features/proofs/checkpoint-ticker.js';
import { newestCheckpoint } from '../../../src/features/proofs/log.js';
import { logStream, npcStream } from '../../../src/kernel/base/stream-names.js';
import { event } from '../../support/events.js';
import { LOG_TENANT, openLog } from '../../support/logs.js';
import { ManualClock } from '../../support/manual-clock.js';

const PERIOD_MS = 3_600_000;
const warn = (): void => undefined;

describe('the checkpoint ticker', () => {
  it('begins a round for events from before the start and since, and none without events [10.5b]', async () => {
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

  const ticking = async (openedWith: Parameters<typeof openLog>[0] = {}, aheadMs = 2 * PERIOD_MS) => {
    const log = await openLog(openedWith);
    const clock = new ManualClock(new Date(Date.now() + aheadMs).toISOString());
    const sizes = async (): Promise<number> => (await newestCheckpoint(log.events, LOG_TENANT))?.size ?? 0;
    return { log, clock, sizes, deps: { ...log.rounds, clock, periodMs: PERIOD_MS, log: { warn } } };
  };
  const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

  it('includes events that were written during another round', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const { log, clock, sizes, deps } = await ticking({ receiver: { handOn: () => held } });
    await log.write('first', { n: 1 });
    const asked = log.checkpoint();
    await vi.waitFor(async () => expect(await sizes()).toBe(1));
    await log.write('between', { n: 1 });
    await using _ticker = startCheckpoints({ ...deps, tenants: () => [LOG_TENANT] });
    await clock.advance(60_000);
    await settled();
    release();
    await asked;
    await log.write('later', { n: 1 });
    await clock.advance(PERIOD_MS);
    await vi.waitFor(async () => expect(await sizes()).toBe(3));
    await log[Symbol.asyncDispose]();
  });

  it('includes events that were written before it discovered the tenant', async () => {
    const { log, clock, sizes, deps } = await ticking();
    let known = ['idle'];
    await log.write('early', { n: 1 });
    await using _ticker = startCheckpoints({ ...deps, tenants: () => known });
    await clock.advance(60_000);
    await settled();
    known = ['idle', LOG_TENANT];
    await log.write('later', { n: 1 });
    await clock.advance(PERIOD_MS);
    await vi.waitFor(async () => expect(await sizes()).toBe(2));
    await log[Symbol.asyncDispose]();
  });

  it('continues after the clock was set back', async () => {
    const { log, clock, sizes, deps } = await ticking({}, -24 * PERIOD_MS);
    await log.write('a', { n: 1 });
    await log.checkpoint();
    await log.write('b', { n: 1 });
    await using _ticker = startCheckpoints({ ...deps, tenants: () => [LOG_TENANT] });
    await clock.advance(60_000);
    await vi.waitFor(async () => expect(await sizes()).toBe(2));
    await log[Symbol.asyncDispose]();
  });

  it('continues with the other logs when one cannot be read, and warns once', async () => {
    const { log, clock, sizes, deps } = await ticking();
    const broken = logStream('broken');
    const current: typeof log.writers.current = (stream, fold, ...more) =>
      stream === broken ? Promise.reject(new Error('it is broken')) : log.writers.current(stream, fold, ...more);
    const writers = new Proxy(log.writers, {
      get: (of, name) => (name === 'current' ? current : Reflect.get(of, name)),
    });
    const warned: unknown[] = [];
    await log.events.append(npcStream('broken', 'a'), 'no_stream', [event('a')]);
    await log.write('a', { n: 1 });
    const warns = { log: { warn: (...said: unknown[]) => void warned.push(said) } };
    await using _ticker = startCheckpoints({ ...deps, ...warns, writers, tenants: () => ['broken', LOG_TENANT] });
    await clock.advance(60_000);
    await vi.waitFor(async () => expect(await sizes()).toBe(1));
    await clock.advance(PERIOD_MS);
    await settled();
    expect(warned).toHaveLength(1);
    await log[Symbol.asyncDispose]();
  });
});
