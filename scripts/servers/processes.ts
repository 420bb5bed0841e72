import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open, readFile, readdir, readlink, stat } from 'node:fs/promises';

import type { Launch, Started } from './server.js';
import { waitUntil } from './waiting.js';

/** A process and its start time: numbers are reused by later processes. */
export type Identity = { readonly pid: number; readonly born: string };

/** How long a process may take to be gone after SIGKILL, in milliseconds. */
const KILL_LIMIT_MS = 10_000;

type Entry = Identity & { readonly parent: number; readonly over: boolean };

/** One line of the process table (Linux), or undefined if there is no such process. */
const look = async (pid: number): Promise<Entry | undefined> => {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command in brackets and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, parent, born] = [fields[0] ?? '', fields[1] ?? '', fields[19] ?? ''];
    return { pid, parent: Number(parent), born, over: state === 'Z' || state === 'X' };
  } catch {
    return undefined;
  }
};

/** The process that has this number now. */
export const identify = async (pid: number): Promise<Identity | undefined> => {
  const entry = await look(pid);
  return entry === undefined || entry.over ? undefined : { pid, born: entry.born };
};

/** Whether exactly this process is alive; a zombie is not. */
export const isAlive = async (identity: Identity): Promise<boolean> =>
  (await identify(identity.pid))?.born === identity.born;

const allPids = async (): Promise<readonly number[]> =>
  (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);

/** Whether some process has this working directory (absolute, without links); zombies do not count. */
export const isInUse = async (directory: string): Promise<boolean> => {
  const places = (await allPids()).map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => undefined));
  return (await Promise.all(places)).includes(directory);
};

/** The process and all its descendants whose parents are alive. */
const family = async (identity: Identity): Promise<readonly Identity[]> => {
  const entries = (await Promise.all((await allPids()).map(look))).filter((entry) => entry !== undefined);
  const members: Identity[] = [identity];
  for (const member of members) {
    for (const { pid, parent, born } of entries) if (parent === member.pid) members.push({ pid, born });
  }
  return members;
};

const signal = async (identity: Identity, name: NodeJS.Signals): Promise<void> => {
  if (!(await isAlive(identity))) return;
  try {
    process.kill(identity.pid, name);
  } catch (error) {
    // It ended in between.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

const allGone = async (members: readonly Identity[]): Promise<boolean> =>
  (await Promise.all(members.map(isAlive))).every((alive) => !alive);

/** kill -9 for a process and its descendants; resolves when all are gone. */
export const killNow = async (identity: Identity): Promise<void> => {
  if (!(await isAlive(identity))) return;
  const members = await family(identity);
  for (const member of members) await signal(member, 'SIGKILL');
  await waitUntil(`process ${identity.pid} to be gone after kill -9`, KILL_LIMIT_MS, () => allGone(members));
};

/** Signals a process to end, and kills it with its descendants if that takes longer than the limit (milliseconds). */
export const end = async (identity: Identity, name: NodeJS.Signals, limitMs: number): Promise<void> => {
  if (!(await isAlive(identity))) return;
  const members = await family(identity);
  await signal(identity, name);
  try {
    await waitUntil(`process ${identity.pid} to end`, limitMs, () => allGone(members));
  } catch {
    for (const member of members) await signal(member, 'SIGKILL');
    await waitUntil(`process ${identity.pid} to be gone after kill -9`, KILL_LIMIT_MS, () => allGone(members));
  }
};

/** The content of a file from an offset on. */
const readFrom = async (file: string, offset: number): Promise<string> => {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.max(0, size - offset)), 0, null, offset);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
};

/** Starts a process that survives this one; its output is appended to the log file. */
export const launch = async (command: Launch, log: string): Promise<Started & { readonly identity: Identity }> => {
  const output = openSync(log, 'a', 0o600);
  try {
    const { size } = await stat(log);
    const child = spawn(command.command, [...command.args], {
      detached: true,
      stdio: ['ignore', output, output],
      env: command.env,
      cwd: command.cwd,
      ...command.account,
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => reject(new Error(`cannot start ${command.command}: ${error.message}`)));
    });
    child.unref();
    const identity = child.pid === undefined ? undefined : await identify(child.pid);
    const said = (): Promise<string> => readFrom(log, size);
    if (identity === undefined) throw new Error(`${command.command} exited at once:\n${(await said()).trim()}`);
    return { pid: identity.pid, said, identity };
  } finally {
    closeSync(output);
  }
};
