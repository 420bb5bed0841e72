import { readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long to wait for a probe's figure, and how often to look for it, in milliseconds. */
const TOLD_MS = 30_000;
const LOOK_MS = 5;

/** Asks the probe in a server, which writes its figure into a file. @throws Error if it does not in time */
export const askProbe = async ({ pid }: { readonly pid: number }, file: string): Promise<number> => {
  await rm(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (const late = performance.now() + TOLD_MS; performance.now() < late;) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text !== '') return Number(text);
    await sleep(LOOK_MS);
  }
  throw new Error('the probe in the server does not answer');
};
