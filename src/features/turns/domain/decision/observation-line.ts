import type { DirectiveRuleSet } from '../../../rules/domain/ruleset.js';
import { cutJsonText, cutText } from '../../../../kernel/base/text.js';
import { guardText } from './guard-text.js';

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
): string => {
  const line = cutJsonText(guardText(cutText(observation, OBSERVATION_BYTES)), OBSERVATION_BYTES, ESCAPED);
  return ruleset?.grammar === 2 ? cutText(line, ruleset.observationChars ?? OBSERVATION_BYTES) : line;
};

/** The text that the patterns of a ruleset search: in grammar 2 exactly what the prompt shows. */
export const searchedText = (ruleset: DirectiveRuleSet | null, observation: string): string =>
  ruleset?.grammar === 2 ? observationLine(ruleset, observation) : observation;
