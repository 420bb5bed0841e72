import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { FORMAT_VERSION, openDataDirectory } from '../../../src/adapters/embedded/data-directory.js';
import { StartProblem } from '../../../src/kernel/base/start-problem.js';
import { startBuilt, startTypeScript } from '../../support/child.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

/** Starting a process takes a while on a busy machine. */
const PROCESS_MS = 90_000;
const LOCKING = new URL('../../support/locking-process.ts', import.meta.url);

describe('The data directory', () => {
  let temporary: Awaited<ReturnType<typeof temporaryDirectory>>;
  let path: string;

  beforeEach(async () => {
    temporary = await temporaryDirectory();
    path = join(temporary.path, 'data');
  });
  afterEach(() => temporary[Symbol.asyncDispose]());

  const refusal = async (directory = path): Promise<string> => {
    const error: unknown = await openDataDirectory(directory).then(
      (opened) => opened[Symbol.dispose](),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(StartProblem);
    return (error as StartProblem).message;
  };

  it('is created with its format version, readable by its owner only', async () => {
    using directory = await openDataDirectory(join(path, 'below'));
    expect(directory.path).toBe(join(path, 'below'));
    expect((await stat(directory.path)).mode & 0o777).toBe(0o700);
    expect(await readFile(join(directory.path, 'format'), 'utf8')).toBe(`${FORMAT_VERSION}\n`);
    const files = [
      directory.eventsFile,
      directory.readsFile,
      directory.idempotencyFile,
      directory.secretFile,
      directory.ownerKeyFile,
    ];
    expect(new Set(files).size).toBe(5);
    for (const file of files) expect(file.startsWith(directory.path)).toBe(true);
  });

  it('is reopened with its contents after it was released', async () => {
    const first = await openDataDirectory(path);
    await writeFile(first.secretFile, 'secret');
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    using again = await openDataDirectory(path);
    expect(await readFile(again.secretFile, 'utf8')).toBe('secret');
  });

  it('is refused to a second opener in the same process', async () => {
    using _open = await openDataDirectory(path);
    expect(await refusal()).toContain('already open in another process');
  });

  it('is refused to another process with one message, and nothing is changed', { timeout: PROCESS_MS }, async () => {
    using _open = await openDataDirectory(path);
    const before = await readdir(path);
    await using other = startTypeScript(LOCKING, { args: [path] });
    expect(await other.waitForLine(/./)).toBe(
      `refused StartProblem: The data directory ${path} is already open in another process. Stop that process first.`,
    );
    expect(await other.exited()).toMatchObject({ code: 1 });
    expect(await readdir(path)).toEqual(before);
    expect(await refusal()).toContain('already open');
  });

  it('is released immediately when the process holding it is killed', { timeout: PROCESS_MS }, async () => {
    const other = startTypeScript(LOCKING, { args: [path] });
    await other.waitForLine(/^open /);
    expect(await refusal()).toContain('already open in another process');
    await other.kill();
    using again = await openDataDirectory(path);
    expect(again.path).toBe(path);
  });

  it('of a newer format is refused unchanged [11.3d]', async () => {
    await mkdir(path);
    await writeFile(join(path, 'format'), `${FORMAT_VERSION + 1}\n`);
    expect(await refusal()).toContain(`format version ${FORMAT_VERSION + 1}`);
    expect(await readdir(path)).toEqual(['format']);
    expect(await readFile(join(path, 'format'), 'utf8')).toBe(`${FORMAT_VERSION + 1}\n`);
  });

  it('is refused when its format cannot be read', async () => {
    await mkdir(path);
    await writeFile(join(path, 'format'), 'mp3\n');
    expect(await refusal()).toContain('contains no format version');
    expect(await readdir(path)).toEqual(['format']);
  });

  it('is refused with its path and the reason when it cannot be created or is a file', async () => {
    await writeFile(path, 'a file');
    expect(await refusal()).toMatch(/^The data directory .*data cannot be made \(EEXIST\)\. Set ANIMA_DATA_DIR to a /);
    expect(await refusal(join(path, 'below'))).toContain('cannot be made (ENOTDIR)');
    expect(await readFile(path, 'utf8')).toBe('a file');
  });

  // Directories cannot be created there, and the system reports only that it is missing.
  it.runIf(process.platform === 'linux')(
    'fails the start with one message when it is below /proc',
    { timeout: PROCESS_MS },
    async () => {
      await using server = startBuilt('src/main.js', { env: { PORT: '0', ANIMA_DATA_DIR: '/proc/nope/below' } });
      expect(await server.exited()).toEqual({ code: 1, signal: null });
      expect(server.stderr).toBe(
        'The data directory /proc/nope/below cannot be made (ENOENT). Set ANIMA_DATA_DIR to a directory that you can write to.\n',
      );
      expect(server.stdout).toBe('');
    },
  );

  it('is refused unchanged when it is not writable', async (context) => {
    if (process.getuid?.() === 0) return context.skip('root may write everywhere');
    await mkdir(path);
    await chmod(path, 0o500);
    expect(await refusal()).toContain('cannot be written');
    expect(await readdir(path)).toEqual([]);
  });
});
