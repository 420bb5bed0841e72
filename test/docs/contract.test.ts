import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { describe, expect, it } from 'vitest';

import { openEmbeddedServer } from '../support/embedded-server.js';

const repository = resolve(import.meta.dirname, '../..');
const textOf = (file: string): string => readFileSync(join(repository, file), 'utf8');
const contract = textOf('docs/contract.md');
const filesIn = (folder: string, ending: string): readonly string[] =>
  readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
const code = ['src', 'workflows', 'activities', 'projections', 'test', 'scripts', 'bench'];
const citing = [
  'README.md',
  'CHANGELOG.md',
  ...filesIn('docs', '.md'),
  ...code.flatMap((folder) => filesIn(folder, '.ts')),
].filter((file) => file !== 'docs/contract.md');

/** The sections of the contract, `2` as well as `2.8`, each with its own lines. */
const sections = new Map<string, string>();
for (let lines = contract.split('\n'), name = ''; lines.length > 0; lines = lines.slice(1)) {
  const [line = ''] = lines;
  name = /^(?:## (?=\d+\.))?(\d+(?:\.\d+)?)(?:(?<=## \d+)\.|(?<=\.\d+)) /.exec(line)?.[1] ?? name;
  sections.set(name, `${sections.get(name) ?? ''}${line}\n`);
}
const [, unbuiltLine = ''] = /^\*\*Not built yet:\*\*(.*?\.) /m.exec(contract) ?? [];
const unbuiltSections = Array.from(unbuiltLine.matchAll(/(?<![\w.])\d+(?:\.\d+)?(?!\.?\d)/g), ([name]) => name);
/** What a line as `9 but for 9.7` says is built. */
const builtSections = Array.from(unbuiltLine.matchAll(/but for (\d+\.\d+)/g), ([, name]) => name);
const isUnbuilt = (name: string): boolean =>
  !builtSections.includes(name) &&
  unbuiltSections.some((unbuilt) => name === unbuilt || name.startsWith(`${unbuilt}.`));

/** The routes that a text names, as `GET /npcs/{}`. */
const routesIn = (text: string): readonly string[] =>
  Array.from(
    text.matchAll(/`(GET|POST|PUT|DELETE) (\/[^\s`?]*)/g),
    ([, method, path = '']) => `${method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`,
  );

/** What is to be served: every route that the contract names, but for those that it says are not built. */
const builtRoutes = (): readonly string[] => {
  const unbuilt = new Set([...sections].filter(([name]) => isUnbuilt(name)).flatMap(([, text]) => routesIn(text)));
  for (const route of routesIn(unbuiltLine)) unbuilt.add(route);
  return [...new Set(routesIn(contract))].filter((route) => !unbuilt.has(route)).sort();
};

describe('the contract', () => {
  it('has every section that code and docs cite', () => {
    const cited = citing.flatMap((file) =>
      Array.from(
        textOf(file).matchAll(/\bcontract(?: sections?)? (\d+(?:\.\d+)?(?:(?:, | and |, and | to )\d+\.\d+)*)/gi),
        ([, names = '']) => Array.from(names.matchAll(/\d+(?:\.\d+)?/g), ([name]) => ({ file, name })),
      ).flat(),
    );
    expect(cited.length).toBeGreaterThan(100);
    expect(cited.filter(({ name }) => !sections.has(name))).toEqual([]);
  });

  it('names among what is not built only sections that are there', () => {
    expect(unbuiltSections).not.toEqual([]);
    expect(unbuiltSections.filter((name) => !sections.has(name))).toEqual([]);
  });

  it('names every route that is served, and every route that it names is served unless it says that it is not built', async () => {
    await using server = await openEmbeddedServer();
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
      readonly paths: Readonly<Record<string, object>>;
    };
    const served = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`),
    );
    expect(served.sort()).toEqual(builtRoutes());
  });
});
