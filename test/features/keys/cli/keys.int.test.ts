import { createSeals } from '../../../../src/kernel/crypto/seals.js';
import { deriveKey } from '../../../../src/kernel/crypto/derive-key.js';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { ownerKeyFile } from '../../../../src/adapters/files/owner-key-file.js';
import { createTenantWithKey, draftKey } from '../../../../src/features/keys/api-keys.js';
import { firstStart } from '../../../../src/features/keys/first-start.js';
import { StreamWriters } from '../../../../src/kernel/streams/stream-writers.js';
import { type OpenedKeys, openKeys } from '../../../../src/features/keys/open-keys.js';
import { scopes } from '../../../../src/kernel/base/scopes.js';
import { keyRoutes } from '../../../../src/features/keys/http/routes.js';
import { createLogger } from '../../../../src/config/logger.js';
import { openEmbedded } from '../../../../src/profiles/embedded.js';
import { startApp } from '../../../support/http.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';
import { typed } from '../../../cli/typed.js';

const settings = { jwsAlg: 'EdDSA', rateLimit: null, tiersActive: false } as const;
const embedding = {
  embedder: { kind: 'builtin' },
  embeddingCacheBytes: 1_000_000,
  embeddingShare: 0.5,
  readWaitMs: 2000,
  keptAnswerBytes: 1_000_000,
} as const;
const onCutOff = (error: unknown): void => {
  throw error;
};

/** The keys of a data directory, as a server reads them; the directory is created at first use. */
const withKeys = async <T>(dataDir: string, work: (keys: OpenedKeys['apiKeys']) => Promise<T>): Promise<T> => {
  await using profile = await openEmbedded(
    { dataDir, secret: null, secretFile: null, ...embedding },
    createLogger('silent'),
  );
  const { ports, secret } = profile;
  const seals = createSeals(deriveKey(secret, 'event-mac'));
  const { apiKeys } = await openKeys({
    ports,
    writers: new StreamWriters(ports.events, ports.clock, { seals }),
    ...{ secret, seals },
    settings,
    onCutOff,
  });
  await using _directory = apiKeys.directory;
  await firstStart(apiKeys, ownerKeyFile(dataDir));
  return await work(apiKeys);
};

