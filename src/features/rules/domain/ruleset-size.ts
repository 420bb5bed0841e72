import { jsonBytes } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { countTests } from './condition.js';
import { buildKeyTree } from './key-tree.js';
import { compilePatterns } from './hold-patterns.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { compileWork, type PatternCost, PATTERN_SLICE } from './pattern.js';
import type { DirectiveRule, Grammar, RuleCondition } from './ruleset.js';
import { CEL_KEY } from './conditions/read-condition.js';
import { sizeOfPaths } from './conditions/size-of-paths.js';

/** The cost of an entire ruleset: each figure except `valueBytes` is a sum over all its rules. */
export type RulesetSize = {
  /** Conditions; each alternative of a value counts as one. */
  readonly conditions: number;
  /** Parts of keys; parts that keys have in common count once. */
  readonly keyParts: number;
  /** Only in grammar 2: for each condition with a letter, such as `bag[x].id`, its alternatives, the names behind the letter, and two. */
  readonly elementTests: number;
  /** Only in grammar 2: the steps that the conditions in CEL may take together. */
  readonly celSteps: number;
  /** Bytes of the JSON texts of rule ids, keys and values, which each trace repeats. */
  readonly nameBytes: number;
  /** Bytes of the JSON text of the longest condition's value; expressions in CEL have a limit of their own. */
  readonly valueBytes: number;
  /** The work of compiling the patterns (pattern.ts defines the unit). */
  readonly patternSource: number;
  /** Instructions of the patterns' programs; those of a pattern with classes such as `\p{L}` count twice. */
  readonly patternInstructions: number;
};

/**
 * The maximum cost of a ruleset. Conditions and key parts limit a decision, which blocks the event loop: with arrays of 1,000 elements at worst about
 * 10 ms. Patterns are tried in slices. The instructions limit a turn's work to 21 slices; the source limits the first use after a start to 10. The
 * bytes of names keep each trace below TRACE_BYTES (trace.ts). The bytes of a value keep comparisons with it short. Conditions with a letter look at
 * each element of a list. Steps in CEL take about 6 ms at worst.
 */
export const RULESET_BOUNDS: RulesetSize = {
  conditions: 512,
  keyParts: 256,
  elementTests: 128,
  celSteps: 100_000,
  nameBytes: 24_576,
  valueBytes: 1_024,
  patternSource: 2_000_000,
  patternInstructions: 2_048,
};

type Rules = readonly DirectiveRule[];

const sum = (figures: Iterable<number>): number => [...figures].reduce((all, one) => all + one, 0);

const keysOf = (rules: Rules): readonly string[] =>
  rules.flatMap(({ ruleCondition }) => ruleCondition.map(([key]) => key));

const isExpression = ([key]: RuleCondition, grammar: Grammar): boolean => grammar === 2 && key === CEL_KEY;

/** Each measurement is cheap for rulesets that passed the earlier ones. The first measurement beyond a limit is the last one made. */
const measurements: readonly ((rules: Rules, grammar: Grammar) => Partial<RulesetSize>)[] = [
  (rules, grammar) => {
    const pairs = rules.flatMap(({ ruleCondition }) => ruleCondition);
    const values = pairs.map(([, value]) => jsonBytes(value));
    const compared = pairs.filter((pair) => !isExpression(pair, grammar)).map(([, value]) => jsonBytes(value));
    const keys = rules.flatMap(({ ruleCondition }) => ruleCondition.map(([key]) => jsonBytes(key)));
    const ids = rules.map(({ drRuleId }) => jsonBytes(drRuleId));
    return {
      nameBytes: sum(ids) + sum(keys) + sum(values),
      valueBytes: compared.reduce((longest, bytes) => Math.max(longest, bytes), 0),
    };
  },
  (rules, grammar) => ({
    conditions: sum(
      rules.flatMap(({ ruleCondition }) =>
        ruleCondition.map((pair) => (isExpression(pair, grammar) ? 1 : countTests(pair[1]))),
      ),
    ),
  }),
  (rules, grammar) => ({
    ...(grammar === 2 ? sizeOfPaths(rules) : { keyParts: buildKeyTree(keysOf(rules)).size }),
    patternSource: sum(rules.map(({ ruleObsPattern }) => Math.min(compileWork(ruleObsPattern ?? ''), PATTERN_SLICE))),
  }),
];

const measure = (rules: Rules, grammar: Grammar): Partial<RulesetSize> => {
  let size: Partial<RulesetSize> = {};
  for (const measurement of measurements) {
    size = { ...size, ...measurement(rules, grammar) };
    if (beyond(size)) break;
  }
  return size;
};

const beyond = (figures: Partial<RulesetSize>): boolean =>
  Object.entries(figures).some(([name, figure]) => figure > RULESET_BOUNDS[name as keyof RulesetSize]);

const tooLarge = (figures: Partial<RulesetSize>): Rejection =>
  new Rejection('RULESET_TOO_LARGE', { details: { figures, bounds: RULESET_BOUNDS } });

/**
 * Checks the total cost of a ruleset, in slices, because it compiles patterns. Refuses with RULESET_TOO_LARGE and the figures known so far, or
 * PATTERN_INVALID for the first pattern that RE2 does not accept or that is too large on its own.
 * @returns what its patterns cost
 */
export function* checkRulesetSize(rules: Rules, grammar: Grammar): Sliced<Rejection | PatternCost> {
  const size = measure(rules, grammar);
  if (beyond(size)) return tooLarge(size);
  const { bad, ...cost } = yield* compilePatterns(rules, RULESET_BOUNDS.patternInstructions);
  if (bad !== undefined) {
    const { drRuleId, problem } = bad;
    const ruleObsPattern = rules.find((rule) => rule.drRuleId === drRuleId)?.ruleObsPattern ?? null;
    return new Rejection('PATTERN_INVALID', {
      message: `The pattern of rule ${drRuleId} cannot be used: ${problem}. Nothing was stored.`,
      details: { drRuleId, ruleObsPattern, problem },
    });
  }
  const whole: Partial<RulesetSize> = { ...size, patternInstructions: cost.instructions };
  return beyond(whole) ? tooLarge(whole) : cost;
}
