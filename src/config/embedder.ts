import { join } from 'node:path';

import type { EmbedderChoice } from '../ports/embedder-choice.js';
import { type AccessSource, apiKeySetting } from './server-access.js';
import { apiRoot, integer, protocolOf } from './values.js';

/** What reading the embedder's settings needs besides: whether a file exists. */
export type EmbedderSource = AccessSource & { readonly isThere: (file: string) => boolean };

/**
 * The cosine that separates related texts from unrelated ones, for embedders that nobody here has measured. Models trained on sentence pairs are near
 * it; some put all texts closer together and need up to 0.8.
 */
const DEFAULT_RELATED = 0.4;

/** Each thread loads the model once more. */
const MAX_THREADS = 64;

const ONNX = 'onnx:';
/** What transformers.js needs of a folder, and under which names it finds the model there; the first that exists is taken. */
const descriptions = ['config.json', 'tokenizer.json', 'tokenizer_config.json'] as const;
const modelFiles = ['onnx/model.onnx', 'model.onnx', 'onnx/model_quantized.onnx', 'model_quantized.onnx'] as const;

/** What may stand in an id. */
const modelName = /^[\x21-\x7e]{1,128}$/;

/** The embedder that recall uses. An embedding server is configured with its model; the others accept neither a model nor a key. */
export const readEmbedder = (source: EmbedderSource): EmbedderChoice => {
  const { text, problems } = source;
  const value = text('ANIMA_EMBEDDER') ?? 'builtin';
  const url = /^https?:\/\//i.test(value) ? apiRoot(value) : null;
  const threads = threadsSetting(source, url !== null);
  if (url !== null) return apiChoice(source, url);
  for (const name of ['ANIMA_EMBEDDER_MODEL', 'ANIMA_EMBEDDER_KEY', 'ANIMA_EMBEDDER_KEY_FILE']) {
    if (text(name) !== null) problems.push(`${name} needs ANIMA_EMBEDDER to be a URL ending in /v1.`);
  }
  if (value.startsWith(ONNX) && value.length > ONNX.length)
    return { ...onnxChoice(source, value.slice(ONNX.length)), ...threads };
  if (value !== 'builtin') {
    const shown = value.includes('://') || value.includes('@') ? protocolOf(value) : JSON.stringify(value);
    problems.push(
      `ANIMA_EMBEDDER must be "builtin", "onnx:" and a folder, or an http or https URL ending in /v1, not ${shown}.`,
    );
  }
  if (value === 'builtin' && text('ANIMA_EMBEDDER_RELATED') !== null) {
    problems.push('ANIMA_EMBEDDER_RELATED: the built-in embedder is measured; leave the variable out.');
  }
  return { kind: 'builtin', ...threads };
};

/** In how many threads a model of ours runs; nothing when it is left out. */
const threadsSetting = ({ text, problems }: EmbedderSource, isElsewhere: boolean): { readonly threads?: number } => {
  const given = text('ANIMA_EMBEDDER_THREADS');
  if (given === null) return {};
  const threads = integer(given, 1, MAX_THREADS);
  if (isElsewhere) problems.push('ANIMA_EMBEDDER_THREADS: this embedder runs elsewhere; leave the variable out.');
  else if (threads === null) {
    problems.push(
      `ANIMA_EMBEDDER_THREADS must be a number from 1 to ${String(MAX_THREADS)}, not ${JSON.stringify(given)}.`,
    );
  }
  return threads === null ? {} : { threads };
};

const apiChoice = (source: EmbedderSource, url: string): EmbedderChoice => {
  const { text, problems } = source;
  const model = text('ANIMA_EMBEDDER_MODEL');
  if (model === null) problems.push('ANIMA_EMBEDDER is a URL and needs ANIMA_EMBEDDER_MODEL, the name of the model.');
  else if (!modelName.test(model)) {
    problems.push(
      `ANIMA_EMBEDDER_MODEL must be one word of at most 128 visible ASCII characters, not ${JSON.stringify(model)}.`,
    );
  }
  const key = apiKeySetting(source, 'ANIMA_EMBEDDER_KEY');
  return { kind: 'api', url, model: model ?? '', key, related: relatedSetting(source) };
};

const onnxChoice = (source: EmbedderSource, name: string): EmbedderChoice => {
  const { path, isThere, problems } = source;
  const folder = path(name);
  for (const file of descriptions) {
    if (!isThere(join(folder, file))) problems.push(`ANIMA_EMBEDDER names ${folder}, which has no file ${file}.`);
  }
  const file = modelFiles.find((each) => isThere(join(folder, each)));
  if (file === undefined) {
    problems.push(`ANIMA_EMBEDDER names ${folder}, which has no model: none of ${modelFiles.join(', ')} is there.`);
  }
  return { kind: 'onnx', folder, file: file ?? '', related: relatedSetting(source) };
};

const relatedSetting = ({ text, problems }: EmbedderSource): number => {
  const value = text('ANIMA_EMBEDDER_RELATED');
  if (value === null) return DEFAULT_RELATED;
  const related = /^0?\.\d{1,6}$/.test(value) ? Number(value) : NaN;
  if (related > 0) return related;
  problems.push(
    `ANIMA_EMBEDDER_RELATED must be a number above 0 and below 1, for example 0.4, not ${JSON.stringify(value)}.`,
  );
  return DEFAULT_RELATED;
};
