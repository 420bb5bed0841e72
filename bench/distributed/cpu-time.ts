import { readdir, readFile } from 'node:fs/promises';

/** Clock ticks per second, in which Linux counts (proc(5); sysconf(_SC_CLK_TCK) is 100 on every platform that Node runs on). */
const TICKS_PER_SECOND = 100;

type Times = { readonly parent: number; readonly ticks: number };

/** Fields 4 and 14 to 17 of /proc/<pid>/stat: the parent, and the ticks of the process and of its children that have ended. */
const timesOf = async (pid: number): Promise<Times | null> => {
  const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // The name, field 2, may hold anything; the rest begins after its last parenthesis.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = 0] = fields.slice(1);
  return { parent, ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) };
};

/**
 * The CPU time in seconds that a process and its children have used so far.
 * @throws Error if the process is gone, or the system is not Linux
 */
export const cpuSecondsOf = async (pid: number): Promise<number> => {
  const own = await timesOf(pid);
  if (own === null) throw new Error(`there is no process ${String(pid)} in /proc`);
  let ticks = own.ticks;
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const child = await timesOf(Number(name));
    if (child?.parent === pid) ticks += child.ticks;
  }
  return ticks / TICKS_PER_SECOND;
};
