import { defineConfig } from 'vitest/config';

/** What `npm test` runs: everything that needs no other server and ends soon. `*.long.test.ts` is for `npm run test:long`. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.dist.test.ts', 'test/**/*.long.test.ts'],
    // Files mock no module and restore each global that they change, so they share a process: loading the product anew for each took a third of the
    // whole time.
    isolate: false,
    maxWorkers: 2,
    provide: { long: false },
    setupFiles: ['test/support/no-child-left.ts'],
    // Generous: a machine may be busy.
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
