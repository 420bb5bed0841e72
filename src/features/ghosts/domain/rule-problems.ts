import type { RuleFinding } from '../../rules/domain/analysis/findings.js';
import { judgeRules } from '../../rules/domain/analysis/judge-rules.js';
import { countTests } from '../../rules/domain/condition.js';
import {
  type DirectEffect,
  type DirectiveRule,
  type DirectiveRuleSet,
  effectOf,
  grammarOf,
  losesTo,
  onlyDescribes,
  type RuleEffect,
} from '../../rules/domain/ruleset.js';
import { implies, type Meant, meantBy } from '../../rules/domain/implies.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { shortId } from './world.js';
import { type NumberKeys, whyNever } from './never-matches.js';

/** A certain problem of a ruleset, independent of any play; `subject` names rules as `<rulesetId>/<drRuleId>`. */
export type RuleProblem = {
  readonly kind: 'rule_never_fired' | 'rule_shadowed' | 'rules_contradict';
  readonly subject: string;
  readonly detail: string;
};

/** How many rules of a ruleset are compared with each other, starting with the first. */
const COMPARED_RULES = 400;
/** With more conditions than this in a ruleset, alternatives included, they are compared only by their text: a ruleset is judged without yielding. */
const MEANT_CONDITIONS = 128;

/** The number of looks, at conditions and from one rule at another, between two yields: some milliseconds. */
const SLICE_LOOKS = 2_048;

type Ranked = {
  readonly rule: DirectiveRule;
  readonly effect: RuleEffect;
  readonly conditions: readonly Meant[];
  readonly byMeaning: boolean;
  readonly numbers: NumberKeys;
};
type Directing = Ranked & { readonly effect: DirectEffect };
type Forbidding = Ranked & { readonly effect: Extract<RuleEffect, { kind: 'forbid' }> };

export const ruleSubject = (rulesetId: string, { drRuleId }: Pick<DirectiveRule, 'drRuleId'>): string =>
  `${shortId(rulesetId)}/${shortId(drRuleId)}`;

const patternOf = ({ rule }: Ranked): string => rule.ruleObsPattern ?? '';

const follows = (wanted: Meant, given: Meant, { byMeaning, numbers }: Ranked): boolean =>
  byMeaning ? implies(given, wanted, numbers.has(given.key)) : given.key === wanted.key && given.value === wanted.value;

/** Whether one rule matches whenever the other does: each of its conditions follows from a condition of the other. */
const matchesWith = (one: Ranked, other: Ranked): boolean =>
  ['', patternOf(other)].includes(patternOf(one)) &&
  one.conditions.every((wanted) => other.conditions.some((given) => follows(wanted, given, one)));

const directs = (ranked: Ranked): ranked is Directing => ranked.effect.kind === 'direct';
const forbids = (ranked: Ranked): ranked is Forbidding => ranked.effect.kind === 'forbid';

const said = ({ effect: { type, target } }: Directing): string =>
  target === null ? type : `${type} at ${shortId(target)}`;

/** The effect on a directing rule of one that ranks above it. */
const below = (
  subject: (...rules: readonly Ranked[]) => string,
  low: Directing,
  high: Directing,
): RuleProblem | null => {
  if (!matchesWith(high, low) || !losesTo(low.effect, high.effect)) return null;
  const alike = matchesWith(low, high) && low.rule.rulePriority === high.rule.rulePriority;
  return alike
    ? {
        kind: 'rules_contradict',
        subject: subject(high, low),
        detail: `Both rules match at the same time with equal priority, but one directs ${said(high)} and the other ${said(low)}.`,
      }
    : {
        kind: 'rule_shadowed',
        subject: subject(low),
        detail: `Whenever this rule matches, ${subject(high)} also matches, takes precedence and directs ${said(high)} instead of ${said(low)}.`,
      };
};

