import { strictEffectOf } from './action-words.js';
import type { Alternative } from './conditions/alternatives.js';
import type { CelExpression } from './conditions/cel/read-cel.js';
import { pathOf } from './conditions/cel/reads.js';
import type { MissingMember } from './conditions/cel/without-members.js';
import type { Path } from './conditions/path.js';
import { isProblem } from './conditions/problem.js';
import { type Condition, isCel, readCondition } from './conditions/read-condition.js';
import type { DirectiveRule, RuleCondition } from './ruleset.js';

/** A condition as it is read: a path with its alternatives, or an expression in CEL. Neither if it cannot be read. */
export type Read = {
  readonly pair: RuleCondition;
  readonly name: string;
  readonly condition: Condition | null;
  readonly cel: CelExpression | null;
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
  if (isProblem(read)) return { pair, name, condition: null, cel: null };
  return isCel(read) ? { pair, name, condition: null, cel: read.cel } : { pair, name, condition: read, cel: null };
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

/** What a model leaves out or makes null. */
export type Missing = { readonly path: Path; readonly while: MissingMember['while'] };

/** Whether one of two paths leads through the end of the other. */
const isOnWay = (one: Path, other: Path): boolean =>
  one.root === other.root && one.names.every((name, at) => at >= other.names.length || name === other.names[at]);

/** Whether a condition may be about a missing member. */
const isAbout = ({ condition, cel }: Read, { path }: Missing): boolean =>
  condition !== null
    ? isSamePath(condition.path, path)
    : cel === null || cel.reads.some((read) => isOnWay(pathOf(read), path));

/** Whether a condition about a missing member holds. */
const holdsWithout = ({ condition, cel }: Read, missing: Missing): boolean =>
  condition !== null
    ? condition.alternatives.some(isForNothing)
    : cel?.without.true.some((one) => one.while === missing.while && isSamePath(pathOf(one), missing.path)) === true;

/** Whether a rule forbids an action of another one while a member is missing. */
const forbidsToo = (one: Deciding, other: Deciding, type: string, missing: Missing): boolean =>
  one !== other &&
  one.kind === 'forbid' &&
  (one.rule.ruleObsPattern ?? '') === '' &&
  (one.target === null || one.target === other.target) &&
  (one.types.has(EVERY) || one.types.has(type)) &&
  one.conditions.every((read) =>
    // A condition that both rules have holds as well, unless it is about the missing member.
    isAbout(read, missing) ? holdsWithout(read, missing) : other.pairs.has(read.name),
  );

/** Whether a rule may lift those below it for an action of another rule while a member is missing. */
const mayLift = (one: Deciding, other: Deciding, type: string, missing: Missing): boolean =>
  one.kind !== 'forbid' &&
  (one.target === null || other.target === null || one.target === other.target) &&
  (one.types.has(EVERY) || type === EVERY || one.types.has(type)) &&
  one.conditions.every((read) => read.condition === null || !isAbout(read, missing) || holdsWithout(read, missing));

const isTypeCovered = (deciding: readonly Deciding[], one: Deciding, type: string, missing: Missing): boolean => {
  let isBelow = false;
  for (const other of deciding) {
    if (other === one) isBelow = true;
    else if (forbidsToo(other, one, type, missing)) return true;
    else if (isBelow && mayLift(other, one, type, missing)) return false;
  }
  return false;
};

/**
 * Whether other rules always forbid the same while a member is missing. One below a rule that may allow the action then does not.
 * @param deciding all rules, in the order in which they decide
 * @param types the actions that the rule is about
 */
export const isCovered = (
  deciding: readonly Deciding[],
  one: Deciding,
  types: readonly string[],
  missing: Missing,
): boolean => types.every((type) => isTypeCovered(deciding, one, type, missing));
