import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const repository = resolve(import.meta.dirname, '../..');

/** The Markdown pages below a folder, as paths from the root of the repository. */
export const pagesIn = (folder: string): readonly string[] =>
  readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('.vitepress'))
    .map((name) => join(folder, name).replaceAll('\\', '/'))
    .sort();

export const textOf = (file: string): string => readFileSync(join(repository, file), 'utf8');
