// What typescript-hooks.mjs registers. Types are stripped, not checked. The result is cached by content: tests start many children.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** Increase it with every change of the options below. */
const CACHE_VERSION = 1;
const cache = new URL('../../node_modules/.cache/anima-typescript/', import.meta.url);

export const resolve = (specifier, context, next) => {
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts') === true) {
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (existsSync(source)) return { url: source.href, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
};

const strip = async (fileName, text) => {
  const { default: ts } = await import('typescript');
  return ts.transpileModule(text, {
    fileName,
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      inlineSourceMap: true,
    },
  }).outputText;
};

export const load = async (url, context, next) => {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const fileName = fileURLToPath(url);
  const text = await readFile(fileName, 'utf8');
  const digest = createHash('sha256').update(`${CACHE_VERSION}\n${fileName}\n${text}`).digest('hex');
  const kept = new URL(`${digest}.js`, cache);
  if (!existsSync(kept)) {
    await mkdir(cache, { recursive: true });
    // Written to a draft and renamed: another child may be writing the same file.
    const draft = new URL(`${randomUUID()}.part`, cache);
    await writeFile(draft, await strip(fileName, text));
    await rename(draft, kept);
  }
  return { format: 'module', source: await readFile(kept, 'utf8'), shortCircuit: true };
};
