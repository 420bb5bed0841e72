import { type DirectiveRule, type DirectiveRuleSet, effectOf } from '../ruleset.js';
import { coreRules } from './core-rules.js';

export type ListedRule = {
  readonly brRuleId: string;
  readonly ruleDescription: string;
  readonly affectedActions: readonly string[];
};

/** What a rule says about itself, else what its action says about it; `*` is every action. */
const affected = (rule: DirectiveRule): readonly string[] => {
  if (rule.ruleActionTypes !== undefined) return rule.ruleActionTypes;
  const effect = effectOf(rule);
  if (effect.kind === 'forbid') return effect.types;
  return effect.kind === 'direct' ? [effect.type] : [];
};

/** The rules of the given sets as the bridge lists them, as `<rulesetId>/<drRuleId>`. */
export const bridgeRulesOf = (rulesets: readonly DirectiveRuleSet[]): readonly ListedRule[] =>
  rulesets.flatMap(({ rulesetId, rulesetRules }) =>
    rulesetRules.map((rule) => ({
      brRuleId: `${rulesetId}/${rule.drRuleId}`,
      ruleDescription: rule.ruleDescription ?? (rule.ruleReason || rule.ruleName),
      affectedActions: affected(rule),
    })),
  );

/** The list's beginning: the world's own rules, then those of the given sets. */
export const listBridgeRules = (rulesets: readonly DirectiveRuleSet[]): readonly ListedRule[] => [
  ...coreRules.map(({ brRuleId, ruleDescription, affectedActions }) => ({
    brRuleId,
    ruleDescription,
    affectedActions,
  })),
  ...bridgeRulesOf(rulesets),
];
