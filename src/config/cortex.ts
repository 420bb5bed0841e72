import { defined } from '../kernel/base/defined.js';
import { isObject, type JsonObject } from '../kernel/base/json.js';
import { apiKeySetting } from './server-access.js';
import type { SettingReader } from './setting-reader.js';
import { apiRoot } from './values.js';

/** What turns ask of the model; the logic of turns chooses the values that are absent. */
type InTurns = { readonly maxTokens?: number; readonly temperature?: number };

/** The engine of tenants that have not chosen one. */
export type CortexConfig =
  | { readonly kind: 'scripted' }
  | {
      readonly kind: 'openai';
      /** It has no trailing slash. */
      readonly url: string;
      readonly model: string;
      readonly key: string | null;
      /** Of prompt and answer; prompts are shortened to it. */
      readonly contextTokens?: number;
      readonly inTurns?: InTurns;
      readonly extra?: JsonObject;
    }
  | {
      readonly kind: 'llama';
      /** An absolute path. */
      readonly file: string;
      /** The engine chooses the values that are absent. */
      readonly threads?: number;
      readonly contextTokens?: number;
      readonly inTurns?: InTurns;
    };

const EXTRA_BYTES = 4_096;
const EXTRA_MEMBERS = 32;
/** The server sends these itself. */
const OWN_MEMBERS: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'stream', 'max_tokens', 'max_completion_tokens', 'temperature', 'stop', 'response_format'],
]);

const temperature = (text: string): number | null =>
  /^\d(?:\.\d{1,6})?$/.test(text) && Number(text) <= 2 ? Number(text) : null;

const extraMembers = (text: string): JsonObject | null => {
  if (Buffer.byteLength(text) > EXTRA_BYTES) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return null;
    const names = Object.keys(value);
    return names.length > EXTRA_MEMBERS || names.some((name) => OWN_MEMBERS.has(name)) ? null : value;
  } catch {
    return null;
  }
};

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
  const threads = readThreads(reader, gguf);
  const inTurns = readInTurns(reader, url !== null || gguf !== null);
  const contextTokens = reader.optionalWhole('ANIMA_CORTEX_CONTEXT_TOKENS') ?? undefined;
  if (openai !== null) return { ...openai, ...defined({ contextTokens }), ...inTurns };
  return gguf === null
    ? { kind: 'scripted' }
    : { kind: 'llama', file: path(gguf), ...defined({ threads, contextTokens }), ...inTurns };
};

const readInTurns = (
  { text, optionalWhole, optional, problems }: SettingReader,
  hasModel: boolean,
): { readonly inTurns?: InTurns } => {
  for (const name of [
    ...(['ANIMA_CORTEX_MAX_TOKENS', 'ANIMA_CORTEX_TEMPERATURE', 'ANIMA_CORTEX_CONTEXT_TOKENS'] as const),
  ]) {
    if (!hasModel && text(name) !== null) problems.push(`${name} also requires ANIMA_CORTEX_URL or ANIMA_CORTEX_GGUF.`);
  }
  const inTurns = defined({
    maxTokens: optionalWhole('ANIMA_CORTEX_MAX_TOKENS') ?? undefined,
    temperature: optional('ANIMA_CORTEX_TEMPERATURE', temperature) ?? undefined,
  });
  return Object.keys(inTurns).length === 0 ? {} : { inTurns };
};

/** How many threads a model in this process uses; undefined if the setting is absent. */
const readThreads = ({ text, optionalWhole, problems }: SettingReader, gguf: string | null): number | undefined => {
  const name = 'ANIMA_CORTEX_THREADS';
  if (gguf === null && text(name) !== null) problems.push(`${name} also requires ANIMA_CORTEX_GGUF.`);
  return optionalWhole(name) ?? undefined;
};

const readModelServer = (
  source: SettingReader,
  url: string | null,
): Extract<CortexConfig, { kind: 'openai' }> | null => {
  const { text, optional, problems } = source;
  const model = text('ANIMA_CORTEX_MODEL');
  const key = apiKeySetting(source, 'ANIMA_CORTEX_KEY');
  if (url === null) {
    for (const name of [
      ...(['ANIMA_CORTEX_MODEL', 'ANIMA_CORTEX_KEY', 'ANIMA_CORTEX_KEY_FILE', 'ANIMA_CORTEX_EXTRA'] as const),
    ]) {
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
  // Not shown if it is invalid: it may hold a secret.
  const extra = optional(
    'ANIMA_CORTEX_EXTRA',
    extraMembers,
    () => 'this value (not shown, because it may hold a secret)',
  );
  return { kind: 'openai', url: root ?? '', model: model ?? '', key, ...defined({ extra: extra ?? undefined }) };
};
