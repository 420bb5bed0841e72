import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { MemorySoulArchive } from '../../support/memory/soul-archive.js';
import { PLAYED_BYTES } from '../../../src/features/levels/domain/bounds.js';
import { contentDigest } from '../../../src/kernel/crypto/content-digest.js';
import { shortDigest } from '../../../src/kernel/crypto/sha256.js';
import { study } from '../../../src/features/ghosts/domain/study.js';
import type { Level } from '../../../src/features/levels/domain/level.js';
import { openLevels, readBuiltInLevels } from '../../../src/features/levels/levels.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { ManualClock } from '../../support/manual-clock.js';
import { onBehalf } from '../../support/streams.js';
import { mapObject, roomMap } from './domain/maps.js';
import { itLong } from '../../support/long.js';

const goal = mapObject('goal', 'exit', [4, 2]);
const first = roomMap([goal]);
const second = roomMap([goal, mapObject('item', 'bread', [2, 1], { heals: 1 })]);
const builtIn = await readBuiltInLevels([
  { levelId: 'cellar', map: second },
  { levelId: 'market', map: first },
]);

const setUp = () => {
  const clock = new ManualClock();
  const [events, archive] = [new MemoryEventStore(), new MemorySoulArchive()];
  /** Something that happens once, during a call to the archive. */
  const once = new Map<string, () => Promise<unknown>>();
  const at = async (moment: string): Promise<void> => {
    const act = once.get(moment);
    once.delete(moment);
    await act?.();
  };
  const kept: Pick<MemorySoulArchive, 'stage' | 'read' | 'stagedBytes' | 'unstage'> = {
    read: (digest) => archive.read(digest),
    stagedBytes: (tenant, others) => archive.stagedBytes(tenant, others),
    stage: async (...asked) => {
      await at('before a map is kept');
      await archive.stage(...asked);
      await at('after a map is kept');
    },
    unstage: async (...asked) => {
      await at('before a map goes');
      await archive.unstage(...asked);
    },
  };
  const open = (own = builtIn) =>
    openLevels({ events, archive: kept, clock, writers: new StreamWriters(events, clock), study }, own);
  let commands = 0;
  return { open, archive, once, by: () => onBehalf(`c${String(commands++)}`) };
};

describe('the level of a session', () => {
  it('is already studied, so that no step and no report has to do it', async () => {
    const { open, by } = setUp();
    const levels = open();
    const isStudied = (level: Level | undefined) => level !== undefined && study(level).next().done === true;
    await levels.put('castle', first, by());
    for (const name of ['cellar', 'castle', 'nowhere']) {
      const { level, ref } = await levels.openLevel('studio', name, 7);
      expect(isStudied(level)).toBe(true);
      expect(isStudied((await open().levelOf(ref, 7)) ?? undefined)).toBe(true);
    }
  });

  it('is not stored beyond the tenant’s quota [9.8e]', async () => {
    const { open, archive } = setUp();
    const levels = open();
    const opened = await levels.openLevel('studio', 'nowhere', 7);
    const full = `PLAYED-${shortDigest('studio')}`;
    const until = new Date('2027-01-01T00:00:00.000Z');
    expect(PLAYED_BYTES).toBe(64 * 1024 * 1024);
    await archive.stage(contentDigest(Buffer.from('the largest')), new Uint8Array(PLAYED_BYTES), {
      tenant: full,
      expiresAt: until,
    });
    await levels.keepForSession('studio', opened, until);
    expect(await archive.read(opened.ref.digest)).toBeNull();
    await levels.keepForSession('other', opened, until);
    expect(await archive.read(opened.ref.digest)).not.toBeNull();
  });

  it('is the first built-in level without a name, and any of them by name [7.3d]', async () => {
    const levels = setUp().open();
    const { level, ref } = await levels.openLevel('studio', undefined, 1);
    expect(level.items).toHaveLength(1);
    expect(ref).toEqual({ levelId: 'cellar', version: null, digest: builtIn[0]?.digest, generated: false });
    expect(await levels.openLevel('studio', 'market', 1)).toMatchObject({
      ref: { levelId: 'market', generated: false },
    });
    expect(await levels.levelOf(ref, 1)).toEqual(level);
    expect(await setUp().open([]).levelOf(ref, 1)).toBeNull();
  });

  it('is the newest version of the registered one, and stays so when others are put or it is deleted [9.8d]', async () => {
    const { open, by } = setUp();
    const levels = open();
    await levels.put('inn', first, by());
    const opened = await levels.openLevel('studio', 'inn', 1);
    expect(opened).toMatchObject({ level: { name: 'inn', items: [] }, ref: { levelId: 'inn', version: 1 } });
    await levels.put('inn', second, by());
    expect(await levels.openLevel('studio', 'inn', 1)).toMatchObject({ ref: { version: 2 }, level: { items: [{}] } });
    await levels.remove({ levelId: 'inn' }, by());
    // Another process, with an empty cache.
    for (const one of [levels, open()]) expect(await one.levelOf(opened.ref, 1)).toEqual(opened.level);
    expect(await levels.openLevel('studio', 'inn', 1)).toMatchObject({ ref: { version: null, generated: true } });
    expect(await levels.openLevel('other', 'inn', 1)).toMatchObject({ ref: { generated: true } });
  });

  it('is generated for any other name, and is the same for the same name and seed [7.3d]', async () => {
    const { open } = setUp();
    for (const name of ['nowhere', 'a/b', '']) {
      const opened = await open().openLevel('studio', name, 7);
      expect(opened).toMatchObject({ level: { name }, ref: { levelId: name, version: null, generated: true } });
      expect(await open().levelOf(opened.ref, 7)).toEqual(opened.level);
      expect(await open().levelOf(opened.ref, 8)).toBeNull();
    }
  });

  it('survives a release with a different level of that name, as long as a session needs it [9.8e]', async () => {
    const { open, archive } = setUp();
    const until = new Date('2026-02-01T00:00:00.000Z');
    const levels = open();
    for (const name of ['market', 'a made-up place']) {
      const opened = await levels.openLevel('studio', name, 1);
      await levels.keepForSession('studio', opened, until);
      const after = open([]);
      // As if another generator had made it from another seed.
      const seed = opened.ref.generated ? 2 : 1;
      expect(await after.levelOf(opened.ref, seed)).toEqual(opened.level);
      expect(open([]).ownLevelOf(opened.ref, seed)).toBeNull();
      expect(await archive.stagedBytes('', 'LEVELS-')).toBe(0);
      expect(await archive.readPublic(opened.ref.digest)).toBeNull();
    }
    await archive.dropStaged(until, 10);
    expect(await archive.stagedBytes('', 'PLAYED-')).toBe(0);
  });

  it('is lost when the archive has lost its map, until the map is put again', async () => {
    const { open, archive, by } = setUp();
    await open().put('inn', first, by());
    const { ref } = await open().openLevel('studio', 'inn', 1);
    await archive.dropStaged(new Date(8_640_000_000_000_000), 10);
    expect(await open().levelOf(ref, 1)).toBeNull();
    await expect(open().openLevel('studio', 'inn', 1)).rejects.toMatchObject({ code: 'LEVEL_NOT_FOUND' });
    expect(await open().put('inn', first, by())).toMatchObject({ created: false });
    expect(await open().levelOf(ref, 1)).not.toBeNull();
  });
});

