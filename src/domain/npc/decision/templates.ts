import type { Template } from '../../rules/ruleset.js';

export type ChatMessage = { readonly role: 'system' | 'user'; readonly content: string };

type Format = {
  /** The prompt as the model takes it; what stands in the messages is guarded already. */
  readonly format: (system: string, user: string) => string;
  /** Where the model has ended its answer. */
  readonly stop: readonly string[];
};

const chatMl = (role: string, content: string): string => `<|im_start|>${role}\n${content}<|im_end|>\n`;
const llama3 = (role: string, content: string): string =>
  `<|start_header_id|>${role}<|end_header_id|>\n\n${content}<|eot_id|>`;

export const formats: Readonly<Record<Template, Format>> = {
  Raw: {
    format: (system, user) => `${system}\n\nObservation: ${user}\n\nAnswer:`,
    stop: [],
  },
  ChatML: {
    format: (system, user) => `${chatMl('system', system)}${chatMl('user', user)}<|im_start|>assistant\n`,
    stop: ['<|im_end|>'],
  },
  Llama3: {
    format: (system, user) =>
      `<|begin_of_text|>${llama3('system', system)}${llama3('user', user)}<|start_header_id|>assistant<|end_header_id|>\n\n`,
    stop: ['<|eot_id|>'],
  },
  Alpaca: {
    format: (system, user) => `### Instruction:\n${system}\n\n### Input:\n${user}\n\n### Response:\n`,
    stop: ['### Instruction:', '### Input:'],
  },
};
