import { defined } from '../../kernel/base/defined.js';
import type { JsonObject } from '../../kernel/base/json.js';
import { messagesOf } from '../../ports/messages-of.js';
import type { Completion } from '../../ports/cortex.js';
import type { ModelServer } from './model-server.js';

/** The maximum number of stop strings that model servers accept. */
const MAX_STOPS = 4;

/** The request for a completion, as a model server gets it that supports all of its members. */
export const requestBody = (
  { model, extra }: Pick<ModelServer, 'model' | 'extra'>,
  { prompt, messages = messagesOf(prompt), maxTokens, temperature, stop, jsonSchema, onText }: Completion,
): JsonObject => ({
  ...extra,
  model,
  messages,
  ...defined({
    max_tokens: maxTokens,
    temperature,
    stop: stop === undefined || stop.length === 0 ? undefined : stop.slice(0, MAX_STOPS),
    response_format:
      jsonSchema === undefined
        ? undefined
        : { type: 'json_schema', json_schema: { name: 'answer', schema: jsonSchema } },
  }),
  stream: onText !== undefined,
});
