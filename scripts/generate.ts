// Writes the generated files; with --check it writes nothing and fails when one of them is stale.
// Usage: npm run generate, npm run check:generated.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { soulSchema } from '../src/features/souls/domain/soul-schema.js';
import { allProcesses } from '../src/server/processes.js';
import { drawMachines } from './machine-diagram.js';
import { eventSchemaFiles } from './event-schema-files.js';
import { type Layers, withImportTables } from './import-table.js';

/** Seen from dist/scripts/, where this runs. */
const repository = new URL('../../', import.meta.url);
const fileOf = (path: string): string => fileURLToPath(new URL(path, repository));
const layers = createRequire(import.meta.url)(fileOf('scripts/layers.cjs')) as Layers;
const generated: readonly (readonly [path: string, content: () => string])[] = [
  ['docs/machines.md', () => drawMachines(allProcesses.map(({ process }) => process))],
  ['docs/architecture.md', () => withImportTables(readFileSync(fileOf('docs/architecture.md'), 'utf8'), layers)],
  ['docs/soul.schema.json', () => `${JSON.stringify(soulSchema, null, 2)}\n`],
  ...eventSchemaFiles(),
];

const read = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
};

const check = process.argv.includes('--check');
for (const [path, make] of generated) {
  const file = fileOf(path);
  const content = make();
  if (read(file) === content) continue;
  if (check) {
    console.error(`${path} is stale: run "npm run generate".`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    console.log(`wrote ${path}`);
  }
}
