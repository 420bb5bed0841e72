import { shownText } from '../conditions/problem.js';
import type { Sliced } from '../../../../kernel/base/sliced.js';
import { grammarOf, type RulesetContent } from '../ruleset.js';
import type { RuleFinding, RuleFindings, UnjudgedRule } from './findings.js';
import { isJudged, type JudgedRule, judgedRules } from './judged-rules.js';
import { canMeet, isSpent, type Judging, matchesWith, newJudging, spend } from './judging.js';
import { neverTogether } from './never-together.js';
import {
  decidesBefore,
  forbiddenOf,
  hasOpinion,
  requireOpposites,
  shownTypes,
  type WithOpinion,
  workOfTypes,
} from './opinions.js';

/** How many findings a report lists. */
const MOST_FINDINGS = 100;

const idsOf = (...rules: readonly JudgedRule[]): readonly string[] => rules.map(({ rule }) => rule.drRuleId);
const nameOf = ({ rule }: JudgedRule): string => shownText(rule.drRuleId);
const WORDS = { forbid: 'forbids', allow: 'allows', require: 'requires' } as const;
const said = ({ effect }: WithOpinion): string => {
  const { target = null } = effect;
  return `${WORDS[effect.kind]} ${shownTypes(effect.types)}${target === null ? '' : ` at ${shownText(target)}`}`;
};

const shadowed = (low: WithOpinion, high: WithOpinion): RuleFinding => {
  const lifts = low.effect.kind === 'allow' && high.effect.kind === 'forbid';
  const remedy = lifts
    ? ` An ALLOW lifts only lower rules, so its rulePriority must be above ${high.rule.rulePriority}.`
    : '';
  return {
    kind: 'shadowed',
    drRuleIds: idsOf(low, high),
    message: `Whenever the rule matches, ${nameOf(high)} also matches, comes before it and ${said(high)}, so the rule never decides about an action that a model writes.${remedy}`,
  };
};

const forbidden = (low: WithOpinion, high: WithOpinion, types: readonly string[]): RuleFinding => ({
  kind: 'contradicts',
  drRuleIds: idsOf(low, high),
  message: `The rule ${said(low)}, but whenever it matches, ${nameOf(high)} also matches, comes before it and forbids ${shownTypes(types)}.`,
});

const atOnce = (low: WithOpinion, high: WithOpinion): RuleFinding => ({
  kind: 'contradicts',
  drRuleIds: idsOf(low, high),
  message: `The rule ${said(low)}, and ${nameOf(high)} ${said(high)}. Both can match at the same time with the same rulePriority, and then ${nameOf(high)} decides, because it comes first.`,
});

/** What is wrong with a rule because of one above it; null if nothing is certain. */
function* below(judging: Judging, low: WithOpinion, high: WithOpinion): Sliced<RuleFinding | null> {
  const isBefore = decidesBefore(high, low);
  const types = forbiddenOf(high, low);
  const isOpposite =
    low.rule.rulePriority === high.rule.rulePriority &&
    (requireOpposites(high, low) || (low.effect.kind === 'require' && types.length === low.effect.types.length));
  if (isOpposite && isJudged(low.rule) && (yield* canMeet(judging, high, low))) return atOnce(low, high);
  if (!isBefore && types.length === 0) return null;
  if (!(yield* matchesWith(judging, high, low))) return null;
  return isBefore ? shadowed(low, high) : forbidden(low, high, types);
}

const CEL_REASON = 'It has a condition in CEL.';
const OLD_REASON = 'The set has grammar 1.';
const LARGE_REASON = 'The set is too large to judge all its rules.';

/**
 * Judges the rules of a set of grammar 2 without playing them, in slices: rules that never match, that never decide, or that want opposites. Only what
 * is certain is found.
 * @param numbers paths that always lead to one number, or to nothing
 */
export function* judgeRules(
  set: Pick<RulesetContent, 'rulesetRules' | 'grammar' | 'ruleState'>,
  numbers: ReadonlySet<string> = new Set(),
): Sliced<RuleFindings> {
  const { rulesetRules, ruleState = [] } = set;
  if (grammarOf(set) === 1)
    return {
      findings: [],
      judged: 0,
      notJudged: rulesetRules.map(({ drRuleId }) => ({ drRuleId, reason: OLD_REASON })),
    };
  const judging = newJudging();
  const all = (yield* judgedRules(rulesetRules, numbers)).toSorted(
    (left, right) => right.rule.rulePriority - left.rule.rulePriority,
  );
  const findings: RuleFinding[] = [];
  const reasons = new Map<JudgedRule, string>();
  const above: WithOpinion[] = [];
  for (const low of all) {
    if (!isJudged(low.rule)) reasons.set(low, CEL_REASON);
    let found = isSpent(judging) ? null : yield* neverTogether(judging, low, ruleState);
    const neverMatches = found?.kind === 'never_matches';
    if (hasOpinion(low)) {
      for (const high of above) {
        if (found !== null || isSpent(judging)) break;
        yield* spend(judging, Math.max(workOfTypes(low), workOfTypes(high)));
        found = yield* below(judging, low, high);
      }
      // A rule with a condition that is not judged may match less often than it seems.
      if (!neverMatches && isJudged(low.rule)) above.push(low);
    }
    if (isSpent(judging) && !reasons.has(low)) reasons.set(low, LARGE_REASON);
    else if (found !== null) findings.push(found);
  }
  const notJudged = all.flatMap((one): readonly UnjudgedRule[] => {
    const reason = reasons.get(one);
    return reason === undefined ? [] : [{ drRuleId: one.rule.drRuleId, reason }];
  });
  return {
    findings: findings.slice(0, MOST_FINDINGS),
    ...(findings.length > MOST_FINDINGS ? { findingsLeftOut: findings.length - MOST_FINDINGS } : {}),
    judged: all.length - notJudged.length,
    notJudged,
  };
}
