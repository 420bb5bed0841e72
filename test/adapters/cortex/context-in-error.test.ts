import { describe, expect, it } from 'vitest';

import { contextInError } from '../../../src/adapters/cortex/context-in-error.js';

describe('the context that an error names', () => {
  it.each([
    ["This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", 8_192],
    ["'max_tokens' is too large: 512. This model's maximum context length is 2048 tokens", 2_048],
    ['"message":"request (900 tokens) exceeds the available context size","n_prompt_tokens":900,"n_ctx":512', 512],
    ['request (900 tokens) exceeds the available context size (768 tokens)', 768],
    ['However, the model is loaded with context length of only 4096 tokens', 4_096],
    ['Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length', 32_768],
    ['prompt is too long: 210000 tokens > 200000 maximum', 200_000],
    ['`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens', 4_096],
    ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
    ['The prompt is too long.', null],
    ['context length is 7 tokens', null],
    [`${'x'.repeat(600)} context length is 4096 tokens`, null],
  ])('%s', (text, tokens) => {
    expect(contextInError(text)).toBe(tokens);
  });
});
