import { effectOf } from '../rules/effect.js';
import type { DirectiveRule, DirectiveRuleSet } from '../rules/ruleset.js';
import { coreRules } from './core-rules.js';

export type ListedRule = {
  readonly brRuleId: string;
  readonly ruleDescription: string;
  readonly affectedActions: readonly string[];
};

/** What a rule says of itself, else what its action says of it; `*` is every action. */
const affected = (rule: DirectiveRule): readonly string[] => {
  if (rule.ruleActionTypes !== undefined) return rule.ruleActionTypes;
  const effect = effectOf(rule);
  return effect.kind === 'direct' || effect.kind === 'forbid' ? [effect.type] : [];
};

/** Every rule that the bridge knows (contract 4.3): the world's own first, then those of the given sets as `<rulesetId>/<drRuleId>`. */
export const listBridgeRules = (rulesets: readonly DirectiveRuleSet[]): readonly ListedRule[] => [
  ...coreRules.map(({ brRuleId, ruleDescription, affectedActions }) => ({
    brRuleId,
    ruleDescription,
    affectedActions,
  })),
  ...rulesets.flatMap(({ rulesetId, rulesetRules }) =>
    rulesetRules.map((rule) => ({
      brRuleId: `${rulesetId}/${rule.drRuleId}`,
      ruleDescription: rule.ruleDescription ?? (rule.ruleReason || rule.ruleName),
      affectedActions: affected(rule),
    })),
  ),
];
