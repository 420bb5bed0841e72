import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import type { Account, Site } from './server.js';

/** Accounts that own nothing worth protecting here, in the order in which they are tried. */
const UNPRIVILEGED = ['postgres', 'nobody'];
const OTHERS_MAY_PASS = 0o001;

/** The account of a server that refuses to run as root: undefined (the account of this program) unless that is root. */
export const unprivilegedAccount = async (): Promise<Account | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of UNPRIVILEGED) {
    const [, , uid, gid] = lines.find(([account]) => account === name) ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('postgres refuses to run as root, and /etc/passwd has neither "postgres" nor "nobody"');
};

const othersMayPass = async (directory: string): Promise<boolean> => {
  if (((await stat(directory)).mode & OTHERS_MAY_PASS) === 0) return false;
  return directory === dirname(directory) || othersMayPass(dirname(directory));
};

/**
 * The data directory of a server that may run under another account. It is below its site, unless that account cannot reach it (a checkout in root's
 * home). Then it is in the system's temporary directory, under a name that only this site uses.
 */
export const dataDirectoryFor = async (site: Site): Promise<string> => {
  if ((await unprivilegedAccount()) === undefined || (await othersMayPass(site.directory))) {
    return join(site.directory, 'data');
  }
  const name = createHash('sha256').update(site.directory).digest('hex').slice(0, 16);
  return join(tmpdir(), `anima-servers-${name}`);
};
