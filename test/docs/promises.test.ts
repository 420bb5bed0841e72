import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { pagesIn, repository, textOf } from './pages.js';

const ID = String.raw`\d+\.\d+[a-z]{1,2}`;
const pages = pagesIn('docs/reference').map((page) => ({ page, text: textOf(page) }));
/** Each promise with the page that makes it. */
const promises = pages.flatMap(({ page, text }) =>
  Array.from(text.matchAll(new RegExp(`<a id="(${ID})"></a>\\*\\*(${ID})\\*\\*`, 'g')), ([, anchor = '', id = '']) => ({
    page,
    anchor,
    id,
  })),
);
const ids = new Set(promises.map(({ id }) => id));

const filesIn = (folder: string): readonly string[] =>
  readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs|py)$/.test(name))
    .map((name) => join(folder, name));
const code = ['src', 'workflows', 'activities', 'projections', 'scripts', 'bench', 'examples', 'test'].flatMap(filesIn);

const listed = (text: string): readonly string[] => Array.from(text.matchAll(new RegExp(ID, 'g')), ([id]) => id);
/** The tests that cite promises: all but this one, which only shows how. */
const tests = code.filter((file) => /[.]test[.]ts$|scenarios/.test(file) && !file.endsWith('promises.test.ts'));
/** The ids at the end of each title: `'repeats the first answer [1.7b, 1.7c]'`. */
const citations = tests.flatMap((file) =>
  Array.from(textOf(file).matchAll(new RegExp(`\\[(${ID}(?:, ${ID})*)\\](?=['"\`])`, 'g')), ([, list = '']) => ({
    file,
    ids: listed(list),
  })),
);
const cited = new Set(citations.flatMap(({ ids: named }) => named));
/** A test that cites more shows hardly any of them well. */
const CITED_AT_ONCE = 10;

describe('the promises of the reference', () => {
  it('have an id each, which is also their anchor', () => {
    expect(promises.length).toBeGreaterThan(200);
    expect(promises.filter(({ anchor, id }) => anchor !== id)).toEqual([]);
    expect(promises.map(({ id }) => id).filter((id, at, all) => all.indexOf(id) !== at)).toEqual([]);
  });

  it('are each cited by the title of a test that shows them', () => {
    expect(promises.filter(({ id }) => !cited.has(id))).toEqual([]);
  });

  it('are cited by few at a time, so that each is really shown', () => {
    expect(citations.filter(({ ids: named }) => named.length > CITED_AT_ONCE)).toEqual([]);
  });

  it('exist wherever a test, a comment or a page cites one', () => {
    const missing = [...cited].filter((id) => !ids.has(id));
    const words = new RegExp(`promises? (${ID}(?:(?:, | and |, and )${ID})*)`, 'gi');
    const places = [...code, ...pagesIn('docs'), 'README.md', 'CHANGELOG.md'];
    const inProse = places.flatMap((file) =>
      Array.from(textOf(file).matchAll(words), ([, list = '']) => listed(list).map((id) => ({ file, id }))).flat(),
    );
    expect(missing).toEqual([]);
    expect(inProse.filter(({ id }) => !ids.has(id))).toEqual([]);
  });
});
