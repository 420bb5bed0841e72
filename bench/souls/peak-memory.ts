import { readFile, writeFile } from 'node:fs/promises';

const MIB = 1_024;

const kibOf = async (pid: number, name: string): Promise<number> =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN);

/**
 * How much more memory a process held at most while `work` ran than before it, in MiB; and what `work` returned. Linux only: its kernel counts.
 * @throws where /proc says nothing
 */
export const peakDuring = async <T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly mib: number }> => {
  // Makes the kernel count from what is held now (proc(5), clear_refs).
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  const before = await kibOf(pid, 'VmRSS');
  const result = await work();
  return { result, mib: Math.max(0, (await kibOf(pid, 'VmHWM')) - before) / MIB };
};
