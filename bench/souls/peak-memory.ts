import { readFile, writeFile } from 'node:fs/promises';

const MIB = 1_024;

const kibOf = async (pid: number, name: string): Promise<number> =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN);

/**
 * How much the peak memory of a process while `work` ran exceeded its memory before, in MiB; and what `work` returned. Linux only, because its kernel
 * counts.
 * @throws if /proc is not available
 */
export const peakDuring = async <T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly mib: number }> => {
  // Makes the kernel count from the present memory (proc(5), clear_refs).
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  const before = await kibOf(pid, 'VmRSS');
  const result = await work();
  return { result, mib: Math.max(0, (await kibOf(pid, 'VmHWM')) - before) / MIB };
};
