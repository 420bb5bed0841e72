import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new directory for one test, removed with everything in it on disposal. */
export const temporaryDirectory = async (): Promise<{ readonly path: string } & AsyncDisposable> => {
  const path = await mkdtemp(join(tmpdir(), 'anima-test-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
};
