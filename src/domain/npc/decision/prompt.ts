import { matchRules, type Match } from '../../rules/match.js';
import { isObject, type Json, type JsonObject } from '../../shared/json.js';
import { cutText } from '../../shared/text.js';
import type { RuleTrace } from '../events.js';
import { guardText } from './guard-text.js';
import type { DecisionInput } from './input.js';
import { formats, type ChatMessage } from './templates.js';

export type BuiltPrompt = {
  readonly prompt: string;
  readonly constraints: JsonObject;
  /** The messages the prompt was formatted from; null for `Raw` (contract 2.8). */
  readonly ctxMessages: readonly ChatMessage[] | null;
  readonly rules: readonly RuleTrace[];
};

/** How the model should answer, in the names of model servers. */
const MAX_TOKENS = 512;
const TEMPERATURE = 0.7;

/** How much of each part goes into a prompt, in UTF-16 units: a model reads a few pages, and the prompt is recorded. */
const PART_CHARS = 8_000;
const OBSERVATION_CHARS = 16_000;
const MEMORY_CHARS = 1_000;
const MEMORIES = 20;
const RULE_CHARS = 500;
const RULES = 50;

const ANSWER_FORM =
  'Answer with one JSON object: {"dialogue": what you say, "action": {"type": an upper-case word such as SPEAK, MOVE, INTERACT, ATTACK or IDLE, "target": whom or what}, "stateDelta": what changes in your state, or {}}.';

/** Text of others: at most so much of it, and nothing in it that ends a message. */
const quoted = (text: string, chars: number): string => guardText(cutText(text, chars));
const quotedJson = (value: Json): string => quoted(JSON.stringify(value), PART_CHARS);

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`];

/** What the matching rules ask of the model, highest first (contract 2.8). */
const demands = (matches: readonly Match[]): readonly string[] =>
  matches.slice(0, RULES).flatMap(({ rule, effect }) => {
    const because = rule.ruleReason === '' ? '' : ` (${rule.ruleReason})`;
    const suffix = rule.rulePromptSuffix ?? '';
    const said = suffix === '' ? [] : [suffix];
    switch (effect.kind) {
      case 'direct':
        return [
          `Your action must be ${effect.type}${effect.target === null ? '' : ` at ${effect.target}`}${because}.`,
          ...said,
        ];
      case 'forbid':
        return [
          effect.type === '*' ? `You must not act at all${because}.` : `${effect.type} is forbidden${because}.`,
          ...said,
        ];
      case 'say':
        return [`${effect.sentence}${because}`, ...said];
      case 'none':
        return said;
    }
  });

const hasMembers = (value: Json): boolean => value !== null && (!isObject(value) || Object.keys(value).length > 0);

const systemText = (input: DecisionInput, matches: readonly Match[]): string =>
  [
    input.persona === null || input.persona === ''
      ? 'You are a character in a game.'
      : `Who you are: ${quoted(input.persona, PART_CHARS)}`,
    ...(hasMembers(input.npcState) ? [`Your state: ${quotedJson(input.npcState)}`] : []),
    ...(hasMembers(input.context) ? [`What is around you: ${quotedJson(input.context)}`] : []),
    ...section(
      'What you remember',
      input.memories.slice(0, MEMORIES).map(({ text }) => quoted(text, MEMORY_CHARS)),
    ),
    ...section(
      'Rules',
      demands(matches).map((line) => quoted(line, RULE_CHARS)),
    ),
    ANSWER_FORM,
  ].join('\n\n');

/**
 * The prompt of a turn in the set's template (contract 2.8): persona, state, context, memories and what the matching rules ask.
 * No text of others can end the message that it stands in.
 */
export const buildPrompt = (input: DecisionInput): BuiltPrompt => {
  const { matches, traces } = matchRules(input.ruleset, input);
  const template = input.ruleset?.template ?? 'Raw';
  const { format, stop } = formats[template];
  const system = systemText(input, matches);
  const user = quoted(input.observation, OBSERVATION_CHARS);
  return {
    prompt: format(system, user),
    constraints: { maxTokens: MAX_TOKENS, temperature: TEMPERATURE, ...(stop.length === 0 ? {} : { stop }) },
    ctxMessages:
      template === 'Raw'
        ? null
        : [
            { role: 'system', content: system },
            { role: 'user', content: user },
          ],
    rules: traces,
  };
};
