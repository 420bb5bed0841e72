// The site of these pages: `npm run docs` builds it into .docs-site/. The pages are the files that a forge shows; nothing exists on the site alone.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

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
    .map((name) => ({ text: titleOf(`${folder}/${name}.md`), link: `/${folder}/${name}` }));
  const folders = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({
      text: name.charAt(0).toUpperCase() + name.slice(1),
      collapsed: true,
      items: itemsIn(`${folder}/${name}`, ['index']),
    }));
  return [...pages, ...folders];
};

/** Links from a page to code lead out of the site; `npm test` checks that their files exist. */
const leadsToCode =
  /\/(?:src|workflows|activities|projections|test|scripts|bench|examples|levels|README|CHANGELOG|LICENSE|docker-compose|\.ci|\.dependency-cruiser)\b/;

export default {
  title: 'Anima',
  description: 'The mind of game NPCs, as a service.',
  lang: 'en-GB',
  outDir: '../.docs-site',
  cacheDir: '../node_modules/.cache/vitepress',
  cleanUrls: false,
  ignoreDeadLinks: [leadsToCode, /\.schema\.json$/],
  // Pages are plain Markdown: braces in them, such as those of character cards, are text.
  vue: { template: { compilerOptions: { delimiters: ['\u0000{', '}\u0000'] } } },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: groups.map(([text, folder, first]) => ({ text, collapsed: true, items: itemsIn(folder, first) })),
    outline: [2, 3],
  },
};
