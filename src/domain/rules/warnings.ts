import { effectOf, onlyDescribes } from './effect.js';
import type { DirectiveRule } from './ruleset.js';

/** What was registered and will decide nothing though it looks as if it should (contract 5.1). */
export type RuleWarning = { readonly drRuleId: string; readonly message: string };

const actionWarning = (rule: DirectiveRule): string | null => {
  const effect = effectOf(rule);
  if (effect.kind === 'say') {
    if (/^forbid(?![a-z])/i.test(effect.sentence)) {
      return 'ruleAction begins with FORBID, but what follows is no list of action types such as "FORBID ATTACK, MOVE"; it forbids nothing and is only shown to the model.';
    }
    if (/^[a-z][a-z0-9_-]*$/i.test(effect.sentence)) {
      return `ruleAction is no action type, which is written in upper case (${effect.sentence.toUpperCase().replaceAll('-', '_')}); it directs nothing and is only shown to the model.`;
    }
  }
  if ((rule.ruleTarget ?? '') !== '' && effect.kind !== 'direct') {
    return 'ruleTarget is only used with a ruleAction that is an action type; here it decides nothing.';
  }
  return null;
};

const neverUsed = (rule: DirectiveRule): string | null => {
  if (onlyDescribes(rule)) {
    return (rule.rulePromptSuffix ?? '') === ''
      ? null
      : 'A rule without ruleCondition, ruleObsPattern and ruleAction only describes; its rulePromptSuffix is never used.';
  }
  return rule.ruleAction.trim() === '' && (rule.rulePromptSuffix ?? '') === ''
    ? 'The rule can match, but has neither a ruleAction nor a rulePromptSuffix, so a match decides nothing.'
    : null;
};

const conditionWarning = ([key, value]: readonly [string, string]): string | null => {
  if (key.startsWith('npcState.')) {
    return `The key ${JSON.stringify(key)} is looked for inside npcState already; leave "npcState." out.`;
  }
  const misread = /^(?:=|~|!(?!=))/.test(value.trim()) && value.trim().length > 1;
  return misread
    ? `The value ${JSON.stringify(value)} is taken as exact text; the operators are <, <=, >, >= and !=.`
    : null;
};

const warningsOfRule = (rule: DirectiveRule): readonly string[] =>
  [actionWarning(rule), neverUsed(rule), ...rule.ruleCondition.map(conditionWarning)].filter(
    (message) => message !== null,
  );

/** Everything of the rules that looks as if it decided something and does not. */
export const warningsOf = (rules: readonly DirectiveRule[]): readonly RuleWarning[] =>
  rules.flatMap((rule) => warningsOfRule(rule).map((message) => ({ drRuleId: rule.drRuleId, message })));
