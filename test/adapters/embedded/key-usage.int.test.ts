import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { EmbeddedKeyUsage } from '../../../src/adapters/embedded/key-usage.js';
import { openReadsFile } from '../../../src/adapters/embedded/reads-file.js';
import { keyUsageContract } from '../../contracts/key-usage.js';
import { ManualClock } from '../../support/manual-clock.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

keyUsageContract('The embedded adapter', async (clock) => {
  const directory = await temporaryDirectory();
  const database = openReadsFile(join(directory.path, 'reads.db'));
  const usage = new EmbeddedKeyUsage(database, clock);
  return {
    usage,
    dispose: async () => {
      usage[Symbol.dispose]();
      database[Symbol.dispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
});

describe('The last use of keys on disk', () => {
  const now = new Date('2026-01-01T00:00:00.000Z');

  it('is written once a minute, and on close [11.4c]', async () => {
    await using directory = await temporaryDirectory();
    const clock = new ManualClock();
    using database = openReadsFile(join(directory.path, 'reads.db'));
    const rows = database.prepare('SELECT key_id AS id FROM key_usage ORDER BY key_id');
    const written = (): readonly string[] => (rows.all() as { id: string }[]).map(({ id }) => id);
    const usage = new EmbeddedKeyUsage(database, clock);
    usage.touch('a', now);
    await clock.advance(59_999);
    usage.touch('b', now);
    expect(written()).toEqual([]);
    await clock.advance(1);
    expect(written()).toEqual(['a', 'b']);
    usage.touch('c', now);
    usage[Symbol.dispose]();
    expect(written()).toEqual(['a', 'b', 'c']);
  });

  it('is available after a restart', async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'reads.db');
    {
      using database = openReadsFile(file);
      using usage = new EmbeddedKeyUsage(database, new ManualClock());
      usage.touch('a', now);
    }
    using database = openReadsFile(file);
    using usage = new EmbeddedKeyUsage(database, new ManualClock());
    expect((await usage.lastUsedAt(['a'])).get('a')).toBe(now.toISOString());
  });
});