const against = (
  subject: (...rules: readonly Ranked[]) => string,
  one: Directing,
  other: Forbidding,
): RuleProblem | null => {
  const forbidden = other.effect.types.includes('*') || other.effect.types.includes(one.effect.type);
  if (!forbidden || !matchesWith(other, one)) return null;
  return {
    kind: 'rules_contradict',
    subject: subject(one, other),
    detail: `The first rule directs ${said(one)}, but whenever it matches, the second rule forbids that.`,
  };
};

const testsOf = ({ ruleCondition }: DirectiveRule): number =>
  ruleCondition.reduce((all, [, value]) => all + countTests(value), 0);

/** The first problem that a rule has with any of some others. */
const firstProblem = <Other>(others: readonly Other[], judge: (other: Other) => RuleProblem | null): RuleProblem[] => {
  for (const other of others) {
    const problem = judge(other);
    if (problem !== null) return [problem];
  }
  return [];
};

const STRICT_KINDS: Readonly<Record<RuleFinding['kind'], RuleProblem['kind'] | null>> = {
  never_matches: 'rule_never_fired',
  shadowed: 'rule_shadowed',
  contradicts: 'rules_contradict',
  // A world may have a list there.
  needs_list: null,
};

/** The problems of a set of grammar 2, which are those that a check of the set finds. */
function* strictProblems(set: DirectiveRuleSet, numbers: NumberKeys): Sliced<readonly RuleProblem[]> {
  const { findings } = yield* judgeRules(set, numbers);
  return findings.flatMap(({ kind: found, drRuleIds, message }): readonly RuleProblem[] => {
    const kind = STRICT_KINDS[found];
    const named = kind === 'rules_contradict' ? drRuleIds : drRuleIds.slice(0, 1);
    const subject = named.map((drRuleId) => ruleSubject(set.rulesetId, { drRuleId })).join(' + ');
    return kind === null ? [] : [{ kind, subject, detail: message }];
  });
}

/**
 * Static checks of a ruleset, in slices: rules that can never match, rules that never win because one above them always matches too, and rules that
 * demand opposites at the same time. Only certain problems are reported.
 */
export function* ruleProblems(set: DirectiveRuleSet, numbers: NumberKeys): Sliced<readonly RuleProblem[]> {
  if (grammarOf(set) === 2) return yield* strictProblems(set, numbers);
  const { rulesetId, rulesetRules } = set;
  const subject = (...rules: readonly Ranked[]): string =>
    rules.map(({ rule }) => ruleSubject(rulesetId, rule)).join(' + ');
  const compared = rulesetRules.filter((rule) => !onlyDescribes(rule)).slice(0, COMPARED_RULES);
  const byMeaning = compared.reduce((all, rule) => all + testsOf(rule), 0) <= MEANT_CONDITIONS;
  const ranked: readonly Ranked[] = compared
    .map((rule) => ({ rule, effect: effectOf(rule), conditions: rule.ruleCondition.map(meantBy), byMeaning, numbers }))
    .toSorted((left, right) => right.rule.rulePriority - left.rule.rulePriority);
  let looks = 0;
  const never: RuleProblem[] = [];
  const alive: Ranked[] = [];
  for (const one of ranked) {
    const { why, tests } = whyNever(one.rule, numbers);
    looks += tests;
    if (looks >= SLICE_LOOKS) {
      yield looks;
      looks = 0;
    }
    if (why === null) alive.push(one);
    else never.push({ kind: 'rule_never_fired', subject: subject(one), detail: `The rule can never match: ${why}` });
  }
  const directing = alive.filter(directs);
  const forbidding = alive.filter(forbids);
  const lost: RuleProblem[] = [];
  const forbidden: RuleProblem[] = [];
  for (const [rank, low] of directing.entries()) {
    lost.push(...firstProblem(directing.slice(0, rank), (high) => below(subject, low, high)));
    forbidden.push(...firstProblem(forbidding, (other) => against(subject, low, other)));
    looks += (rank + forbidding.length) * (low.conditions.length + 1);
    if (looks < SLICE_LOOKS) continue;
    yield looks;
    looks = 0;
  }
  yield looks;
  return [...never, ...lost, ...forbidden];
}
