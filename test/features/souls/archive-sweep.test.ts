import { describe, expect, it } from 'vitest';

import { MemorySoulArchive } from '../../support/memory/soul-archive.js';
import { EXPIRE_EVERY_MS, startArchiveSweep, SWEEP_EVERY_MS } from '../../../src/features/souls/archive-sweep.js';
import { contentDigest } from '../../../src/kernel/crypto/content-digest.js';
import { rememberingLog } from '../../support/http.js';
import { ManualClock } from '../../support/manual-clock.js';
import { settle } from '../../support/settle.js';

const payloads = Array.from({ length: 250 }, (_, n) => Buffer.from(String(n)));

const scene = async (expiresInMs: number) => {
  const archive = new MemorySoulArchive();
  const clock = new ManualClock();
  const expiresAt = new Date(clock.now().getTime() + expiresInMs);
  for (const bytes of payloads) await archive.stage(contentDigest(bytes), bytes, { tenant: 'studio', expiresAt });
  const left = async () => {
    const found = await Promise.all(payloads.map((bytes) => archive.read(contentDigest(bytes))));
    return found.filter((bytes) => bytes !== null).length;
  };
  return { archive, clock, left, log: rememberingLog(), days: null };
};

describe('the sweep of the archive', () => {
  it('drops all expired entries at its start, however many', async () => {
    const { left, ...deps } = await scene(0);
    await using _ = startArchiveSweep(deps);
    await settle();
    expect(await left()).toBe(0);
  });

  it('drops entries as they expire later [8.1i, 8.1l]', async () => {
    const { left, ...deps } = await scene(SWEEP_EVERY_MS);
    await using _ = startArchiveSweep(deps);
    await settle();
    await deps.clock.advance(SWEEP_EVERY_MS - 1);
    expect(await left()).toBe(250);
    await deps.clock.advance(1);
    await settle();
    expect(await left()).toBe(0);
  });

  it('continues after failures, and logs them once', async () => {
    const { archive, left, clock, log, days } = await scene(0);
    let isAway = true;
    const dropStaged = async (before: Date, limit: number) => {
      if (isAway) throw new Error('away');
      return archive.dropStaged(before, limit);
    };
    const dropPublic = () => Promise.resolve(0);
    await using _ = startArchiveSweep({ archive: { dropStaged, dropPublic }, clock, log, days });
    await settle();
    await clock.advance(SWEEP_EVERY_MS);
    expect(log.lines).toMatchObject([{ level: 'warn' }]);
    isAway = false;
    await clock.advance(SWEEP_EVERY_MS);
    await settle();
    expect(await left()).toBe(0);
  });

  it('stops on request, even in the middle of its work', async () => {
    const { clock, log, days } = await scene(0);
    let batches = 0;
    const dropStaged = async (_: Date, limit: number) => {
      batches += 1;
      return limit;
    };
    const sweep = startArchiveSweep({ archive: { dropStaged, dropPublic: dropStaged }, clock, log, days });
    await sweep[Symbol.asyncDispose]();
    const before = batches;
    await clock.advance(SWEEP_EVERY_MS);
    expect(batches).toBe(before);
    expect(before).toBeLessThan(1_000);
  });

  it('drops public payloads after the days that the operator set, however many [8.1x]', async () => {
    const { archive, left, ...deps } = await scene(SWEEP_EVERY_MS);
    const at = deps.clock.now();
    for (const bytes of payloads) await archive.publish(contentDigest(bytes), { tenant: 'studio', at });
    await using _ = startArchiveSweep({ archive, ...deps, days: 2 });
    await settle();
    const hours = async (count: number): Promise<void> => {
      for (let hour = 0; hour < count; hour += 1) {
        await deps.clock.advance(EXPIRE_EVERY_MS);
        await settle();
      }
    };
    await hours(47);
    expect(await left()).toBe(250);
    await hours(1);
    expect(await left()).toBe(0);
  });

  it('keeps public payloads for ever if no days are set [8.1x]', async () => {
    const { archive, left, ...deps } = await scene(SWEEP_EVERY_MS);
    const at = new Date(0);
    for (const bytes of payloads) await archive.publish(contentDigest(bytes), { tenant: 'studio', at });
    await using _ = startArchiveSweep({ archive, ...deps });
    await settle();
    await deps.clock.advance(EXPIRE_EVERY_MS);
    await settle();
    expect(await left()).toBe(250);
  });
});
