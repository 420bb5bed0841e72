// Checks the tree against .dependency-cruiser.cjs, and checks that every file was seen. With a TypeScript version that it does not support, the
// cruiser skips every .ts file and reports no violation, so the files that it saw are counted.
// Usage: node scripts/check-architecture.mjs [folder that holds src, workflows, ...]; default: this repository.
import { existsSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { cruise } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';

const repository = fileURLToPath(new URL('..', import.meta.url));
const folders = ['src', 'workflows', 'activities', 'projections', 'bench', 'examples', 'test', 'scripts'];

const sources = (root, folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));

const inspect = async (root) => {
  const present = folders.filter((folder) => existsSync(join(root, folder)));
  const options = await extractDepcruiseOptions(join(repository, '.dependency-cruiser.cjs'));
  const tsConfig = extractTSConfig(join(repository, 'tsconfig.json'));
  const { output } = await cruise(present, { ...options, baseDir: root, validate: true }, {}, { tsConfig });
  const seen = new Set(output.modules.map((module) => module.source));
  const files = present.flatMap((folder) => sources(root, folder));
  const comments = new Map(options.ruleSet.forbidden.map((rule) => [rule.name, rule.comment]));
  return {
    violations: output.summary.violations.map(({ rule, from, to }) => ({
      rule: rule.name,
      from,
      to,
      comment: comments.get(rule.name) ?? '',
    })),
    unseen: files.filter((file) => !seen.has(file)),
    seen: files.filter((file) => seen.has(file)).length,
  };
};

const { violations, unseen, seen } = await inspect(resolve(process.argv[2] ?? repository));
for (const { rule, from, to, comment } of violations) {
  console.error(`${rule}: ${from}${to === from ? '' : ` -> ${to}`}\n    ${comment}`);
}
for (const file of unseen) console.error(`not looked at: ${file}`);
console.log(`architecture: ${seen} files looked at, ${unseen.length} missed, ${violations.length} violations`);
if (seen === 0 || unseen.length > 0 || violations.length > 0) process.exitCode = 1;
