import { defineConfig } from 'vitest/config';

/** Tests against real servers (`npm run servers -- start`), whose addresses are in the environment. */
export default defineConfig({
  test: {
    include: ['test/**/*.dist.test.ts'],
    provide: { long: true },
    setupFiles: ['test/support/no-child-left.ts'],
    globalSetup: ['test/support/dist-setup.ts'],
    // The servers share the machine with the tests.
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
