import { type DirectiveRule, effectOf, onlyDescribes } from './ruleset.js';

/** A rule that looks as if it decides something but does not. */
export type RuleWarning = { readonly drRuleId: string; readonly message: string };

const actionWarning = (rule: DirectiveRule): string | null => {
  const effect = effectOf(rule);
  if (effect.kind === 'say') {
    if (/^forbid(?:s|den|ding)?(?![a-z])/i.test(effect.sentence)) {
      return 'ruleAction looks like a FORBID, but does not consist of FORBID and a list of action types, as in "FORBID ATTACK, MOVE". It forbids nothing and is only shown to the model.';
    }
    if (/^[a-z][a-z0-9_-]*$/i.test(effect.sentence)) {
      return `ruleAction is not an action type; action types are in upper case (${effect.sentence.toUpperCase().replaceAll('-', '_')}). It directs nothing and is only shown to the model.`;
    }
  }
  if ((rule.ruleTarget ?? '') !== '' && effect.kind !== 'direct') {
    return 'ruleTarget is used only when ruleAction is an action type, so it has no effect here.';
  }
  return null;
};

const neverUsed = (rule: DirectiveRule): string | null => {
  if (onlyDescribes(rule)) {
    return (rule.rulePromptSuffix ?? '') === ''
      ? null
      : 'A rule without ruleCondition, ruleObsPattern and ruleAction is only a description, so its rulePromptSuffix is never used.';
  }
  return rule.ruleAction.trim() === '' && (rule.rulePromptSuffix ?? '') === ''
    ? 'The rule can match, but has neither a ruleAction nor a rulePromptSuffix, so a match has no effect.'
    : null;
};

const conditionWarning = ([key, value]: readonly [string, string]): string | null => {
  if (key.startsWith('npcState.')) {
    return `The key ${JSON.stringify(key)} is already looked up in npcState; leave out "npcState.".`;
  }
  const misread = /^(?:=|~|!(?!=))/.test(value.trim()) && value.trim().length > 1;
  return misread
    ? `The value ${JSON.stringify(value)} is compared as exact text; the operators are <, <=, >, >= and !=.`
    : null;
};

const warningsOfRule = (rule: DirectiveRule): readonly string[] =>
  [actionWarning(rule), neverUsed(rule), ...rule.ruleCondition.map(conditionWarning)].filter(
    (message) => message !== null,
  );

/** A warning about the ruleset itself, which no rule id names. */
const EMPTY: RuleWarning = {
  drRuleId: '',
  message: 'The ruleset has no rules, so it has no effect. Rules belong in rulesetRules.',
};

/** Every rule that looks as if it decides something but does not. */
export const warningsOf = (rules: readonly DirectiveRule[]): readonly RuleWarning[] =>
  rules.length === 0
    ? [EMPTY]
    : rules.flatMap((rule) => warningsOfRule(rule).map((message) => ({ drRuleId: rule.drRuleId, message })));
