import { type Coverage, useOf } from './rule-coverage.js';
import type { DirectiveRuleSet } from '../../rules/domain/ruleset.js';
import type { ReplayFindings, RuleCount } from './findings.js';

const untouched: Pick<RuleCount, 'fired' | 'decided' | 'shadowed' | 'errors' | 'samples'> = {
  ...{ fired: 0, decided: 0, shadowed: 0 },
  samples: {},
};

/**
 * A replay's counts for the rules of a ruleset, in any version. Rules of the ruleset that the replay did not meet have zero counts; rules that it met
 * but the ruleset no longer has come last, without a name.
 * @param ofTrial whether the ruleset is the one that decided in a trial, not one in force at the time
 */
export const replayCoverage = (
  found: Pick<ReplayFindings, 'decisions' | 'rules'>,
  { rulesetId, rulesetRules }: Pick<DirectiveRuleSet, 'rulesetId' | 'rulesetRules'>,
  ofTrial: boolean,
): Coverage => {
  const counts = new Map(
    found.rules
      .filter((count) => (ofTrial ? count.rulesetId === undefined : count.rulesetId === rulesetId))
      .map((count) => [count.drRuleId, count]),
  );
  const names = new Map(rulesetRules.map(({ drRuleId, ruleName }) => [drRuleId, ruleName]));
  const rules = [...new Set([...names.keys(), ...counts.keys()])].map((drRuleId) => {
    const { fired, decided, shadowed, errors = 0, samples } = counts.get(drRuleId) ?? untouched;
    const count = { fired, decided, shadowed };
    const ruleName = names.get(drRuleId) ?? '';
    return { drRuleId, ruleName, ...count, errors, use: useOf(count), samples: samples.fired ?? [] };
  });
  return { decisions: found.decisions, rules };
};
