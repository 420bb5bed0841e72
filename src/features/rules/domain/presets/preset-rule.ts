import type { DirectiveRule } from '../ruleset.js';

/** A rule of a preset: the members that are not given are empty. */
export const presetRule = (
  drRuleId: string,
  ruleName: string,
  members: Partial<Omit<DirectiveRule, 'drRuleId' | 'ruleName'>>,
): DirectiveRule => ({
  drRuleId,
  ruleName,
  ruleCondition: [],
  ruleAction: '',
  ruleReason: '',
  ruleTarget: null,
  rulePriority: 0,
  ruleObsPattern: null,
  rulePromptSuffix: null,
  ...members,
});
