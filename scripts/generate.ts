// Writes the generated files; with --check it writes nothing and fails if one of them is stale.
// Usage: npm run generate, npm run check:generated.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { rulesetSchema } from '../src/features/rules/ruleset-schema.js';
import { soulSchema } from '../src/features/souls/domain/soul-schema.js';
import { allProcesses } from '../src/server/processes.js';
import { commandPages } from './command-pages.js';
import { errorPage } from './error-page.js';
import { drawMachines } from './machine-diagram.js';
import { eventSchemaFiles } from './event-schema-files.js';
import { presetFiles } from './preset-files.js';
import { ROUTE_PAGES, routePages } from './route-pages.js';
import { servedDocument } from './served-routes.js';
import { distributedSettingsPage, settingsPage } from './settings-page.js';

/** Relative to dist/scripts/, where this runs. */
const repository = new URL('../../', import.meta.url);
const fileOf = (path: string): string => fileURLToPath(new URL(path, repository));
const generated: readonly (readonly [path: string, content: () => string])[] = [
  ['docs/reference/state-machines.md', () => drawMachines(allProcesses.map(({ process }) => process))],
  ['docs/reference/errors.md', errorPage],
  ['docs/reference/settings.md', settingsPage],
  ['docs/reference/settings-distributed.md', distributedSettingsPage],
  ['docs/reference/soul.schema.json', () => `${JSON.stringify(soulSchema, null, 2)}\n`],
  ['docs/reference/ruleset.schema.json', () => `${JSON.stringify(rulesetSchema, null, 2)}\n`],
  ...eventSchemaFiles(),
  ...presetFiles(),
  ...routePages(servedDocument()).map(([path, content]) => [path, () => content] as const),
  ...commandPages(),
];

const read = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
};

const check = process.argv.includes('--check');
const complain = (path: string): void => {
  console.error(`${path} is stale: run "npm run generate".`);
  process.exitCode = 1;
};
for (const [path, make] of generated) {
  const file = fileOf(path);
  const content = make();
  if (read(file) === content) continue;
  if (check) {
    complain(path);
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    console.log(`wrote ${path}`);
  }
}
// A tag that became smaller has fewer pages.
const paths = new Set(generated.map(([path]) => path));
for (const name of readdirSync(fileOf(ROUTE_PAGES))) {
  const path = `${ROUTE_PAGES}/${name}`;
  if (paths.has(path)) continue;
  if (check) complain(path);
  else rmSync(fileOf(path));
}