describe('anima keys', () => {
  it('issues, lists and revokes with the owner key of the data directory [11.5a]', async () => {
    await using directory = await temporaryDirectory();
    await withKeys(join(directory.path, '.anima'), async (keys) => {
      const authenticate = (header: string | undefined) => keys.directory.authenticate(header, keys.clock.now());
      const app = await startApp(keyRoutes(keys), { authenticate });
      const anima = (...words: string[]) =>
        typed(['keys', ...words], { env: { ANIMA_URL: app.url }, cwd: directory.path });
      try {
        const issued = await anima('issue', 'my game', '--scopes', 'npc, memory', '--rate-limit', '5/1', '--test');
        expect(issued.code).toBe(0);
        expect(issued.stdout).toMatch(/^am_test_\w+\n$/);
        expect(issued.stderr).toContain('not shown again');
        const listed = await anima('list');
        expect(listed.stdout.split('\n').map((line) => line.split(/ {2,}/).slice(1, 3))).toMatchObject([
          ['NAME', 'LIMIT'],
          ['owner', 'default'],
          ['my game', '5/1'],
          [],
        ]);
        const [owner, game] = JSON.parse((await anima('list', '--json')).stdout);
        expect(game).toMatchObject({
          name: 'my game',
          scopes: ['npc', 'memory'],
          rateLimit: { limit: 5, windowSeconds: 1 },
        });
        const nothing = await anima('change', game.keyId);
        expect([nothing.code, nothing.stderr]).toEqual([2, 'Nothing to change: pass --name or --rate-limit.\n']);
        const limited = await anima('change', game.keyId, '--rate-limit', 'default');
        expect(limited, limited.stderr).toMatchObject({
          code: 0,
          stdout: expect.stringContaining('its limit is default.') as string,
        });
        expect(await anima('revoke', game.keyId)).toMatchObject({
          code: 0,
          stdout: `Revoked key ${String(game.keyId)}.\n`,
        });
        expect(await anima('revoke', game.keyId)).toMatchObject({ code: 1, stdout: '' });
        const [head = '', ...lines] = (await anima('list', '--revoked')).stdout.split('\n');
        const revokedIn = (line = '') => line.slice(head.indexOf('REVOKED')).split(' ')[0];
        expect([head, ...lines].slice(0, 3).map(revokedIn)).toEqual([
          'REVOKED',
          '-',
          expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        ]);
        const last = await anima('revoke', owner.keyId);
        expect([last.code, last.stderr]).toEqual([1, expect.stringContaining('LAST_ADMIN_KEY')]);
        const press = await anima('issue', 'press', '--set', 'viewer', '--json');
        expect(JSON.parse(press.stdout)).toMatchObject({ scopes: ['read'] });
        const wrong = await anima('issue', '', '--scopes', 'fly');
        expect(wrong.code).toBe(1);
        expect(wrong.stderr).toMatch(/SCHEMA_INVALID\)\n {2}\/(scopes|name).*\n {2}\/(scopes|name)/);
        expect((await anima('issue', 'x', '--expires-at', 'tomorrow')).code).toBe(2);
        const foreign = await typed(['keys', 'list'], { env: { ANIMA_URL: app.url, ANIMA_API_KEY: 'am_live_x' } });
        expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringContaining('does not accept this key')]);
      } finally {
        await app.stop();
      }
    });
  });

  it('recover makes another owner key while the server is stopped, and writes it to the file [11.3f]', async () => {
    await using directory = await temporaryDirectory();
    const dataDir = join(directory.path, '.anima');
    await withKeys(dataDir, async () => undefined);
    const lost = (await readFile(join(dataDir, 'owner-key'), 'utf8')).trim();
    await rm(join(dataDir, 'owner-key'));
    const { code, stdout, stderr } = await typed(['keys', 'recover'], { cwd: directory.path });
    expect([code, stderr]).toEqual([0, expect.stringContaining('New owner key')]);
    expect(await readFile(join(dataDir, 'owner-key'), 'utf8')).toBe(stdout);
    if (process.platform !== 'win32') expect((await stat(join(dataDir, 'owner-key'))).mode & 0o777).toBe(0o600);
    await withKeys(dataDir, async ({ directory: keys, clock }) => {
      for (const key of [lost, stdout.trim()]) expect(keys.find(key, clock.now())?.tenant).toBe('local');
    });
  });

  it('recover makes an owner key for a tenant whose first key was never seen, and leaves the file unchanged [11.3f]', async () => {
    await using directory = await temporaryDirectory();
    const dataDir = join(directory.path, '.anima');
    await withKeys(dataDir, async (keys) => {
      const draft = draftKey(keys, 'lost', false);
      const command = { commandId: 'lost', correlationId: 'lost' };
      await createTenantWithKey(keys, 'system', 'studio-b', 'free', draft, command);
    });
    const file = await readFile(join(dataDir, 'owner-key'), 'utf8');
    const { code, stdout, stderr } = await typed(['keys', 'recover', '--tenant', 'studio-b'], { cwd: directory.path });
    expect([code, stderr]).toEqual([0, expect.stringContaining('It is not in a file')]);
    expect(await readFile(join(dataDir, 'owner-key'), 'utf8')).toBe(file);
    await withKeys(dataDir, async ({ directory: keys, clock }) => {
      expect(keys.find(stdout.trim(), clock.now())).toMatchObject({ tenant: 'studio-b', scopes });
    });
  });

  it('recover is refused, and changes nothing, without a data directory or while a server is running', async () => {
    await using directory = await temporaryDirectory();
    const none = await typed(['keys', 'recover'], { cwd: directory.path });
    expect([none.code, none.stderr]).toEqual([
      1,
      `There is no data directory at ${join(directory.path, '.anima')}. Set ANIMA_DATA_DIR to the server's data directory.\n`,
    ]);
    await expect(stat(join(directory.path, '.anima'))).rejects.toThrow('ENOENT');
    const dataDir = join(directory.path, '.anima');
    await withKeys(dataDir, async () => {
      const key = await readFile(join(dataDir, 'owner-key'), 'utf8');
      const busy = await typed(['keys', 'recover'], { cwd: directory.path });
      expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining('already open in another process')]);
      expect(await readFile(join(dataDir, 'owner-key'), 'utf8')).toBe(key);
    });
    const stranger = await typed(['keys', 'recover', '--tenant', 'nobody'], { cwd: directory.path });
    expect([stranger.code, stranger.stderr]).toEqual([1, expect.stringContaining('No tenant "nobody"')]);
  });

  it('refuses a secret that is too short before it creates a data directory', async () => {
    await using directory = await temporaryDirectory();
    const [dataDir, secretFile] = [join(directory.path, '.anima'), join(directory.path, 'short')];
    await writeFile(secretFile, 'hush\n', { mode: 0o600 });
    const opening = openEmbedded({ dataDir, secret: null, secretFile, ...embedding }, createLogger('silent'));
    await expect(opening).rejects.toThrow('too short');
    await expect(stat(dataDir)).rejects.toThrow('ENOENT');
  });

  it('recover reports a missing or different secret', async () => {
    await using directory = await temporaryDirectory();
    const dataDir = join(directory.path, '.anima');
    await withKeys(dataDir, async () => undefined);
    const other = { ANIMA_SECRET: 'another secret, quite as long as it must be' };
    const wrong = await typed(['keys', 'recover'], { cwd: directory.path, env: other });
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringContaining('The stored data was created with a different secret'),
    ]);
    await rm(join(dataDir, 'secret'));
    const gone = await typed(['keys', 'recover'], { cwd: directory.path });
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('is missing, but the stored data')]);
  });
});

