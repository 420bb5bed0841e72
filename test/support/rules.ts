import type { DecisionInput } from '../../src/domain/npc/decision/input.js';
import type { DirectiveRule, DirectiveRuleSet, Template } from '../../src/domain/rules/ruleset.js';

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

/** A registered set of these rules; ids by position unless a rule has its own. */
export const aRuleset = (
  rules: readonly Partial<DirectiveRule>[],
  template: Template | null = null,
): DirectiveRuleSet => ({
  rulesetId: 'test',
  version: 1,
  template,
  rulesetRules: rules.map((rule, position) => aRule({ drRuleId: `r${position + 1}`, ...rule })),
});

export const anInput = (members: Partial<DecisionInput> = {}): DecisionInput => ({
  npcId: 'guard',
  observation: 'A stranger enters.',
  context: {},
  npcState: {},
  persona: 'A watchful guard.',
  memories: [],
  ruleset: null,
  ...members,
});
