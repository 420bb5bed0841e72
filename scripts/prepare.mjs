// Compiles once, as part of `npm ci`, so that `npm start` runs plain JavaScript.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const compiler = new URL('../node_modules/typescript/bin/tsc', import.meta.url);
if (!existsSync(compiler)) {
  console.error(
    'anima: cannot compile: the development dependencies were left out (NODE_ENV=production or --omit=dev). Run "npm ci --include=dev".',
  );
  process.exit(1);
}
const { status } = spawnSync(process.execPath, [compiler.pathname, '-p', 'tsconfig.build.json'], {
  cwd: new URL('..', import.meta.url),
  stdio: 'inherit',
});
process.exit(status ?? 1);
