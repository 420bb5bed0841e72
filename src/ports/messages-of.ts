export type ChatMessage = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string };

/** The text around the two messages in each template, as `formats` (turns/domain/decision/templates.ts) writes it. */
const frames: readonly { readonly before: string; readonly between: string; readonly after: string }[] = [
  {
    before: '<|im_start|>system\n',
    between: '<|im_end|>\n<|im_start|>user\n',
    after: '<|im_end|>\n<|im_start|>assistant\n',
  },
  {
    before: '<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n',
    between: '<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n',
    after: '<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n',
  },
  { before: '### Instruction:\n', between: '\n\n### Input:\n', after: '\n\n### Response:\n' },
];

/**
 * The messages that a prompt was formatted from; a prompt without a chat template, `Raw` too, is one message of the user. No text from outside holds
 * a mark of a template (guard-text.ts in the same folder), so the text between the marks is complete.
 */
export const messagesOf = (prompt: string): readonly ChatMessage[] => {
  for (const { before, between, after } of frames) {
    const middle = prompt.indexOf(between, before.length);
    const end = prompt.length - after.length;
    if (!prompt.startsWith(before) || !prompt.endsWith(after) || middle === -1 || middle + between.length > end)
      continue;
    return [
      { role: 'system', content: prompt.slice(before.length, middle) },
      { role: 'user', content: prompt.slice(middle + between.length, end) },
    ];
  }
  return [{ role: 'user', content: prompt }];
};
