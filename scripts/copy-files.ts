// Copies files other than TypeScript to the compiled server, as part of the build: the assets of the docs page, so that an installation without
// development packages serves it too, the thread of a model and the built-in model, the levels, and the map of the example game.
import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { threadFile } from '../src/adapters/embedders/model-thread.js';
import { levelMapNames, levelsFolder } from '../src/adapters/files/level-maps.js';
import { docsFilePath, ownFiles, packagedFile, viewerFiles } from '../src/kernel/http/docs-files.js';

/** The checkout's root, from `dist*\/scripts`. */
const root = join(import.meta.dirname, '../..');
const compiled = join(import.meta.dirname, '..');

for (const name of Object.keys(ownFiles)) {
  mkdirSync(dirname(docsFilePath(name)), { recursive: true });
  copyFileSync(join(root, 'src/kernel/http/docs-files', name), docsFilePath(name));
}
for (const name of Object.keys(viewerFiles)) copyFileSync(packagedFile(name), docsFilePath(name));
copyFileSync(join(root, 'src/adapters/embedders/run-model.mjs'), threadFile);
const encoder = 'src/adapters/embedders/multilingual';
mkdirSync(join(compiled, encoder), { recursive: true });
for (const name of readdirSync(join(root, encoder)))
  if (/\.(mjs|wasm|gz|md)$/.test(name)) copyFileSync(join(root, encoder, name), join(compiled, encoder, name));
mkdirSync(levelsFolder, { recursive: true });
for (const name of levelMapNames) copyFileSync(join(root, 'levels', name), join(levelsFolder, name));

/** An image of the server has no examples. */
const exampleMap = 'examples/lighthouse/map.tmj';
if (existsSync(join(root, exampleMap))) copyFileSync(join(root, exampleMap), join(compiled, exampleMap));
