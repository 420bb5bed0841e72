// Bundles the workflow next to its compiled form, as part of the build, so a worker starts at once.
import { writeFile } from 'node:fs/promises';

import { bundleWorkflows, bundleFile } from '../src/adapters/temporal/bundle.js';

await writeFile(bundleFile, await bundleWorkflows());
