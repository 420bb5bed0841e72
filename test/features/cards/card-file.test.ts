import { describe, expect, it } from 'vitest';

import { createCardFiles, TENANT_FILE_BYTES } from '../../../src/features/cards/card-file.js';
import { readCard } from '../../../src/features/cards/domain/read-card.js';
import { takeCard } from '../../../src/features/cards/import-card.js';
import { mindFold } from '../../../src/features/npcs/mind-fold.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import { v1Card } from './domain/cards.js';
import { MemorySoulArchive } from '../../support/memory/soul-archive.js';
import { openMinds, TENANT } from '../../support/minds.js';

const bytesOf = (text: string): Buffer => Buffer.from(text);

describe('the file of a card', () => {
  const scene = async () => {
    const { deps, clock } = await openMinds();
    const archive = new MemorySoulArchive();
    let commands = 0;
    const by = (tenant: string) => {
      const commandId = `command-${String((commands += 1))}`;
      return { tenant, actor: 'key', commandId, correlationId: commandId, causationId: null };
    };
    // Nothing was retracted here.
    const files = createCardFiles({ ...deps, archive, readModels: {} as never });
    const mindOf = async (npcId: string, tenant = TENANT) =>
      (await deps.writers.current(npcStream(tenant, npcId), mindFold)).state;
    return {
      ...{ archive, clock, deps, by },
      take: (npcId: string, file: string, over: JsonObject = {}, tenant = TENANT) =>
        files.take({ tenant, npcId }, { card: readCard({ ...v1Card, ...over }), bytes: bytesOf(file) }, by(tenant)),
      fileOf: async (npcId: string, tenant = TENANT) => {
        const digest = await files.digestOf({ tenant, npcId }, await mindOf(npcId, tenant));
        return Buffer.from((await files.read(digest)).content).toString();
      },
      sweep: async () => archive.dropStaged(new Date(clock.now().getTime() + 7_200_000), 100),
    };
  };

  it('is that of the last import, and is kept for each NPC of each tenant alone [8.9ac]', async () => {
    const { take, fileOf, sweep, archive } = await scene();
    await take('mira', 'one');
    await take('orla', 'one');
    await take('mira', 'one', {}, 'other');
    await take('mira', 'two');
    expect(await sweep()).toBe(0);
    expect([await fileOf('mira'), await fileOf('orla'), await fileOf('mira', 'other')]).toEqual(['two', 'one', 'one']);
    await take('orla', 'two', { description: 'Another.' });
    expect(await fileOf('mira', 'other')).toBe('one');
    await take('mira', 'three', {}, 'other');
    // No NPC has the first file any more.
    expect(await archive.stagedBytes('', 'CARDS-')).toBe('two'.length * 2 + 'three'.length);
    await expect(fileOf('mira', 'nobody')).rejects.toMatchObject({ code: 'ARCHIVE_NOT_FOUND' });
  });

  it('is not there for a card that was imported without one, until it is imported again [8.9ae]', async () => {
    const { take, fileOf, deps, by } = await scene();
    await takeCard(deps, npcStream(TENANT, 'mira'), readCard(v1Card), by(TENANT));
    await expect(fileOf('mira')).rejects.toMatchObject({
      code: 'ARCHIVE_NOT_FOUND',
      message: expect.stringContaining('was not kept') as string,
    });
    expect((await take('mira', 'one')).lore.stored).toBe(0);
    expect(await fileOf('mira')).toBe('one');
  });

  it('is not kept without room, which the import says [8.9ae]', async () => {
    const { take, fileOf, archive, clock } = await scene();
    expect((await take('mira', 'one')).warnings).toEqual([]);
    await clock.advance(60_000);
    archive.stagedBytes = () => Promise.resolve(TENANT_FILE_BYTES);
    expect((await take('mira', 'one')).warnings).toEqual([]);
    expect((await take('orla', 'one')).warnings).toEqual([
      { pointer: '', message: expect.stringContaining('was not kept') as string },
    ]);
    await expect(fileOf('orla')).rejects.toMatchObject({ code: 'ARCHIVE_NOT_FOUND' });
    expect(await fileOf('mira')).toBe('one');
  });

  it('does not stay behind if its card is refused, and the first stays of two at the same time', async () => {
    const { take, fileOf, sweep, archive } = await scene();
    await expect(take('mira', 'big', { more: 'm'.repeat(600_000) })).rejects.toMatchObject({
      code: 'EVENTS_TOO_LARGE',
    });
    expect(await archive.stagedBytes('', 'CARDS-')).toBe(0);
    await Promise.all([take('mira', 'one'), take('mira', 'two')]);
    await sweep();
    expect(['one', 'two']).toContain(await fileOf('mira'));
    expect(await archive.stagedBytes('', 'CARDS-')).toBe(3);
  });

  it('stays if it is imported again while another import drops it [8.9ac]', async () => {
    const { take, fileOf, archive } = await scene();
    await take('mira', 'one', { description: 'One.' });
    const unstage = archive.unstage.bind(archive);
    archive.unstage = async (digest, owner) => {
      archive.unstage = unstage;
      await take('mira', 'one', { description: 'One.' });
      await unstage(digest, owner);
    };
    await take('mira', 'two', { description: 'Two.' });
    expect(await fileOf('mira')).toBe('one');
    expect(await archive.stagedBytes('', 'CARDS-')).toBe(3);
  });

  it('is stored again by another import if the archive has lost it [8.9ae]', async () => {
    const { take, fileOf, archive } = await scene();
    await take('mira', 'one');
    await archive.dropStaged(new Date(8_640_000_000_000_000), 100);
    await expect(fileOf('mira')).rejects.toMatchObject({
      code: 'ARCHIVE_NOT_FOUND',
      message: expect.stringContaining('is lost') as string,
    });
    await take('mira', 'one');
    expect(await fileOf('mira')).toBe('one');
  });
});
