import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { ownerKeyFile, readOwnerKey } from '../../../src/adapters/files/owner-key-file.js';
import { openSecret, type SecretSource } from '../../../src/adapters/files/secret.js';
import { SECRET_MIN_BYTES } from '../../../src/kernel/base/secret-length.js';
import { StartProblem } from '../../../src/kernel/base/start-problem.js';
import { seededRandom } from '../../support/seeded-random.js';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'anima-files-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const modeOf = async (name: string): Promise<number> => (await stat(join(dataDir, name))).mode & 0o777;
const posix = process.platform !== 'win32';

describe('the owner-key file', () => {
  it('holds the key on a single line, readable by its owner only, once it is settled [11.2b]', async () => {
    const file = ownerKeyFile(dataDir);
    await file.prepare('am_live_first');
    expect(await readOwnerKey(dataDir)).toBeNull();
    await file.settle();
    expect(await readFile(join(dataDir, 'owner-key'), 'utf8')).toBe('am_live_first\n');
    if (posix) expect(await modeOf('owner-key')).toBe(0o600);
    expect(await readdir(dataDir)).toEqual(['owner-key']);
    expect(file.path).toBe(join(dataDir, 'owner-key'));
  });

  it('keeps the earlier key until the next one is settled, and replaces a prepared one', async () => {
    const file = ownerKeyFile(dataDir);
    await file.prepare('first');
    await file.settle();
    await file.prepare('second');
    await file.prepare('third');
    expect([await readOwnerKey(dataDir), await file.prepared()]).toEqual(['first', 'third']);
    await ownerKeyFile(dataDir).settle();
    expect([await readOwnerKey(dataDir), await file.prepared()]).toEqual(['third', null]);
  });

  it('drops a prepared key that is discarded, even if none exists', async () => {
    const file = ownerKeyFile(dataDir);
    await file.prepare('first');
    await file.discard();
    await file.discard();
    expect(await file.prepared()).toBeNull();
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('is replaced by one that only its owner can read', async () => {
    await writeFile(join(dataDir, 'owner-key'), 'old\n', { mode: 0o644 });
    const file = ownerKeyFile(dataDir);
    await file.prepare('new');
    await file.settle();
    if (posix) expect(await modeOf('owner-key')).toBe(0o600);
    expect(await readOwnerKey(dataDir)).toBe('new');
  });

  it('is written despite the leftovers of a killed write', async () => {
    await writeFile(join(dataDir, 'owner-key.new.tmp'), 'ha');
    const file = ownerKeyFile(dataDir);
    await file.prepare('whole');
    expect(await file.prepared()).toBe('whole');
    expect(await readdir(dataDir)).toEqual(['owner-key.new']);
  });

  it('fails with one message when it cannot be written', async () => {
    await writeFile(join(dataDir, 'blocked'), 'a file where a directory should be');
    const file = ownerKeyFile(join(dataDir, 'blocked'));
    await expect(file.prepare('key')).rejects.toThrow(/owner key cannot be written to .*blocked.owner-key \(\w+\)/);
    await expect(file.prepare('key')).rejects.toThrow(StartProblem);
  });
});

describe("the server's secret", () => {
  const source = (more: Partial<SecretSource> = {}): SecretSource => ({
    secret: null,
    secretFile: null,
    dataDir,
    mayCreate: false,
    ...more,
  });
  const open = (more: Partial<SecretSource> = {}) => openSecret(source(more), seededRandom('secret'));
  const long = 's'.repeat(SECRET_MIN_BYTES);
  const text = (secret: Uint8Array) => Buffer.from(secret).toString();

  it('is created in a new data directory, readable by its owner only, and read on later starts [11.1e]', async () => {
    const made = await open({ mayCreate: true });
    expect(made.secret.length).toBeGreaterThanOrEqual(SECRET_MIN_BYTES);
    if (posix) expect(await modeOf('secret')).toBe(0o600);
    expect(await open()).toEqual(made);
    expect((await readFile(join(dataDir, 'secret'), 'utf8')).trim()).toBe(text(made.secret));
  });

  it('is not created again if stored data depends on the missing one', async () => {
    await expect(open()).rejects.toThrow(StartProblem);
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('comes from ANIMA_SECRET first, with the same meaning as in a file [11.1c]', async () => {
    const file = join(dataDir, 'elsewhere');
    await writeFile(file, `${long}\n`, { mode: 0o600 });
    expect(text((await open({ secretFile: file })).secret)).toBe(long);
    expect(text((await open({ secret: `${long}\n`, secretFile: file, mayCreate: true })).secret)).toBe(long);
    expect(await readdir(dataDir)).toEqual(['elsewhere']);
  });

  it('fails with a message, not a stack trace, when it cannot be written', async () => {
    const unreachable = join(dataDir, 'not', 'there');
    await expect(open({ dataDir: unreachable, mayCreate: true })).rejects.toThrow(
      /secret cannot be written to .* \(ENOENT\)/,
    );
  });

  it('is refused when it is too short, wherever it is set', async () => {
    const short = 's'.repeat(SECRET_MIN_BYTES - 1);
    await writeFile(join(dataDir, 'secret'), short, { mode: 0o600 });
    await expect(open()).rejects.toThrow(/too short/);
    await expect(open({ secret: short })).rejects.toThrow(/ANIMA_SECRET is too short/);
  });

  it('is refused, and not created, when the named file is missing or unreadable', async () => {
    const missing = join(dataDir, 'missing');
    await expect(open({ secretFile: missing, mayCreate: true })).rejects.toThrow(/ANIMA_SECRET_FILE names/);
    const directory = join(dataDir, 'directory');
    await mkdir(directory);
    await expect(open({ secretFile: directory })).rejects.toThrow(/cannot be read \(EISDIR\)/);
    expect(await readdir(dataDir)).toEqual(['directory']);
  });

  it('is accepted with a warning from a file that others can read', async () => {
    await writeFile(join(dataDir, 'secret'), long);
    await chmod(join(dataDir, 'secret'), 0o644);
    const { warnings } = await open();
    expect(warnings).toHaveLength(posix ? 1 : 0);
    await chmod(join(dataDir, 'secret'), 0o600);
    expect((await open()).warnings).toEqual([]);
  });
});
