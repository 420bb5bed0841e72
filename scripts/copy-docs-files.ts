// Copies what the docs page loads to the compiled server, as part of the build, so an installation without development packages serves it too.
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { docsFilePath, ownFiles, packagedFile, viewerFiles } from '../src/http/docs-files.js';

/** The checkout's root, from `dist*\/scripts`. */
const root = join(import.meta.dirname, '../..');

for (const name of Object.keys(ownFiles)) {
  mkdirSync(dirname(docsFilePath(name)), { recursive: true });
  copyFileSync(join(root, 'src/http/docs-files', name), docsFilePath(name));
}
for (const name of Object.keys(viewerFiles)) copyFileSync(packagedFile(name), docsFilePath(name));
