import { TEXT_RULES } from '../../src/features/turns/domain/decision/text-rules.js';
import type { DecisionInput } from '../../src/features/turns/domain/decision/input.js';
import { holdPatterns } from '../../src/features/rules/domain/hold-patterns.js';
import type { RuleWarning } from '../../src/features/rules/domain/rule-warning.js';
import { warningsOf } from '../../src/features/rules/domain/warnings.js';
import { normaliseRuleset } from '../../src/features/rules/domain/normalise.js';
import { Rejection } from '../../src/kernel/base/rejection.js';
import type { Sliced } from '../../src/kernel/base/sliced.js';
import type { DirectiveRule, DirectiveRuleSet, Template } from '../../src/features/rules/domain/ruleset.js';

/** A rule with the members that matter to a test. */
export const aRule = (members: Partial<DirectiveRule>): DirectiveRule => ({
  drRuleId: 'r1',
  ruleName: '',
  ruleCondition: [],
  ruleAction: '',
  ruleReason: '',
  ruleTarget: null,
  rulePriority: 0,
  ruleObsPattern: null,
  rulePromptSuffix: null,
  ...members,
});

/** A registered ruleset of these rules; ids by position unless a rule has its own. */
export const aRuleset = (
  rules: readonly Partial<DirectiveRule>[],
  template: Template | null = null,
): DirectiveRuleSet => ({
  rulesetId: 'test',
  version: 1,
  template,
  rulesetRules: rules.map((rule, position) => aRule({ drRuleId: `r${position + 1}`, ...rule })),
});

/** Runs all slices of sliced work, and returns the work of each. */
export const allSlices = <Result>(work: Sliced<Result>): { readonly result: Result; readonly slices: number[] } => {
  const slices: number[] = [];
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return { result: value, slices };
    slices.push(value);
  }
};

/** All warnings about a ruleset. */
export const allWarnings = (set: Parameters<typeof warningsOf>[0]): readonly RuleWarning[] =>
  allSlices(warningsOf(set)).result;

/** The rules whose pattern matches. */
export const heldBy = (ruleset: DirectiveRuleSet | null, observation: string): readonly string[] =>
  allSlices(holdPatterns(ruleset, observation)).result;

/** The input of a decision. Patterns are tried on the observation unless `patternsHeld` has the result. */
export const anInput = (members: Partial<DecisionInput> = {}): DecisionInput => {
  const { ruleset = null, observation = 'A stranger enters.' } = members;
  return {
    npcId: 'guard',
    context: {},
    data: {},
    facts: {},
    npcState: {},
    persona: 'A watchful guard.',
    memories: [],
    conversation: [],
    patternsHeld: heldBy(ruleset, observation),
    texts: TEXT_RULES,
    ...members,
    ruleset,
    observation,
  };
};

/** A registered ruleset of grammar 2. @throws Rejection if it is refused */
export const aStrictRuleset = (rules: readonly Partial<DirectiveRule>[]): DirectiveRuleSet => {
  const content = allSlices(normaliseRuleset({ rulesetRules: rules }, () => 'test')).result;
  if (content instanceof Rejection) throw content;
  return { ...content, version: 1 };
};
