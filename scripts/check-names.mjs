// Checks that each exported name has one meaning: no two files export a type or a value of the same name. Private names may repeat. src/body is left
// out: it uses the names of the protocol, and no other folder imports it.
// Usage: node scripts/check-names.mjs [folder that holds src, workflows, ...]; default: this repository.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';

const repository = fileURLToPath(new URL('..', import.meta.url));
const folders = ['src', 'workflows', 'activities', 'projections'];
const ownWords = /^src\/body\//;

const sources = (root) =>
  folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((file) => !ownWords.test(file));

/** The names that one file exports. */
const namesOf = (root, file) => {
  const { statements } = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest);
  return statements.flatMap((statement) => {
    const exported = ts.canHaveModifiers(statement)
      ? (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
      : false;
    if (!exported) return [];
    if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name.text);
    return statement.name === undefined ? [] : [statement.name.text];
  });
};

const root = resolve(process.argv[2] ?? repository);
const places = new Map();
const files = sources(root);
for (const file of files) {
  for (const name of new Set(namesOf(root, file))) places.set(name, [...(places.get(name) ?? []), file]);
}
const doubles = [...places].filter(([, where]) => where.length > 1);
for (const [name, where] of doubles) console.error(`${name} is exported by ${where.join(' and ')}`);
console.log(
  `names: ${files.length} files looked at, ${places.size} names, ${doubles.length} with more than one meaning`,
);
if (files.length === 0 || doubles.length > 0) process.exitCode = 1;
