import type { RulesTrace } from '../../../rules/domain/rules-trace.js';
import { matchRules } from '../../../rules/domain/match.js';
import { cutBytes, cutText } from '../../../../kernel/base/text.js';
import { QUERY_BYTES } from '../../../npcs/domain/recorded-bytes.js';
import type { DecisionInput } from './input.js';
import { seenByRules } from './observation-line.js';

export type MemoryRecall = { readonly query: string; readonly limit: number; readonly threshold: number };
export type Directive = { readonly memoryRecall: MemoryRecall; readonly trace: RulesTrace };

/** The number of memories to recall if no rule matches. */
const LIMIT = 5;
const THRESHOLD = 0.5;
/** Each match adds one memory, up to this number. */
const LIMIT_WITH_MATCHES = 10;
/** How many characters of the rules' own words are appended to the observation. */
const RULE_WORDS_CHARS = 500;

/**
 * Decides which memories a turn should recall: those for the observation and the words of the matching rules. `trace` records which rules matched and
 * what they saw.
 */
export const giveDirective = (input: DecisionInput): Directive => {
  const { matches, trace } = matchRules(input.ruleset, seenByRules(input));
  const words = matches
    .flatMap(({ rule }) => [rule.ruleName, rule.ruleTarget ?? '', rule.ruleReason])
    .filter((word) => word.trim() !== '');
  const query = [input.observation, cutText([...new Set(words)].join(' '), RULE_WORDS_CHARS)]
    .filter((part) => part !== '')
    .join('\n');
  return {
    memoryRecall: {
      query: cutBytes(query, QUERY_BYTES),
      limit: Math.min(LIMIT + matches.length, LIMIT_WITH_MATCHES),
      threshold: THRESHOLD,
    },
    trace,
  };
};
