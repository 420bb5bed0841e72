import { isAlwaysThere } from './actions/payload-reads.js';
import { strictEffectOf } from './action-words.js';
import { absenceWarning } from './absence.js';
import type { Alternative } from './conditions/alternatives.js';
import type { Path } from './conditions/path.js';
import { isProblem } from './conditions/problem.js';
import { type Condition, isCel, readCondition } from './conditions/read-condition.js';
import type { DirectiveRule, RuleCondition, RulesetContent } from './ruleset.js';
import type { RuleWarning } from './rule-warning.js';

/** Whether a model decides if anything is there. The type of an action always is. */
const isOfModel = ({ root, names, letter }: Path): boolean =>
  letter === undefined &&
  names.length > 0 &&
  (root === 'delta' || root === 'after' || (root === 'action' && names[0] !== 'type'));

/** Whether an alternative holds while nothing is there. */
const isForNothing = (one: Alternative): boolean => {
  if (one.is === 'absent' || one.is === 'none') return true;
  if (one.is !== 'count') return false;
  const { comparison, to } = one;
  if (comparison === '=' || comparison === '<=') return to === 0 || comparison === '<=';
  if (comparison === '<') return to > 0;
  return comparison === '!=' ? to !== 0 : comparison === '>=' && to === 0;
};

/** Whether an alternative measures a value, so that a missing one looks like one that passes. */
const isMeasure = (one: Alternative): boolean => {
  if (one.is === 'all') return true;
  return one.is === 'any' ? one.of.some(isMeasure) : ['other', 'number-order', 'text-order', 'range'].includes(one.is);
};

type Read = { readonly pair: RuleCondition; readonly name: string; readonly condition: Condition | null };
type Forbidding = {
  readonly rule: DirectiveRule;
  readonly types: readonly string[];
  readonly target: string | null;
  readonly conditions: readonly Read[];
  /** The texts of its conditions. */
  readonly pairs: ReadonlySet<string>;
};

const readOne = (pair: RuleCondition): Read => {
  const read = readCondition(pair);
  return { pair, name: JSON.stringify(pair), condition: isProblem(read) || isCel(read) ? null : read };
};

/** The rules that forbid, with what they forbid. */
const forbiddingIn = (rules: readonly DirectiveRule[]): readonly Forbidding[] =>
  rules.flatMap((rule) => {
    const effect = strictEffectOf(rule);
    if (effect.kind !== 'forbid') return [];
    const conditions = rule.ruleCondition.map(readOne);
    const pairs = new Set(conditions.map(({ name }) => name));
    return [{ rule, types: effect.types, target: effect.target ?? null, conditions, pairs }];
  });

/** Whether a model can make a condition fail by leaving something out. */
const isOpen = ({ path, alternatives }: Condition): boolean =>
  isOfModel(path) && alternatives.some(isMeasure) && !alternatives.some(isForNothing);

const isSamePath = (one: Path, other: Path): boolean =>
  one.root === other.root &&
  one.letter === other.letter &&
  one.names.length === other.names.length &&
  one.names.every((name, at) => name === other.names[at]);

/** Whether a rule forbids the same as another one while a member is missing. */
const covers = (one: Forbidding, other: Forbidding, path: Path): boolean =>
  one.rule !== other.rule &&
  (one.rule.ruleObsPattern ?? '') === '' &&
  (one.target === null || one.target === other.target) &&
  other.types.every((type) => one.types.includes('*') || one.types.includes(type)) &&
  one.conditions.every(({ name, condition }) => {
    if (condition === null) return false;
    // A condition that both rules have holds as well, unless it is about the missing member.
    return isSamePath(condition.path, path) ? condition.alternatives.some(isForNothing) : other.pairs.has(name);
  });

const OPPOSITE = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' } as const;

/** The condition that an ALLOW needs in place of a FORBID with this one; null if it has no simple form. */
const oppositeOf = ([key, value]: RuleCondition): string | null => {
  const [, order = '', operand = ''] = /^(<=|>=|<|>)\s*([^|\s]+)$/.exec(value.trim()) ?? [];
  if (order === '') return null;
  return JSON.stringify([key, `all(${OPPOSITE[order as keyof typeof OPPOSITE]}${operand})`]);
};

/** How many conditions are compared with other rules; those beyond have no warning. */
const COMPARED = 64;

/** A warning about each rule that forbids nothing if a model leaves out what the rule measures, and no other rule forbids it then. */
export const leftOutWarnings = (set: Pick<RulesetContent, 'rulesetRules' | 'actions'>): readonly RuleWarning[] => {
  const forbidding = forbiddingIn(set.rulesetRules);
  let compared = 0;
  return forbidding.flatMap((one) =>
    one.conditions.flatMap(({ pair, condition }): readonly RuleWarning[] => {
      if (condition === null || !isOpen(condition) || absenceWarning(pair) !== null) return [];
      if (isAlwaysThere(one.rule, set, pair)) return [];
      compared += 1;
      if (compared > COMPARED || forbidding.some((other) => covers(other, one, condition.path))) return [];
      const [key, value] = pair;
      const types = one.types.join(', ');
      const opposite = oppositeOf(pair);
      const floor = `an ALLOW ${types} ${opposite === null ? 'with the opposite condition' : `with ${opposite}`} above a FORBID ${types} without conditions`;
      return [
        {
          drRuleId: one.rule.drRuleId,
          message: `A model may leave out ${key}, and then the rule forbids nothing. If it should forbid then too, write !|${value.trim()}; or let ${floor} decide.`,
        },
      ];
    }),
  );
};
