import type { RuleEffect } from '../ruleset.js';
import type { JudgedRule } from './judged-rules.js';

/** The effects of rules that have an opinion on actions. */
export type Opinion = Extract<RuleEffect, { kind: 'require' | 'allow' | 'forbid' }>;
export type WithOpinion = JudgedRule & { readonly effect: Opinion };

export const hasOpinion = (one: JudgedRule): one is WithOpinion =>
  ['require', 'allow', 'forbid'].includes(one.effect.kind);

const EVERY = '*';
const targetOf = ({ target = null }: Opinion): string | null => target;

/** The types of opinions, made once. */
const made = new WeakMap<Opinion, ReadonlySet<string>>();
const typesOf = (one: Opinion): ReadonlySet<string> => {
  const types = made.get(one) ?? new Set(one.types);
  made.set(one, types);
  return types;
};

const names = (one: Opinion, type: string): boolean => typesOf(one).has(EVERY) || typesOf(one).has(type);

/** So many types are compared with others in the time of one set of values. */
const WORK_TYPES = 16;

/** How much work it is to compare an opinion with another one. */
export const workOfTypes = ({ effect }: WithOpinion): number => 1 + Math.floor(effect.types.length / WORK_TYPES);

/** Whether one opinion is about every target that the other one is about. A rule that forbids is also about other spellings of its target. */
const isAboutTargetOf = (one: Opinion, other: Opinion): boolean => {
  if (targetOf(one) === null) return true;
  return targetOf(one) === targetOf(other) && (one.kind === 'forbid' || other.kind !== 'forbid');
};

/** Whether one opinion names every action that the other one names. */
const namesAllOf = (one: Opinion, other: Opinion): boolean =>
  isAboutTargetOf(one, other) && other.types.every((type) => names(one, type));

/** Whether one opinion names every action there is. */
const namesEverything = (one: Opinion): boolean => one.types.includes(EVERY) && targetOf(one) === null;

/** Whether the lower rule never decides about what a model wants to do if the higher one always matches with it. */
export const decidesBefore = (high: WithOpinion, low: WithOpinion): boolean => {
  if (low.effect.kind !== 'require') return namesAllOf(high.effect, low.effect);
  // What replaces an action also replaces plain words and what cannot be read, on which a rule that names actions has no opinion.
  if (low.rule.ruleOnBreak === 'replace') return false;
  return high.effect.kind === 'require' || namesEverything(high.effect);
};

/** The types that the lower rule requires or allows and the higher one forbids. */
export const forbiddenOf = (high: WithOpinion, low: WithOpinion): readonly string[] =>
  high.effect.kind === 'forbid' && low.effect.kind !== 'forbid' && isAboutTargetOf(high.effect, low.effect)
    ? low.effect.types.filter((type) => names(high.effect, type))
    : [];

/** Whether no action satisfies both rules, each of which requires one. */
export const requireOpposites = ({ effect: one }: WithOpinion, { effect: other }: WithOpinion): boolean => {
  if (one.kind !== 'require' || other.kind !== 'require') return false;
  const [target, otherTarget] = [targetOf(one), targetOf(other)];
  const isElsewhere = target !== null && otherTarget !== null && target !== otherTarget;
  return isElsewhere || !one.types.some((type) => typesOf(other).has(type));
};

/** How many types a message lists. */
const SHOWN_TYPES = 4;

/** What a rule is about, for a message. */
export const shownTypes = (types: readonly string[]): string =>
  types.length <= SHOWN_TYPES
    ? types.map((type) => (type === EVERY ? 'every action' : type)).join(', ')
    : `${types.slice(0, SHOWN_TYPES).join(', ')} and ${types.length - SHOWN_TYPES} more`;
