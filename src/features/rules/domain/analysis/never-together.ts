import { shownText } from '../conditions/problem.js';
import type { Sliced } from '../../../../kernel/base/sliced.js';
import { namesOf, type StateRule } from '../state-rules/state-rule.js';
import type { RuleFinding } from './findings.js';
import type { JudgedCondition, JudgedRule } from './judged-rules.js';
import { canBe, type Judging } from './judging.js';

/** How many conditions of a path are tried in pairs, to name the two that matter. */
const TRIED_IN_PAIRS = 16;
/** How many conditions a message shows. */
const SHOWN = 4;

/** The conditions that cannot be met together: two of them, if there are two. */
function* culprits(
  judging: Judging,
  conditions: readonly JudgedCondition[],
  isSingle: boolean,
): Sliced<readonly JudgedCondition[]> {
  const tried = conditions.slice(0, TRIED_IN_PAIRS);
  for (const one of tried) if ((yield* canBe(judging, [one], 'yes', isSingle)) === 'no') return [one];
  for (const [at, one] of tried.entries())
    for (const other of tried.slice(at + 1))
      if ((yield* canBe(judging, [one, other], 'yes', isSingle)) === 'no') return [one, other];
  return conditions;
}

const shown = (conditions: readonly JudgedCondition[]): string => {
  const texts = conditions.slice(0, SHOWN).map(({ value }) => shownText(value));
  if (conditions.length > SHOWN) texts.push('the other conditions');
  return texts.length < 2
    ? texts.join('')
    : `both ${texts.join(' and ')}`.replace(/^both (?=.* and .* and )/, 'all of ');
};

const isOrder = ({ alternatives }: JudgedCondition): boolean =>
  alternatives.some(({ is }) => is === 'number-order' || is === 'range' || is === 'text-order');
const hasBrackets = ({ alternatives }: JudgedCondition): boolean => alternatives.some((one) => 'of' in one);

const SCALARS: readonly string[] = ['number', 'integer', 'string', 'boolean'];

/** Whether a state rule declares a member as a single value. */
const isDeclaredSingle = ({ path }: JudgedCondition, stateRules: readonly StateRule[]): boolean =>
  path.root === 'state' &&
  path.letter === undefined &&
  stateRules.some((rule) => {
    const { type, min, max, step, values } = rule;
    const isSingle =
      (type !== undefined && SCALARS.includes(type)) || [min, max, step, values].some((one) => one !== undefined);
    const names = namesOf(rule);
    return isSingle && names.length === path.names.length && names.every((name, at) => name === path.names[at]);
  });

/** The same orders as alternatives: `<5` and `>10` were probably meant as `<5|>10`. */
const meantBy = (conditions: readonly JudgedCondition[]): { readonly meant?: string } => {
  const [first] = conditions;
  if (first === undefined || conditions.length < 2 || conditions.some((one) => one.alternatives.length > 1)) return {};
  return { meant: JSON.stringify([first.key, conditions.map(({ value }) => value.trim()).join('|')]) };
};

/** A finding about conditions of a rule on one path that cannot be met together; null if they can. */
export function* neverTogether(
  judging: Judging,
  { rule, effect, groups }: JudgedRule,
  stateRules: readonly StateRule[],
): Sliced<RuleFinding | null> {
  const drRuleIds = [rule.drRuleId];
  const forbids = effect.kind === 'forbid';
  for (const conditions of groups.values()) {
    const [first] = conditions;
    // A rule that forbids may match by an element that a letter does not even reach.
    if (first === undefined || (forbids && first.path.letter !== undefined)) continue;
    if ((yield* canBe(judging, conditions, 'yes')) === 'no') {
      const wrong = yield* culprits(judging, conditions, false);
      const isCertain = !forbids || (yield* canBe(judging, conditions, 'not no')) === 'no';
      const consequence = isCertain
        ? 'the rule can never match.'
        : 'the rule forbids only if one of its conditions cannot be decided.';
      const message = `Nothing at ${first.key} satisfies ${shown(wrong)}, so ${consequence}`;
      return { kind: 'never_matches', drRuleIds, message, ...meantBy(wrong) };
    }
    const isDeclared = isDeclaredSingle(first, stateRules);
    if (conditions.some(hasBrackets) || !(isDeclared || conditions.some(isOrder))) continue;
    if ((yield* canBe(judging, conditions, 'yes', true)) !== 'no') continue;
    const wrong = yield* culprits(judging, conditions, true);
    const or = forbids ? ', or if one of its conditions cannot be decided' : '';
    const declared = isDeclared ? ' A state rule declares it as a single value.' : '';
    const message = `No single value at ${first.key} satisfies ${shown(wrong)}, so the rule ${forbids ? 'forbids' : 'matches'} only if it is a list${or}.${declared}`;
    return { kind: 'needs_list', drRuleIds, message, ...meantBy(wrong) };
  }
  return null;
}
