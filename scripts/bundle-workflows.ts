// Bundles the workflow next to its compiled form, as part of the build, so a worker starts at once.
import { writeFile } from 'node:fs/promises';

import { bundleDurableProcess, bundleFile } from '../src/adapters/temporal/bundle.js';

await writeFile(bundleFile, await bundleDurableProcess());
