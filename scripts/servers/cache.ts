import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The directory for downloads. Root's home is closed to the accounts that its servers run as; /var/cache is open to all. */
export const cacheDirectory = (): string => {
  const { ANIMA_SERVERS_CACHE: given, XDG_CACHE_HOME: caches } = process.env;
  if (given !== undefined && given !== '') return resolve(given);
  if (process.getuid?.() === 0) return '/var/cache/anima-servers';
  return join(caches === undefined || caches === '' ? join(homedir(), '.cache') : caches, 'anima-servers');
};