describe('the map of a level', () => {
  it('does not count as a waiting soul, is not public, and is never swept', async () => {
    const { open, archive, by } = setUp();
    const { put } = await open().put('inn', first, by());
    expect(await archive.stagedBytes('studio')).toBe(0);
    expect(await archive.readPublic(put.digest)).toBeNull();
    expect(await archive.dropStaged(new Date(Date.UTC(9_999, 0)), 10)).toBe(0);
    expect(JSON.parse((await open().mapOf(put.digest)) ?? '')).toEqual(first);
  });
});

describe('the quota for maps', () => {
  const large = (mark: string) => ({ ...first, more: mark.padEnd(2 * 1024 * 1024 - 10_000, 'x') });

  itLong(
    'is limited to 256 MiB for a tenant in all versions, and is freed when a level is dropped with its versions [9.7f]',
    async () => {
      const { open, archive, by } = setUp();
      const levels = open();
      for (let count = 0; count < 128; count += 1) await levels.put('full', large(String(count)), by());
      await expect(levels.put('inn', large('other'), by())).rejects.toMatchObject({ code: 'LEVELS_FULL' });
      // An existing map can be put again, and other tenants have their own quota.
      expect(await levels.put('full', large('127'), by())).toMatchObject({ created: false });
      await levels.remove({ levelId: 'full' }, by());
      await expect(levels.put('inn', large('other'), by())).rejects.toMatchObject({ code: 'LEVELS_FULL' });
      await levels.remove({ levelId: 'full', versions: 'all' }, by());
      expect(await archive.stagedBytes('', 'LEVELS-')).toBe(0);
      expect(await levels.put('inn', large('other'), by())).toMatchObject({ created: true });
    },
    60_000,
  );

  it('is freed by dropping the maps of one level, without affecting equal maps of others [9.7j]', async () => {
    const { open, by } = setUp();
    const levels = open();
    for (const levelId of ['inn', 'tavern']) await levels.put(levelId, first, by());
    await levels.put('inn', second, by());
    for (let again = 0; again < 2; again += 1) await levels.remove({ levelId: 'inn', versions: 'all' }, by());
    expect(await levels.find('studio', 'inn', 1)).toBeNull();
    expect(await levels.find('studio', 'inn', 2)).toBeNull();
    expect(await levels.openLevel('studio', 'tavern', 1)).toMatchObject({ ref: { version: 1 } });
    const { put } = await levels.put('inn', first, by());
    expect(put.version).toBe(3);
    await levels.put('inn', second, by());
    expect((await levels.find('studio', 'inn', 3))?.put.version).toBe(3);
    expect(await levels.find('studio', 'inn', 2)).toBeNull();
  });
});

describe('a map that is put while all versions of its level are dropped', () => {
  it.each(['before a map is kept', 'after a map is kept', 'before a map goes'])(
    'is the only one that stays: %s',
    async (moment) => {
      const { open, archive, once, by } = setUp();
      const levels = open();
      await levels.put('inn', first, by());
      const put = () => levels.put('inn', first, by());
      const remove = () => levels.remove({ levelId: 'inn', versions: 'all' }, by());
      const [outer, inner] = moment === 'before a map goes' ? [remove, put] : [put, remove];
      once.set(moment, inner);
      await outer();
      expect(await open().openLevel('studio', 'inn', 1)).toMatchObject({ ref: { version: 2 } });
      expect(await archive.stagedBytes('', 'LEVELS-')).toBe(JSON.stringify(first).length);
      await remove();
      expect(await archive.stagedBytes('', 'LEVELS-')).toBe(0);
    },
  );
});

describe('a built-in level', () => {
  it('fails the start if it is invalid', async () => {
    await expect(readBuiltInLevels([{ levelId: 'bad', map: {} }])).rejects.toThrow(/bad.*not a Tiled map/);
  });
});
