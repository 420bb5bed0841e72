import { join } from 'node:path';

import { defined } from '../kernel/base/defined.js';
import type { EmbedderChoice } from '../ports/embedder-choice.js';
import { apiKeySetting } from './server-access.js';
import { settings } from './settings.js';
import type { SettingReader } from './setting-reader.js';
import { apiRoot, protocolOf } from './values.js';

const ONNX = 'onnx:';
/** The files that transformers.js requires in a folder, and the names of the model file; the first that exists is used. */
const descriptions = ['config.json', 'tokenizer.json', 'tokenizer_config.json'] as const;
const modelFiles = ['onnx/model.onnx', 'model.onnx', 'onnx/model_quantized.onnx', 'model_quantized.onnx'] as const;

/** What is allowed in the ID of an embedder. */
const modelName = /^[\x21-\x7e]{1,128}$/;

/** The embedder that recall uses. An embedding server is configured with its model; the others accept neither a model nor a key. */
export const readEmbedder = (source: SettingReader): EmbedderChoice => {
  const { text, problems } = source;
  const value = source.value('ANIMA_EMBEDDER', (given) => given);
  const url = /^https?:\/\//i.test(value) ? apiRoot(value) : null;
  const threads = threadsSetting(source, url !== null);
  if (url !== null) return apiChoice(source, url);
  for (const name of ['ANIMA_EMBEDDER_MODEL', 'ANIMA_EMBEDDER_KEY', 'ANIMA_EMBEDDER_KEY_FILE'] as const) {
    if (text(name) !== null) problems.push(`${name} requires ANIMA_EMBEDDER to be a URL ending in /v1.`);
  }
  if (value.startsWith(ONNX) && value.length > ONNX.length)
    return { ...onnxChoice(source, value.slice(ONNX.length)), ...threads };
  if (value !== 'builtin') {
    const shown = value.includes('://') || value.includes('@') ? protocolOf(value) : JSON.stringify(value);
    problems.push(`ANIMA_EMBEDDER must be ${settings.ANIMA_EMBEDDER.expects ?? ''}, not ${shown}.`);
  }
  if (value === 'builtin' && text('ANIMA_EMBEDDER_RELATED') !== null) {
    problems.push('ANIMA_EMBEDDER_RELATED: the built-in embedder does not use it. Remove the variable.');
  }
  return { kind: 'builtin', ...threads };
};

/** The number of threads of an embedder that runs in this process. */
const threadsSetting = (
  { text, optionalWhole, problems }: SettingReader,
  isElsewhere: boolean,
): { readonly threads?: number } => {
  if (!isElsewhere) return defined({ threads: optionalWhole('ANIMA_EMBEDDER_THREADS') ?? undefined });
  if (text('ANIMA_EMBEDDER_THREADS') !== null) {
    problems.push('ANIMA_EMBEDDER_THREADS: this embedder runs on another server. Remove the variable.');
  }
  return {};
};

const apiChoice = (source: SettingReader, url: string): EmbedderChoice => {
  const { text, optional, problems } = source;
  const model = optional('ANIMA_EMBEDDER_MODEL', (name) => (modelName.test(name) ? name : null));
  if (text('ANIMA_EMBEDDER_MODEL') === null) {
    problems.push('ANIMA_EMBEDDER is a URL, so it also requires ANIMA_EMBEDDER_MODEL, the name of the model.');
  }
  const key = apiKeySetting(source, 'ANIMA_EMBEDDER_KEY');
  return { kind: 'api', url, model: model ?? '', key, related: relatedSetting(source) };
};

const onnxChoice = (source: SettingReader, name: string): EmbedderChoice => {
  const { path, isThere, problems } = source;
  const folder = path(name);
  for (const file of descriptions) {
    if (!isThere(join(folder, file))) problems.push(`ANIMA_EMBEDDER names ${folder}, which has no file ${file}.`);
  }
  const file = modelFiles.find((each) => isThere(join(folder, each)));
  if (file === undefined) {
    problems.push(`ANIMA_EMBEDDER names ${folder}, which contains no model: none of ${modelFiles.join(', ')} exists.`);
  }
  return { kind: 'onnx', folder, file: file ?? '', related: relatedSetting(source) };
};

const relatedSetting = ({ value }: SettingReader): number =>
  value('ANIMA_EMBEDDER_RELATED', (text) => {
    const related = /^0?\.\d{1,6}$/.test(text) ? Number(text) : NaN;
    return related > 0 ? related : null;
  });
