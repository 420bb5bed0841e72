import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

/** The files with tests or property runs that are too long for `npm test`. */
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name}`)
  .filter(
    (file) =>
      file.endsWith('.long.test.ts') ||
      (file.endsWith('.test.ts') &&
        !file.endsWith('.dist.test.ts') &&
        /\/support\/long\.js'/.test(readFileSync(file, 'utf8'))),
  );

/** What `npm run test:long` runs: kills under load, long fuzzing, the largest legal inputs, the tools of the repository. */
export default defineConfig({
  test: {
    include: files,
    provide: { long: true },
    isolate: false,
    maxWorkers: 2,
    setupFiles: ['test/support/no-child-left.ts'],
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
});
