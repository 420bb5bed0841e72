import { beforeEach, describe, expect, it } from 'vitest';

import { MemorySoulArchive } from '../../support/memory/soul-archive.js';
import { takePayload } from '../../../src/features/souls/take-payload.js';
import { contentDigest } from '../../../src/kernel/crypto/content-digest.js';
import { ManualClock } from '../../support/manual-clock.js';

const bytes = Buffer.from('{"name":"Mira"}');
const digest = contentDigest(bytes);
const tenant = 'studio';
const later = (clock: ManualClock, ms: number) => new Date(clock.now().getTime() + ms);

describe('an uploaded payload', () => {
  let archive: MemorySoulArchive;
  let clock: ManualClock;
  beforeEach(() => {
    archive = new MemorySoulArchive();
    clock = new ManualClock();
  });
  const take = (of = tenant) => takePayload({ archive, clock }, { digest, tenant: of, bytes });

  it('is published as it was staged', async () => {
    await archive.stage(digest, bytes, { tenant, expiresAt: later(clock, 1) });
    expect([await take(), await take()]).toEqual(['published', 'wasPublic']);
    expect(await archive.readPublic(digest)).not.toBeNull();
  });

  it.each(['nobody', 'another tenant'])('is published even if %s has staged it', async (who) => {
    if (who === 'another tenant')
      await archive.stage(digest, bytes, { tenant: 'other', expiresAt: later(clock, 3_600_000) });
    expect(await take()).toBe('published');
    expect(await take('other')).toBe('wasPublic');
  });

  it('is reported as published to one of two concurrent uploads', async () => {
    expect((await Promise.all([take(), take()])).sort()).toEqual(['published', 'wasPublic']);
  });

  it('is published while expired payloads are dropped', async () => {
    await archive.stage(digest, bytes, { tenant, expiresAt: clock.now() });
    const [, said] = await Promise.all([archive.dropStaged(clock.now(), 10), take()]);
    expect(said).toBe('published');
  });

  it('is refused as busy when other sweeps drop it as fast as it is staged', async () => {
    const stage = archive.stage.bind(archive);
    archive.stage = async (...args) => {
      await stage(...args);
      await archive.dropStaged(later(clock, 86_400_000), 10);
    };
    await expect(take()).rejects.toMatchObject({ code: 'BUSY', retryAfter: 1 });
  });
});
