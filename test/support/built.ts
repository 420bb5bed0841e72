import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
let current = false;

/**
 * The path of a file of the build, for example `src/main.js`: what `npm start` runs. Builds first if a source has changed since; an install has already
 * built. Child processes run this because it starts in two thirds of the time that the sources need.
 * @throws Error when the sources do not compile
 */
export const built = (file: string): string => {
  if (!current)
    execFileSync(process.execPath, [fileURLToPath(new URL('scripts/prepare.mjs', root))], { stdio: 'inherit' });
  current = true;
  return fileURLToPath(new URL(`dist/${file}`, root));
};
