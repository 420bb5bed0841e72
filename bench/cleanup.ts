import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const children = new Set<ChildProcess>();
const directories = new Set<string>();

/** A child that must not outlive this process. */
export const keepTrackOf = (child: ChildProcess): void => {
  children.add(child);
  child.once('exit', () => children.delete(child));
};

/** An empty directory, removed with everything in it on disposal. `TMPDIR` selects the disk. */
export const temporaryDirectory = async (): Promise<{ readonly path: string } & AsyncDisposable> => {
  const path = await mkdtemp(join(tmpdir(), 'anima-bench-'));
  directories.add(path);
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      await rm(path, { recursive: true, force: true });
      directories.delete(path);
    },
  };
};

/** Ensures that this process leaves no child and no directory behind, however it ends (except by kill -9). */
export const cleanUpAtExit = (): void => {
  process.on('exit', () => {
    for (const child of children) child.kill('SIGKILL');
    for (const path of directories) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
};
