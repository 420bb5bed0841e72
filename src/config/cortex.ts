import { defined } from '../kernel/base/defined.js';
import { apiKeySetting } from './server-access.js';
import type { SettingReader } from './setting-reader.js';
import { apiRoot } from './values.js';

/** The engine of tenants that have not chosen one. */
export type CortexConfig =
  | { readonly kind: 'scripted' }
  /** `url` has no trailing slash. */
  | { readonly kind: 'openai'; readonly url: string; readonly model: string; readonly key: string | null }
  /** `file` is absolute. The engine chooses the values that are absent. */
  | { readonly kind: 'llama'; readonly file: string; readonly threads?: number; readonly contextTokens?: number };

/** Reads which engine is the default of the server. */
export const readCortex = (reader: SettingReader): CortexConfig => {
  const { text, path, isThere, problems } = reader;
  const url = text('ANIMA_CORTEX_URL');
  const gguf = text('ANIMA_CORTEX_GGUF');
  if (url !== null && gguf !== null) {
    problems.push('ANIMA_CORTEX_URL and ANIMA_CORTEX_GGUF are both set. Keep only one of them.');
  }
  const openai = readModelServer(reader, url);
  if (gguf !== null && !isThere(path(gguf))) {
    problems.push(`ANIMA_CORTEX_GGUF names ${path(gguf)}, but that file does not exist.`);
  }
  const threads = figure(reader, gguf, 'ANIMA_CORTEX_THREADS');
  const contextTokens = figure(reader, gguf, 'ANIMA_CORTEX_CONTEXT_TOKENS');
  if (openai !== null) return openai;
  return gguf === null
    ? { kind: 'scripted' }
    : { kind: 'llama', file: path(gguf), ...defined({ threads, contextTokens }) };
};

/** A setting of a model that runs in this process; undefined if it is absent. */
const figure = (
  { text, optionalWhole, problems }: SettingReader,
  gguf: string | null,
  name: 'ANIMA_CORTEX_THREADS' | 'ANIMA_CORTEX_CONTEXT_TOKENS',
): number | undefined => {
  if (gguf === null && text(name) !== null) problems.push(`${name} also requires ANIMA_CORTEX_GGUF.`);
  return optionalWhole(name) ?? undefined;
};

const readModelServer = (source: SettingReader, url: string | null): CortexConfig | null => {
  const { text, problems } = source;
  const model = text('ANIMA_CORTEX_MODEL');
  const key = apiKeySetting(source, 'ANIMA_CORTEX_KEY');
  if (url === null) {
    for (const name of ['ANIMA_CORTEX_MODEL', 'ANIMA_CORTEX_KEY', 'ANIMA_CORTEX_KEY_FILE'] as const) {
      if (text(name) !== null) problems.push(`${name} also requires ANIMA_CORTEX_URL.`);
    }
    return null;
  }
  const root = apiRoot(url);
  if (root === null) {
    problems.push(
      'ANIMA_CORTEX_URL must be an http or https URL that ends in /v1, like http://127.0.0.1:11434/v1, without a user, a password or a query (the value is not shown, because it may contain a password).',
    );
  }
  if (model === null) problems.push('ANIMA_CORTEX_URL also requires ANIMA_CORTEX_MODEL.');
  return { kind: 'openai', url: root ?? '', model: model ?? '', key };
};
