import { strictEffectOf } from './action-words.js';
import type { Alternative } from './conditions/alternatives.js';
import type { NeededMember } from './conditions/cel/needed.js';
import type { Path } from './conditions/path.js';
import { isProblem } from './conditions/problem.js';
import { type Condition, isCel, readCondition } from './conditions/read-condition.js';
import type { DirectiveRule, RuleCondition } from './ruleset.js';

/** A condition as it is read; a condition in CEL has only the members without which it is false. */
export type Read = {
  readonly pair: RuleCondition;
  readonly name: string;
  readonly condition: Condition | null;
  readonly needed: readonly NeededMember[];
};

/** A rule with an opinion on actions. */
export type Deciding = {
  readonly rule: DirectiveRule;
  readonly kind: 'forbid' | 'allow' | 'require';
  readonly types: ReadonlySet<string>;
  readonly target: string | null;
  readonly conditions: readonly Read[];
  /** The texts of its conditions. */
  readonly pairs: ReadonlySet<string>;
};

const readOne = (pair: RuleCondition): Read => {
  const read = readCondition(pair);
  const name = JSON.stringify(pair);
  if (isProblem(read)) return { pair, name, condition: null, needed: [] };
  return isCel(read)
    ? { pair, name, condition: null, needed: read.cel.needed }
    : { pair, name, condition: read, needed: [] };
};

/** The rules of a set that have an opinion on actions, in the order in which they decide. */
export const decidingIn = (rules: readonly DirectiveRule[]): readonly Deciding[] =>
  rules
    .toSorted((one, other) => other.rulePriority - one.rulePriority)
    .flatMap((rule) => {
      const effect = strictEffectOf(rule);
      if (effect.kind !== 'forbid' && effect.kind !== 'allow' && effect.kind !== 'require') return [];
      const conditions = rule.ruleCondition.map(readOne);
      const pairs = new Set(conditions.map(({ name }) => name));
      const { kind, target = null } = effect;
      return [{ rule, kind, types: new Set(effect.types), target, conditions, pairs }];
    });

/** Whether an alternative holds while nothing is there. */
export const isForNothing = (one: Alternative): boolean => {
  if (one.is === 'absent' || one.is === 'none') return true;
  if (one.is !== 'count') return false;
  const { comparison, to } = one;
  if (comparison === '=' || comparison === '<=') return to === 0 || comparison === '<=';
  if (comparison === '<') return to > 0;
  return comparison === '!=' ? to !== 0 : comparison === '>=' && to === 0;
};

const isSamePath = (one: Path, other: Path): boolean =>
  one.root === other.root &&
  one.letter === other.letter &&
  one.names.length === other.names.length &&
  one.names.every((name, at) => name === other.names[at]);

const EVERY = '*';

/** Whether a rule forbids the same as another one while a member is missing. */
const forbidsToo = (one: Deciding, other: Deciding, path: Path): boolean =>
  one !== other &&
  one.kind === 'forbid' &&
  (one.rule.ruleObsPattern ?? '') === '' &&
  (one.target === null || one.target === other.target) &&
  [...other.types].every((type) => one.types.has(EVERY) || one.types.has(type)) &&
  one.conditions.every(({ name, condition }) => {
    // A condition that both rules have holds as well, unless it is about the missing member.
    if (condition === null || !isSamePath(condition.path, path)) return condition !== null && other.pairs.has(name);
    return condition.alternatives.some(isForNothing);
  });

/** Whether a rule may lift those below it for an action of another rule while a member is missing. */
const mayLift = (one: Deciding, other: Deciding, path: Path): boolean =>
  one.kind !== 'forbid' &&
  (one.target === null || other.target === null || one.target === other.target) &&
  (one.types.has(EVERY) || other.types.has(EVERY) || [...other.types].some((type) => one.types.has(type))) &&
  one.conditions.every(
    ({ condition }) =>
      condition === null || !isSamePath(condition.path, path) || condition.alternatives.some(isForNothing),
  );

/**
 * Whether another rule always forbids the same while a member is missing. One below a rule that may allow the action then does not.
 * @param deciding all rules, in the order in which they decide
 */
export const isCovered = (deciding: readonly Deciding[], one: Deciding, path: Path): boolean => {
  let isBelow = false;
  for (const other of deciding) {
    if (other === one) isBelow = true;
    else if (forbidsToo(other, one, path)) return true;
    else if (isBelow && mayLift(other, one, path)) return false;
  }
  return false;
};
