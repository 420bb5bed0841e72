// Compiles once, as part of `npm ci`, so that `npm start` runs plain JavaScript.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const compiler = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));

if (!existsSync(compiler)) {
  const cause = process.env.NODE_ENV === 'production' ? 'NODE_ENV=production' : '--omit=dev';
  console.error(
    `anima: installing compiles the sources, and ${cause} leaves out the development packages that this needs: run "npm ci --include=dev".`,
  );
  process.exit(1);
}

const { status, error } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
});
if (error !== undefined) console.error(`anima: the compiler could not be started: ${error.message}`);
process.exit(status ?? 1);
