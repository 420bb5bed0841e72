/**
 * Moves files, and changes only the paths that name them: relative imports, `new URL(…, import.meta.url)`, links in Markdown, and paths from the root
 * in tracked files. Git then shows each move as a rename.
 *
 *   node scripts/move-files.mjs <from>=<to> [<from>=<to> …]
 *
 * A folder means all tracked files in it. The type checker and the architecture check report what it cannot detect: run both.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/** Paths in these files are historical records, or are made by the build. */
const UNTOUCHED = /^(test\/fixtures\/|test\/architecture\/|package-lock\.json$|CHANGELOG\.md$)/;
const TEXT = /\.(ts|js|mjs|cjs|json|md|yml|yaml|sh)$|^\.ci\/run$|^Dockerfile$/;

const git = (...words) => execFileSync('git', words, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
const tracked = git('ls-files')
  .split('\n')
  .filter((path) => path !== '' && existsSync(path));

/** @returns the new path of every file that moves */
const planOf = (pairs) => {
  const moves = new Map();
  for (const pair of pairs) {
    const [from, to, ...more] = pair.split('=').map((path) => path.replace(/\/$/, ''));
    if (!from || !to || more.length > 0) throw new Error(`"${pair}" must have the form <from>=<to>`);
    const files = tracked.filter((path) => path === from || path.startsWith(`${from}/`));
    if (files.length === 0) throw new Error(`git tracks no file or folder ${from}`);
    for (const file of files) moves.set(file, file === from ? to : to + file.slice(from.length));
  }
  const taken = new Set(tracked.filter((path) => !moves.has(path)));
  for (const to of moves.values()) {
    if (taken.has(to)) throw new Error(`${to} already exists`);
    taken.add(to);
  }
  return moves;
};

const moves = planOf(process.argv.slice(2));
const files = new Set(tracked);
const movedTo = (path) => moves.get(path) ?? path;

/** The tracked file that a relative specifier names: TypeScript is imported by the name of its compiled file. */
const resolve = (from, specifier) => {
  const path = posix.normalize(posix.join(posix.dirname(from), specifier));
  return [path, path.replace(/\.js$/, '.ts')].find((candidate) => files.has(candidate));
};

const relative = (from, to) => {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
};

/** A relative specifier after both its file and its target have moved. */
const rewritten = (file, specifier) => {
  const [, path, rest] = /^([^#?]*)(.*)$/.exec(specifier);
  const target = resolve(file, path);
  if (target === undefined || (movedTo(file) === file && movedTo(target) === target)) return specifier;
  const now = relative(movedTo(file), movedTo(target));
  const named = path.endsWith('.js') && target.endsWith('.ts') ? now.replace(/\.ts$/, '.js') : now;
  return (path.startsWith('.') ? named : named.replace(/^\.\//, '')) + rest;
};

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
/** Paths from the root, as prose, scripts and configurations name them; with `.js` for compiled files. */
const mentions = new Map();
for (const [from, to] of moves) {
  mentions.set(from, to);
  if (from.endsWith('.ts')) mentions.set(from.replace(/\.ts$/, '.js'), to.replace(/\.ts$/, '.js'));
}
const mention = new RegExp(
  `(?<![\\w./-])(dist/)?(${[...mentions.keys()].map(escaped).join('|')})(?![\\w-]|\\.\\w)`,
  'g',
);

const rewrite = (file, text) => {
  const code = /\.(ts|js|mjs|cjs)$/.test(file);
  const markdown = file.endsWith('.md');
  let found = text;
  if (code)
    found = found.replace(/(['"])(\.\.?\/[^'"\n]*)\1/g, (_, quote, path) => quote + rewritten(file, path) + quote);
  if (markdown)
    found = found.replace(/\]\(([^)\s:]+)\)/g, (whole, path) =>
      path.startsWith('#') ? whole : `](${rewritten(file, path)})`,
    );
  return found.replace(mention, (_, dist = '', path) => dist + mentions.get(path));
};

for (const file of tracked) {
  if (UNTOUCHED.test(file) || !TEXT.test(file)) continue;
  const text = readFileSync(file, 'utf8');
  const now = rewrite(file, text);
  if (now !== text) writeFileSync(file, now);
}
for (const [from, to] of moves) {
  mkdirSync(dirname(join(to)), { recursive: true });
  git('mv', from, to);
}
process.stdout.write(`${moves.size} files moved\n`);
