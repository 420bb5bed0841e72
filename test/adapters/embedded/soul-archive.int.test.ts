import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { EmbeddedSoulArchive } from '../../../src/adapters/embedded/soul-archive.js';
import { contentDigest } from '../../../src/kernel/crypto/content-digest.js';
import { soulArchiveContract } from '../../contracts/soul-archive.js';
import { startTypeScript } from '../../support/child.js';
import { rememberingLog } from '../../support/http.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

/** Starting processes takes a while on a busy machine. */
const PROCESS_MS = 90_000;
const ARCHIVING = new URL('../../support/archiving-process.ts', import.meta.url);

soulArchiveContract('The embedded adapter', async () => {
  const directory = await temporaryDirectory();
  return {
    archive: await EmbeddedSoulArchive.open(join(directory.path, 'archive'), rememberingLog()),
    dispose: async () => directory[Symbol.asyncDispose](),
  };
});

const payload = Buffer.from('{"name":"Mira"}');
const digest = contentDigest(payload);
const by = { tenant: 'studio', at: new Date('2026-01-01T00:00:00Z') };
const expiresAt = new Date(Date.UTC(2030, 0, 1));

describe('the archive on disk', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let folder: string;
  let log: ReturnType<typeof rememberingLog>;

  beforeEach(async () => {
    directory = await temporaryDirectory();
    folder = join(directory.path, 'archive');
    log = rememberingLog();
  });
  afterEach(() => directory[Symbol.asyncDispose]());

  const open = () => EmbeddedSoulArchive.open(folder, log);
  const publicFile = () => join(folder, 'public', digest.slice(0, 2), digest);
  const published = async (): Promise<EmbeddedSoulArchive> => {
    const archive = await open();
    await archive.stage(digest, payload, { ...by, expiresAt });
    await archive.publish(digest, by);
    return archive;
  };
  /** Every file of the archive, relative to its folder. */
  const files = async (): Promise<readonly string[]> =>
    (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);

  it('keeps staged and public souls over a restart', async () => {
    const cid = 'bafkreigs4kw7of33pkfp3w6bfuldjtzd5inhcaqpnijqqbykczaa7nup3y';
    await (await published()).nameByCid(cid, digest);
    expect(await (await open()).digestOfCid(cid)).toBe(digest);
    const other = Buffer.from('"other"');
    await (await open()).stage(contentDigest(other), other, { ...by, expiresAt });
    const again = await open();
    expect(Buffer.from((await again.readPublic(digest)) ?? []).equals(payload)).toBe(true);
    expect(await again.readPublic(contentDigest(other))).toBeNull();
    expect(await again.publish(contentDigest(other), by)).toBe('published');
  });

  it('is readable by its owner only', async () => {
    await published();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(publicFile())).mode & 0o777).toBe(0o600);
  });

  it('has one file per payload, and none for dropped ones', async () => {
    const archive = await published();
    expect(await files()).toEqual([digest]);
    const other = Buffer.from('"other"');
    await archive.stage(contentDigest(other), other, { ...by, expiresAt });
    await archive.dropStaged(expiresAt, 10);
    expect(await files()).toEqual([digest]);
  });

  it('removes unfinished files at startup', async () => {
    await open();
    await writeFile(join(folder, 'unfinished', '1'), 'half a pay');
    const archive = await published();
    expect(await archive.readPublic(digest)).not.toBeNull();
    expect(await files()).toEqual([digest]);
  });

  it('does not touch unknown files', async () => {
    const archive = await open();
    await mkdir(join(folder, 'staged', digest.slice(0, 2)));
    await writeFile(join(folder, 'staged', digest.slice(0, 2), `${digest}.notes`), 'somebody’s');
    expect(await archive.dropStaged(expiresAt, 10)).toBe(0);
    expect(await archive.publish(digest, by)).toBeNull();
    expect(await files()).toEqual([`${digest}.notes`]);
  });

  it.each<[what: string, spoil: (file: string) => Promise<void>]>([
    ['was changed', (file) => writeFile(file, '{"name":"Mora"}')],
    ['was cut short', (file) => writeFile(file, payload.subarray(0, 3))],
    ['is longer than any payload', (file) => writeFile(file, Buffer.alloc(17 * 1024 * 1024))],
  ])('hides a file that %s, logs it, and stores the payload afresh', async (_, spoil) => {
    const archive = await published();
    await spoil(publicFile());
    const spoilt = await readFile(publicFile());
    expect(await Promise.all([archive.readPublic(digest), archive.read(digest)])).toEqual([null, null]);
    expect(log.lines).toMatchObject([{ level: 'error', fields: { digest } }]);
    expect((await readFile(join(folder, 'damaged', digest))).equals(spoilt)).toBe(true);
    await archive.stage(digest, payload, { ...by, expiresAt });
    expect(await archive.publish(digest, by)).toBe('published');
    expect(await archive.readPublic(digest)).not.toBeNull();
  });

  it('refuses while its files are not writable, and then recovers', async () => {
    const archive = await open();
    await rm(join(folder, 'unfinished'), { recursive: true });
    await expect(archive.stage(digest, payload, { ...by, expiresAt })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retryAfter: 1,
    });
    expect(await archive.publish(digest, by)).toBeNull();
    await mkdir(join(folder, 'unfinished'));
    await archive.stage(digest, payload, { ...by, expiresAt });
    expect(await archive.publish(digest, by)).toBe('published');
  });

  it('refuses to open a path that is not a folder', async () => {
    await writeFile(folder, 'a file');
    await expect(open()).rejects.toThrow(`The archive in ${folder} cannot be opened`);
  });

  it(
    'has everything acknowledged, intact, and nothing half done, whenever it is killed',
    { timeout: PROCESS_MS },
    async () => {
      for (const acknowledged of [3, 8]) {
        await rm(folder, { recursive: true, force: true });
        await using child = startTypeScript(ARCHIVING, { args: [folder, by.tenant] });
        await child.waitForLine(new RegExp(`^published ${String(acknowledged)} `));
        await child.kill();
        const archive = await open();
        for (const line of child.lines) {
          const [what, , name = ''] = line.split(' ');
          const bytes = what === 'staged' ? await archive.read(name) : await archive.readPublic(name);
          expect(contentDigest(bytes ?? Buffer.alloc(0))).toBe(name);
        }
        expect(await readdir(join(folder, 'unfinished'))).toEqual([]);
        expect(log.lines).toEqual([]);
        for (const name of await files()) expect(await archive.read(name.slice(0, 43))).not.toBeNull();
      }
    },
  );
});
