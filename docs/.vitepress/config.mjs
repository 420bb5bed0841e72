// The site of these pages: `npm run docs` builds it into .docs-site/. The pages are the files that a forge shows; nothing exists on the site alone.
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { plainMarkdown } from './plain-markdown.mjs';

const docs = fileURLToPath(new URL('..', import.meta.url));

/** The groups in reading order, and the pages that come first in each; the rest follow by name. */
const groups = [
  ['Tutorial', 'tutorial', ['first-npc', 'first-rules', 'first-ghost']],
  ['How-to', 'how-to', ['play-a-turn', 'connect-a-model']],
  ['Operate', 'operate', ['index', 'profiles', 'first-start', 'roles']],
  ['Reference', 'reference', ['index', 'settings', 'errors']],
  ['Explanation', 'explanation', ['architecture', 'glossary', 'processes']],
  ['Contributing', 'contributing', ['index', 'style', 'testing']],
  ['Decisions', 'adr', []],
];

const titleOf = (file) => /^# (.*)$/m.exec(readFileSync(docs + file, 'utf8'))?.[1].replaceAll('`', '') ?? file;

const itemsIn = (folder, first = []) => {
  const entries = readdirSync(docs + folder, { withFileTypes: true });
  const rank = (name) => (first.includes(name) ? first.indexOf(name) : first.length);
  const pages = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => entry.name.slice(0, -3))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map((name) => ({
      text: name === 'index' ? 'Overview' : titleOf(`${folder}/${name}.md`),
      link: `/${folder}/${name}`,
    }));
  const folders = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({
      text: name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' '),
      collapsed: true,
      items: itemsIn(`${folder}/${name}`, ['index']),
    }));
  return [...pages, ...folders];
};

/** The pages name JSON Schemas beside them, which are files of the site too. */
const copySchemas = (to) => {
  for (const name of readdirSync(docs, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.schema.json')) copyFileSync(join(docs, name), join(to, name));
};

export default {
  title: 'Anima',
  description: 'The mind of game NPCs, as a service.',
  lang: 'en-GB',
  outDir: '../.docs-site',
  cacheDir: '../node_modules/.cache/vitepress',
  cleanUrls: false,
  ignoreDeadLinks: [/\.schema\.json$/],
  markdown: { config: plainMarkdown },
  // The library that draws diagrams is one large chunk, loaded by pages with a diagram only.
  vite: { build: { chunkSizeWarningLimit: 3_000 } },
  buildEnd: ({ outDir }) => copySchemas(outDir),
  themeConfig: {
    search: { provider: 'local' },
    sidebar: groups.map(([text, folder, first]) => ({ text, collapsed: true, items: itemsIn(folder, first) })),
    outline: [2, 3],
  },
};
