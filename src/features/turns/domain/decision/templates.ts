import type { Template } from '../../../rules/domain/ruleset.js';

type Format = {
  /** The prompt in the model's format; the text of the messages is already guarded. */
  readonly format: (system: string, user: string) => string;
  /** The tokens of the format: the first one in a text ends the model's answer. At most four, because model servers accept no more. */
  readonly stop: readonly string[];
  /** The opening of the model's answer, in tokens of the format; models repeat it. */
  readonly header: string;
};

const chatMl = (role: string, content: string): string => `<|im_start|>${role}\n${content}<|im_end|>\n`;
const llama3 = (role: string, content: string): string =>
  `<|start_header_id|>${role}<|end_header_id|>\n\n${content}<|eot_id|>`;

const CHAT_ML_ANSWER = '<|im_start|>assistant\n';
const LLAMA3_ANSWER = '<|start_header_id|>assistant<|end_header_id|>\n\n';
const ALPACA_ANSWER = '### Response:\n';

export const formats: Readonly<Record<Template, Format>> = {
  Raw: {
    format: (system, user) => `${system}\n\nObservation: ${user}\n\nAnswer:`,
    stop: [],
    header: '',
  },
  ChatML: {
    format: (system, user) => `${chatMl('system', system)}${chatMl('user', user)}${CHAT_ML_ANSWER}`,
    stop: ['<|im_end|>', '<|im_start|>'],
    header: CHAT_ML_ANSWER,
  },
  Llama3: {
    format: (system, user) => `<|begin_of_text|>${llama3('system', system)}${llama3('user', user)}${LLAMA3_ANSWER}`,
    stop: ['<|eot_id|>', '<|start_header_id|>', '<|end_header_id|>', '<|begin_of_text|>'],
    header: LLAMA3_ANSWER,
  },
  Alpaca: {
    format: (system, user) => `### Instruction:\n${system}\n\n### Input:\n${user}\n\n${ALPACA_ANSWER}`,
    stop: ['### Instruction:', '### Input:', '### Response:'],
    header: ALPACA_ANSWER,
  },
};

/** Llama 3 also ends a text with this token, which no message contains. */
const END_OF_TEXT = '<|end_of_text|>';
const chatTokens = [...Object.values(formats).flatMap(({ stop }) => stop), END_OF_TEXT];
const chatToken = new RegExp(chatTokens.map((token) => token.replace(/[|]/g, '\\|')).join('|'));

/** A model's text up to the first chat token of any template. After it the model writes as another participant. */
export const untilChatToken = (text: string): string => {
  const at = text.search(chatToken);
  return at === -1 ? text : text.slice(0, at);
};

const headers = Object.values(formats)
  .map(({ header }) => header.trimEnd())
  .filter((header) => header !== '');

/** A model's text without the answer header of any template at its beginning: models repeat the last line of their prompt. */
export const withoutHeader = (text: string): string => {
  const begun = text.trimStart();
  const header = headers.find((one) => begun.startsWith(one));
  return header === undefined ? text : begun.slice(header.length);
};
