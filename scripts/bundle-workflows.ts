// Bundles the workflow next to its compiled form, as part of the build, so that a worker starts immediately.
import { copyFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { bundleWorkflows, bundleFile } from '../src/adapters/temporal/bundle.js';
import { encodedFailures } from '../src/adapters/temporal/connection.js';

// The compiler does not copy it, because it is not TypeScript.
copyFileSync(join(import.meta.dirname, '../../src/adapters/temporal/encoded-failures.cjs'), encodedFailures);
for (const encodesFailures of [false, true]) {
  await writeFile(bundleFile(encodesFailures), await bundleWorkflows(encodesFailures));
}
