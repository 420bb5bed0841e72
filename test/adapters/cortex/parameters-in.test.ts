import { describe, expect, it } from 'vitest';

import { parametersIn } from '../../../src/adapters/cortex/parameters-in.js';

describe('the size of a model', () => {
  it.each([
    ['gemma3-270m-q4_k_m.gguf', 270],
    ['llama3.1:8b', 8_000],
    ['Qwen2.5-7B-Instruct', 7_000],
    ['phi-3.5B', 3_500],
    ['mixtral-8x7b', 0],
    ['gpt-4o', 0],
    ['q4b_0', 0],
    ['', 0],
  ])('is read from its name if the name contains it: %s', (name, millions) => {
    expect(parametersIn(name)).toBe(millions);
  });
});
