import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { tagOf } from './entity-tag.js';

/** The files that the docs page loads in addition to the OpenAPI document. */
export type DocsFile = { readonly type: string; readonly content: string; readonly etag: string };

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';

/** Our own files, next to this module; the build copies them. */
export const ownFiles: Readonly<Record<string, string>> = { 'docs.js': SCRIPT, 'docs.css': STYLE };
/** The files of the viewer, with the licences that must accompany it. */
export const viewerFiles: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': SCRIPT,
  'swagger-ui-bundle.js.LICENSE.txt': TEXT,
  'swagger-ui.css': STYLE,
  LICENSE: TEXT,
  NOTICE: TEXT,
};
const types = new Map(Object.entries({ ...ownFiles, ...viewerFiles }));

const folder = fileURLToPath(new URL('./docs-files/', import.meta.url));

const require = createRequire(import.meta.url);

/** The path of a viewer file among the development packages; used only by the build, and by sources that run unbuilt. */
export const packagedFile = (name: string): string =>
  join(dirname(require.resolve('swagger-ui-dist/package.json')), name);

/** Where the build puts a file; our own files are there already. */
export const docsFilePath = (name: string): string => join(folder, name);

const read = (name: string, type: string): DocsFile => {
  const built = docsFilePath(name);
  const content = readFileSync(existsSync(built) ? built : packagedFile(name), 'utf8');
  return { type, content, etag: tagOf(content) };
};

/** Finds files by name, and reads each once, on first use; null for other names. */
export const openDocsFiles = (): ((name: string) => DocsFile | null) => {
  const files = new Map<string, DocsFile>();
  return (name) => {
    const type = types.get(name);
    if (type === undefined) return null;
    const file = files.get(name) ?? read(name, type);
    files.set(name, file);
    return file;
  };
};
