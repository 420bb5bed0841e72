import { basename } from 'node:path';

import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';

/** The files that take minutes, the longest first. Where they come last, one runs alone for as long. */
const LONG = ['turns', 'distributed', 'outages', 'storm', 'worker-kills', 'away', 'durable-process', 'feed'];

const rank = ({ moduleId }: TestSpecification): number => {
  const at = LONG.indexOf(basename(moduleId, '.dist.test.ts'));
  return at < 0 ? LONG.length : at;
};

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

/** Tests against real servers (`npm run servers -- start`), whose addresses are in the environment. */
export default defineConfig({
  test: {
    include: ['test/**/*.dist.test.ts'],
    provide: { long: true },
    setupFiles: ['test/support/no-child-left.ts'],
    globalSetup: ['test/support/dist-setup.ts'],
    sequence: { sequencer: LongestFirst },
    // The servers share the machine with the tests.
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
