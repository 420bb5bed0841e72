// The one table of the special tokens of chat templates: where a text ends, and what may stand before it. The names are patterns, in any letter case.

/** Tokens in angle brackets without bars: Llama 2, Mistral, Gemma, GLM, T5, Seed, and names that models make of others. */
const ANGLED = [
  String.raw`\/?s`,
  String.raw`(?:bos|eos|eot|eom|eod|sop|eop|pad|unk)(?:_token)?`,
  String.raw`(?:start|begin|end)_?of_?(?:turn|text|utterance|sentence|message)`,
  'endoftext',
  String.raw`im_(?:start|end|sep)`,
  String.raw`seed:(?:bos|eos)`,
  String.raw`extra_id_\d{1,2}`,
  String.raw`<\/?sys>`,
  // Gemma 4 opens a turn with the first, and closes it with the second.
  String.raw`\|turn`,
  String.raw`turn\|`,
];
/** Tokens in square brackets: Mistral, GLM, EXAONE, MiniMax. */
const BRACKETED = [
  String.raw`\/?inst\]`,
  String.raw`\/?(?:system_prompt|available_tools|tool_results|tool_content)\]`,
  String.raw`[gs]mask\]`,
  String.raw`\|[a-z_]{1,24}\|\]`,
  String.raw`e~\[`,
];
/** The headings of Alpaca, which have no tokens. */
const HEADINGS = ['### Instruction:', '### Input:', '### Response:'];
/** Every other token between bars: ChatML, Llama 3 and 4, Phi, Command R, Granite, harmony, Kimi; DeepSeek has full-width bars. */
const BARRED = String.raw`<[|｜][^\s<>|｜]{1,48}[|｜]>`;

/** What ends the text of a model: after it, the model writes as another participant. It has no groups. */
export const END_PATTERN = [
  BARRED,
  String.raw`<(?:${ANGLED.join('|')})>`,
  String.raw`\[(?:${BRACKETED.join('|')})`,
  ...HEADINGS,
].join('|');

/** Each of these is in every text with a token that ends it, and in few others. */
export const MAY_END = /<[|｜/<a-z]|\[[/igsmaest|]|###/i;

/** The tokens of a text's beginning, which say nothing. */
const BEGINNINGS = [
  '<s>',
  '<bos>',
  '<pad>',
  '<sop>',
  String.raw`\[gmask\]`,
  '<seed:bos>',
  String.raw`<[|｜](?:begin[_▁]of[_▁](?:text|sentence|box)|start_?of_?text|start_response)[|｜]>`,
];
/** The openings of a model's own answer: models repeat the last line of their prompt. */
const HEADERS = [
  String.raw`<\|im_start\|>assistant\n?`,
  String.raw`<\|start_header_id\|>assistant<\|end_header_id\|>`,
  String.raw`<\|header_start\|>assistant<\|header_end\|>`,
  String.raw`<\|start_of_role\|>assistant<\|end_of_role\|>`,
  String.raw`<\|im_assistant\|>assistant<\|im_middle\|>`,
  String.raw`<\|start_of_turn_token\|><\|chatbot_token\|>`,
  String.raw`<[|｜]assistant[|｜]>`,
  String.raw`\[\|assistant\|\]`,
  String.raw`<start_of_turn>model\n?`,
  String.raw`<\|turn>model\n?`,
  String.raw`\[\/inst\]`,
  '### Response:',
];
const BEFORE = new RegExp(String.raw`(?:\s+|${[...BEGINNINGS, ...HEADERS].join('|')})+`, 'iy');

/** Where a text begins, after white space, tokens of a beginning and the header of an answer. */
export const beginningOf = (text: string): number => {
  BEFORE.lastIndex = 0;
  return BEFORE.test(text) ? BEFORE.lastIndex : 0;
};

/** The end tokens that a model server is asked to stop at, by template: those that it meets most often. Model servers accept at most four. */
export const STOPS = {
  Raw: ['<end_of_turn>', '<|im_end|>', '<|eot_id|>', '</s>'],
  ChatML: ['<|im_end|>', '<|im_start|>', '<|endoftext|>', '</s>'],
  Llama3: ['<|eot_id|>', '<|start_header_id|>', '<|end_header_id|>', '<|begin_of_text|>'],
  Alpaca: [...HEADINGS, '</s>'],
} as const;
