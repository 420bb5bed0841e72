import { isObject, type Json, objectOrEmpty } from '../../kernel/base/json.js';
import { boundedText } from '../shared/bounded-text.js';
import type { ModelServer } from './model-server.js';

/** The maximum size of a list of models, in bytes: providers list hundreds. */
const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** What servers call the tokens of prompt and answer: vLLM, LM Studio, OpenRouter, llama.cpp. */
const NAMES = [
  'max_model_len',
  'loaded_context_length',
  'max_context_length',
  'context_length',
  'context_window',
  'n_ctx',
];

const tokensIn = (model: Json | undefined): number | null => {
  const of = objectOrEmpty(model);
  for (const members of [of, objectOrEmpty(of['meta'])]) {
    const found = NAMES.map((name) => members[name]).find((value) => Number.isSafeInteger(value) && Number(value) > 0);
    if (found !== undefined) return Number(found);
  }
  return null;
};

/**
 * How many tokens of prompt and answer the model takes, if its server says so in its list of models; null if not.
 * @throws the reason of the signal
 */
export const listedContext = async ({ url, model, key }: ModelServer, signal: AbortSignal): Promise<number | null> => {
  try {
    const response = await fetch(`${url}/models`, {
      redirect: 'manual',
      signal,
      headers: { accept: 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
    });
    if (!response.ok) {
      await response.body?.cancel();
      return null;
    }
    const { data } = objectOrEmpty(JSON.parse((await boundedText(response, MAX_LIST_BYTES)) ?? 'null'));
    if (!Array.isArray(data)) return null;
    return tokensIn((data as readonly Json[]).find((one) => isObject(one) && one['id'] === model));
  } catch {
    signal.throwIfAborted();
    return null;
  }
};
