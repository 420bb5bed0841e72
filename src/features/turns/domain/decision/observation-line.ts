import { holdPatterns } from '../../../rules/domain/hold-patterns.js';
import type { DirectiveRuleSet } from '../../../rules/domain/ruleset.js';
import { cutJsonText, cutText } from '../../../../kernel/base/text.js';
import type { Sliced } from '../../../../kernel/base/sliced.js';
import type { DecisionInput } from './input.js';
import { TEXT_RULES, type TextRules } from './text-rules.js';

/** How much of an observation goes into a prompt, in bytes of the JSON that records it. */
export const OBSERVATION_BYTES = 16_000;
/** In a prompt, a quote or a backslash is JSON inside JSON. */
const ESCAPED = 4;

/**
 * The observation as a prompt shows it: one line with nothing in it that ends a message, and of limited length. A set of grammar 2 with patterns limits
 * it to what they can search.
 */
export const observationLine = (
  ruleset: Pick<DirectiveRuleSet, 'grammar' | 'observationChars'> | null,
  observation: string,
  { guard }: Pick<TextRules, 'guard'> = TEXT_RULES,
): string => {
  const line = cutJsonText(guard(cutText(observation, OBSERVATION_BYTES)), OBSERVATION_BYTES, ESCAPED);
  return ruleset?.grammar === 2 ? cutText(line, ruleset.observationChars ?? OBSERVATION_BYTES) : line;
};

/** A decision's input as its rules see it: in grammar 2 with the observation as the prompt shows it. */
export const seenByRules = (input: DecisionInput): DecisionInput =>
  input.ruleset?.grammar === 2
    ? { ...input, observation: observationLine(input.ruleset, input.observation, input.texts) }
    : input;

/**
 * The rules whose pattern matches an observation, by id, once per turn: their patterns search what the prompt shows, in grammar 1 the observation as it
 * was sent.
 */
export const heldPatterns = (
  ruleset: DirectiveRuleSet | null,
  observation: string,
  texts: Pick<TextRules, 'guard'> = TEXT_RULES,
): Sliced<readonly string[]> =>
  holdPatterns(ruleset, ruleset?.grammar === 2 ? observationLine(ruleset, observation, texts) : observation);
