import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { pagesIn, repository, textOf } from './pages.js';

const pages = ['README.md', 'CHANGELOG.md', 'examples/lighthouse/README.md', ...pagesIn('docs')];
const records = pagesIn('docs/adr').filter((page) => !page.endsWith('/index.md'));

const withoutFences = (markdown: string): string => markdown.replaceAll(/^ *(`{3,})[^\n]*\n.*?^ *\1$/gms, '');

/** The anchors of a page: `<a id="...">`, and those that forges make from headings. */
const anchorsOf = (page: string): ReadonlySet<string> => {
  const text = withoutFences(textOf(page));
  const explicit = Array.from(text.matchAll(/<a id="([^"]+)">/g), ([, id = '']) => id);
  const slugs = Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .replaceAll(/<[^>]*>|\[([^\]]*)\]\([^)]*\)/g, '$1')
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...explicit, ...slugs]);
};

/** The links of a page that stay in the repository. */
const linksOf = (page: string): readonly { readonly file: string; readonly anchor: string | undefined }[] =>
  Array.from(withoutFences(textOf(page)).matchAll(/\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g), ([, path = '', anchor]) => ({
    path,
    anchor,
  }))
    .filter(({ path }) => !/^[a-z]+:/.test(path))
    .map(({ path, anchor }) => ({
      file: path === '' ? page : join(dirname(page), decodeURIComponent(path)).replaceAll('\\', '/'),
      anchor,
    }));

const isDead = ({ file, anchor }: ReturnType<typeof linksOf>[number]): boolean => {
  if (!existsSync(join(repository, file))) return true;
  return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).has(decodeURIComponent(anchor));
};

/** The pages that a reader reaches from one page by links. */
const reachedFrom = (start: string): ReadonlySet<string> => {
  const reached = new Set([start]);
  for (const page of reached)
    for (const { file } of linksOf(page)) {
      const isFolder = existsSync(join(repository, file)) && statSync(join(repository, file)).isDirectory();
      const found = isFolder ? pages.filter((name) => name.startsWith(join(file, '/'))) : [file];
      for (const name of found) if (pages.includes(name)) reached.add(name);
    }
  return reached;
};

describe('the docs', () => {
  it.each(pages)('lead to files and anchors that exist: %s', (page) => {
    expect(linksOf(page).filter(isDead)).toEqual([]);
  });

  it.each(pages.filter((page) => page !== 'CHANGELOG.md' && !records.includes(page)))(
    'name files that exist: %s',
    (page) => {
      const named = textOf(page).matchAll(
        /`((?:src|workflows|activities|projections|test|scripts|bench|examples)\/[\w./-]*)`/g,
      );
      expect(Array.from(named, ([, path]) => path ?? '').filter((path) => !existsSync(join(repository, path)))).toEqual(
        [],
      );
    },
  );

  it('are all reached by links from the README', () => {
    const reached = reachedFrom('README.md');
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });

  it('number each decision once, as its title does', () => {
    const numbers = records.map((page) => Number(/(\d+)-[^/]*$/.exec(page)?.[1]));
    expect(new Set(numbers).size).toBe(records.length);
    expect(records.map((page) => Number(/^# (\d+)\. /.exec(textOf(page))?.[1]))).toEqual(numbers);
  });
});
