import { defined } from '../kernel/base/defined.js';
import { type AccessSource, apiKeySetting } from './server-access.js';
import { apiRoot, integer } from './values.js';

/** The engine of tenants that have not chosen one. */
export type CortexConfig =
  | { readonly kind: 'scripted' }
  /** `url` without a slash at the end. */
  | { readonly kind: 'openai'; readonly url: string; readonly model: string; readonly key: string | null }
  /** `file` is absolute. Without the others the engine chooses. */
  | { readonly kind: 'llama'; readonly file: string; readonly threads?: number; readonly contextTokens?: number };

const MAX_THREADS = 256;
const MIN_CONTEXT_TOKENS = 512;
const MAX_CONTEXT_TOKENS = 1_048_576;

/**
 * Reads which engine is the server's default.
 * @param isThere whether a file exists
 */
export const readCortex = (source: AccessSource, isThere: (file: string) => boolean): CortexConfig => {
  const { text, path, problems } = source;
  const url = text('ANIMA_CORTEX_URL');
  const gguf = text('ANIMA_CORTEX_GGUF');
  if (url !== null && gguf !== null) {
    problems.push('ANIMA_CORTEX_URL and ANIMA_CORTEX_GGUF are both set; keep one of them.');
  }
  const openai = readModelServer(source, url);
  if (gguf !== null && !isThere(path(gguf))) {
    problems.push(`ANIMA_CORTEX_GGUF names ${path(gguf)}, but there is no such file.`);
  }
  const threads = figure(source, gguf, 'ANIMA_CORTEX_THREADS', 1, MAX_THREADS);
  const contextTokens = figure(source, gguf, 'ANIMA_CORTEX_CONTEXT_TOKENS', MIN_CONTEXT_TOKENS, MAX_CONTEXT_TOKENS);
  if (openai !== null) return openai;
  return gguf === null
    ? { kind: 'scripted' }
    : { kind: 'llama', file: path(gguf), ...defined({ threads, contextTokens }) };
};

/** A whole number that says how a model in this process runs; undefined when it is left out. */
const figure = (
  { text, problems }: AccessSource,
  gguf: string | null,
  name: string,
  min: number,
  max: number,
): number | undefined => {
  const given = text(name);
  if (given === null) return undefined;
  if (gguf === null) problems.push(`${name} needs ANIMA_CORTEX_GGUF as well.`);
  const value = integer(given, min, max);
  if (value === null) {
    problems.push(`${name} must be a number from ${String(min)} to ${String(max)}, not ${JSON.stringify(given)}.`);
  }
  return value ?? undefined;
};

const readModelServer = (source: AccessSource, url: string | null): CortexConfig | null => {
  const { text, problems } = source;
  const model = text('ANIMA_CORTEX_MODEL');
  const key = apiKeySetting(source, 'ANIMA_CORTEX_KEY');
  if (url === null) {
    for (const name of ['ANIMA_CORTEX_MODEL', 'ANIMA_CORTEX_KEY', 'ANIMA_CORTEX_KEY_FILE']) {
      if (text(name) !== null) problems.push(`${name} needs ANIMA_CORTEX_URL as well.`);
    }
    return null;
  }
  const root = apiRoot(url);
  if (root === null) {
    problems.push(
      'ANIMA_CORTEX_URL must be an http or https URL that ends in /v1, like http://127.0.0.1:11434/v1, without a name, a password or a query (its value is not shown, as it may hold a password).',
    );
  }
  if (model === null) problems.push('ANIMA_CORTEX_URL needs ANIMA_CORTEX_MODEL as well.');
  return { kind: 'openai', url: root ?? '', model: model ?? '', key };
};