describe('anima rebuild', () => {
  it('rebuilds the read models, and reports the number of events [11.5g]', async () => {
    await using directory = await temporaryDirectory();
    const dataDir = join(directory.path, 'data');
    const env = { ANIMA_DATA_DIR: 'data' };
    await withKeys(dataDir, async () => {
      const busy = await typed(['rebuild'], { cwd: directory.path, env });
      expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining('already open in another process')]);
    });
    const { code, stdout } = await typed(['rebuild', '--json'], { cwd: directory.path, env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ events: 4, parked: 0, projections: expect.arrayContaining(['npcs']) });
    expect((await typed(['rebuild'], { cwd: directory.path, env })).stdout).toMatch(/^Rebuilt .* from 4 events\.\n$/);
  });

  it.each([
    ['that is not a database', (bytes: Buffer) => bytes.fill(0x78, 0, 100)],
    ['with malformed pages', (bytes: Buffer) => bytes.fill(0x78, 4096)],
  ])('replaces a damaged file of read models %s', async (_, damage) => {
    await using directory = await temporaryDirectory();
    const dataDir = join(directory.path, '.anima');
    await withKeys(dataDir, async () => undefined);
    const file = join(dataDir, 'reads.db');
    await writeFile(file, damage(await readFile(file)));
    const refused = await withKeys(dataDir, async () => undefined).catch((error: unknown) => error);
    expect((refused as Error).message).toBe(
      `The database file ${file} is damaged. Run "anima rebuild" to rebuild it from the events.`,
    );
    const { code, stdout } = await typed(['rebuild'], { cwd: directory.path });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Rebuilt .* from 4 events\.\n$/)]);
    await withKeys(dataDir, async () => undefined);
  });

  it('leaves damaged events unchanged, and explains what to do', async () => {
    await using directory = await temporaryDirectory();
    const dataDir = join(directory.path, '.anima');
    await withKeys(dataDir, async () => undefined);
    const file = join(dataDir, 'events.db');
    const damaged = (await readFile(file)).fill(0x78, 0, 100);
    await writeFile(file, damaged);
    const { code, stderr } = await typed(['rebuild'], { cwd: directory.path });
    expect([code, stderr]).toEqual([
      1,
      `The database file ${file} is damaged. Restore the entire data directory from a backup.\n`,
    ]);
    expect(damaged.equals(await readFile(file))).toBe(true);
  });

  it('is refused when there is no data directory', async () => {
    await using directory = await temporaryDirectory();
    await mkdir(join(directory.path, '.anima'));
    const { code, stderr } = await typed(['rebuild'], { cwd: directory.path });
    expect([code, stderr]).toEqual([
      1,
      `There is no data directory at ${join(directory.path, '.anima')}. Set ANIMA_DATA_DIR to the server's data directory.\n`,
    ]);
  });
});
