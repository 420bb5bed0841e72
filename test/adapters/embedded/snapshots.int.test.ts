import { open, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { EmbeddedSnapshots } from '../../../src/adapters/embedded/snapshots.js';
import { Database } from '../../../src/adapters/embedded/database.js';
import type { Snapshot } from '../../../src/ports/snapshots.js';
import { snapshotsContract } from '../../contracts/snapshots.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

snapshotsContract('The embedded adapter', async () => {
  const directory = await temporaryDirectory();
  const snapshots = EmbeddedSnapshots.open(join(directory.path, 'snapshots.db'));
  return {
    snapshots,
    dispose: async () => {
      snapshots[Symbol.dispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
});

/** The page size of SQLite, in bytes. */
const PAGE = 4_096;

const saved: Snapshot = { stream: 'npc-studio.one', version: 1, revision: 1_000, hash: 'h', atMs: 5, state: '{}' };
const find = (snapshots: EmbeddedSnapshots) => snapshots.latest('npc-studio.one', 1, { revision: 1_000 });

/** Overwrites every page except the first, which has the header and the schema. */
const damageBehindHeader = async (file: string): Promise<void> => {
  const { size } = await stat(file);
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(size - PAGE, 0xa5), 0, size - PAGE, PAGE);
  await handle.close();
};

describe('snapshots on disk', () => {
  it('survive a restart', async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'snapshots.db');
    {
      using snapshots = EmbeddedSnapshots.open(file);
      await snapshots.save(saved);
    }
    using snapshots = EmbeddedSnapshots.open(file);
    expect(await find(snapshots)).toEqual(saved);
  });

  it.each<[what: string, spoil: (file: string) => Promise<void>]>([
    [
      'no database',
      (file) => writeFile(file, 'no database at all, but as long as the header of one would be'.repeat(10)),
    ],
    [
      'of another format',
      async (file) => {
        using database = Database.open(file, { synchronous: 'NORMAL' });
        database.exec('CREATE TABLE snapshots (other TEXT); PRAGMA user_version = 99');
      },
    ],
    [
      'without its table',
      async (file) => {
        EmbeddedSnapshots.open(file)[Symbol.dispose]();
        using database = Database.open(file, { synchronous: 'NORMAL' });
        database.exec('DROP TABLE snapshots');
      },
    ],
  ])('start empty in a file that is %s', async (_, spoil) => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'snapshots.db');
    await spoil(file);
    using snapshots = EmbeddedSnapshots.open(file);
    expect(await find(snapshots)).toBeNull();
    await snapshots.save(saved);
    expect(await find(snapshots)).toEqual(saved);
  });

  it.each<[call: string, use: (snapshots: EmbeddedSnapshots) => Promise<unknown>]>([
    ['found', find],
    ['saved', (snapshots) => snapshots.save(saved)],
  ])('start empty when damage behind the header shows while one is %s', async (_, use) => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'snapshots.db');
    {
      using snapshots = EmbeddedSnapshots.open(file);
      for (let n = 1; n < 50; n += 1) await snapshots.save({ ...saved, revision: n, state: 'x'.repeat(9_000) });
    }
    await damageBehindHeader(file);
    using snapshots = EmbeddedSnapshots.open(file);
    await use(snapshots);
    await snapshots.save(saved);
    expect(await find(snapshots)).toEqual(saved);
  });

  it('are refused once the file is closed', async () => {
    await using directory = await temporaryDirectory();
    const snapshots = EmbeddedSnapshots.open(join(directory.path, 'snapshots.db'));
    snapshots[Symbol.dispose]();
    await expect(find(snapshots)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await expect(snapshots.save(saved)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});
