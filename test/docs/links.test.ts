import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const repository = resolve(import.meta.dirname, '../..');
const pages = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

const linksOf = (page: string): readonly string[] =>
  Array.from(
    readFileSync(join(repository, page), 'utf8').matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g),
    ([, link]) => link ?? '',
  ).filter((link) => !/^[a-z]+:/.test(link));

describe('the docs', () => {
  it.each(pages)('lead nowhere but to files that are there: %s', (page) => {
    const dead = linksOf(page).filter((link) => !existsSync(resolve(repository, dirname(page), link)));
    expect(dead).toEqual([]);
  });

  it.each(pages.filter((page) => page !== 'CHANGELOG.md' && !page.startsWith(join('docs', 'adr'))))(
    'name only files that are there: %s',
    (page) => {
      const named = readFileSync(join(repository, page), 'utf8').matchAll(
        /`((?:src|workflows|activities|projections|test|scripts|bench|examples)\/[\w./-]*)`/g,
      );
      expect(Array.from(named, ([, path]) => path ?? '').filter((path) => !existsSync(join(repository, path)))).toEqual(
        [],
      );
    },
  );

  it('are all found from the README', () => {
    const linked = linksOf('README.md').map((link) => resolve(repository, link));
    const unlinked = pages.filter(
      (page) => page !== 'README.md' && !linked.some((target) => resolve(repository, page).startsWith(target)),
    );
    expect(unlinked).toEqual([]);
  });

  it('number each decision once, as its title does', () => {
    const records = pages.filter((page) => page.startsWith(join('docs', 'adr')));
    const numbers = records.map((page) => Number(/(\d+)-[^/]*$/.exec(page)?.[1]));
    expect(new Set(numbers).size).toBe(records.length);
    const titled = records.map((page) => Number(/^# (\d+)\. /.exec(readFileSync(join(repository, page), 'utf8'))?.[1]));
    expect(titled).toEqual(numbers);
  });
});
