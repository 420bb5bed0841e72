// Compiles once, as part of `npm ci`, so that `npm start` runs plain JavaScript and a worker finds its workflow bundled.
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

const run = (...words) => {
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const { status, error } = spawnSync(process.execPath, words, { cwd, stdio: 'inherit' });
  if (error !== undefined) console.error(`anima: ${words[0]} could not be started: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
};
run(compiler, '-p', 'tsconfig.build.json');
run('dist/scripts/bundle-workflows.js');
