import { effectIn } from '../action-words.js';
import { type DirectiveRule, type DirectiveRuleSet, type Grammar, grammarOf } from '../ruleset.js';
import { coreRules } from './core-rules.js';

export type ListedRule = {
  readonly brRuleId: string;
  readonly ruleDescription: string;
  readonly affectedActions: readonly string[];
};

/** The rule's own list, otherwise the types in its action; `*` is every action. */
const affected = (rule: DirectiveRule, grammar: Grammar): readonly string[] => {
  if (rule.ruleActionTypes !== undefined) return rule.ruleActionTypes;
  const effect = effectIn(grammar, rule);
  if ('types' in effect) return effect.types;
  return effect.kind === 'direct' ? [effect.type] : [];
};

/** The rules of the given rulesets as the bridge lists them, as `<rulesetId>/<drRuleId>`. */
export const bridgeRulesOf = (rulesets: readonly DirectiveRuleSet[]): readonly ListedRule[] =>
  rulesets.flatMap((set) =>
    set.rulesetRules.map((rule) => ({
      brRuleId: `${set.rulesetId}/${rule.drRuleId}`,
      ruleDescription: rule.ruleDescription ?? (rule.ruleReason || rule.ruleName),
      affectedActions: affected(rule, grammarOf(set)),
    })),
  );

/** The beginning of the list: the world's own rules, then those of the given rulesets. */
export const listBridgeRules = (rulesets: readonly DirectiveRuleSet[]): readonly ListedRule[] => [
  ...coreRules.map(({ brRuleId, ruleDescription, affectedActions }) => ({
    brRuleId,
    ruleDescription,
    affectedActions,
  })),
  ...bridgeRulesOf(rulesets),
];
