import { jsonBytes } from '../../../../kernel/base/json.js';
import { countTokens } from '../../../../kernel/model-text/count-tokens.js';

/** Where a part of a prompt comes from; `instruction` is what the server itself says. */
export const partOrigins = [
  ...(['persona', 'state', 'context', 'memory', 'conversation'] as const),
  ...(['rule', 'action', 'instruction', 'observation'] as const),
] as const;
type PartOrigin = (typeof partOrigins)[number];

/** A part of a prompt: a line of it, or a paragraph without lines below it. */
export type PromptPart = {
  readonly text: string;
  readonly from: PartOrigin;
  /** What it was made from: a memory, the turn of an exchange, a rule, an action, each by its id. */
  readonly ref?: string;
};

/** A part, and the lines below it. */
export type Paragraph = readonly [PromptPart, ...PromptPart[]];

/** Lines under a title; nothing without lines. */
export const section = (title: string, lines: readonly PromptPart[]): readonly Paragraph[] =>
  lines.length === 0 ? [] : [[{ text: `${title}:`, from: 'instruction' }, ...lines]];

/** The text that paragraphs make. */
export const promptText = (paragraphs: readonly Paragraph[]): string =>
  paragraphs.map(([first, ...lines]) => [first.text, ...lines.map(({ text }) => `- ${text}`)].join('\n')).join('\n\n');

/** The first of these parts that fit into `bytes` bytes of JSON together. */
export const fittingParts = (parts: readonly PromptPart[], bytes: number): readonly PromptPart[] => {
  let left = bytes;
  const over = parts.findIndex(({ text }) => (left -= jsonBytes(text)) < 0);
  return over === -1 ? parts : parts.slice(0, over);
};

/** What a template has around a prompt, what stands between two parts, and what a message of a conversation has around its text, in tokens. */
const FRAME_TOKENS = 24;
export const BETWEEN_TOKENS = 2;
export const MESSAGE_TOKENS = 6;

/** How many tokens a part takes in a prompt, with what stands around it. */
export const tokensOf = ({ text, from }: PromptPart): number =>
  countTokens(text) + BETWEEN_TOKENS + (from === 'conversation' ? MESSAGE_TOKENS : 0);

/** How many tokens a prompt of these parts takes, by the counter of the logic. */
export const promptTokens = (parts: readonly PromptPart[]): number =>
  parts.reduce((sum, part) => sum + tokensOf(part), FRAME_TOKENS);
