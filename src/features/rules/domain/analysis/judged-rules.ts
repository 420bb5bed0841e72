import type { Sliced } from '../../../../kernel/base/sliced.js';
import { strictEffectOf } from '../action-words.js';
import { type Alternative, countElementTests } from '../conditions/alternatives.js';
import type { Path } from '../conditions/path.js';
import { isProblem } from '../conditions/problem.js';
import { CEL_KEY, type Condition, isCel, readCondition } from '../conditions/read-condition.js';
import type { DirectiveRule, RuleCondition, RuleEffect } from '../ruleset.js';
import { divide, type Division } from './division.js';
import { allOf, type Formula, formulaOf, type WantedOutcome } from './needs.js';
import { valuesOf } from './path-values.js';

/** A condition that is judged. */
export type JudgedCondition = {
  readonly key: string;
  readonly value: string;
  readonly alternatives: readonly Alternative[];
  readonly path: Path;
  /** All conditions of a set on the same path share its division; null if its values are not told apart. */
  readonly division: Division | null;
};

/** A rule that is judged. */
export type JudgedRule = {
  readonly rule: DirectiveRule;
  readonly effect: RuleEffect;
  /** By path; conditions with the same letter, and the same names behind it, look at the same element. */
  readonly groups: ReadonlyMap<string, readonly JudgedCondition[]>;
};

/** Whether everything about a rule is judged. */
export const isJudged = ({ ruleCondition }: DirectiveRule): boolean => ruleCondition.every(([key]) => key !== CEL_KEY);

/** A condition, if it is judged. */
const conditionOf = (pair: RuleCondition): Condition | null => {
  const read = readCondition(pair);
  return isProblem(read) || isCel(read) ? null : read;
};

const placeOf = ({ root, names, letter }: Path): string =>
  JSON.stringify(
    letter === undefined ? [root, names] : [root, names.slice(0, letter.listNames), names.slice(letter.listNames)],
  );

/** Reading so many conditions takes some milliseconds. */
const SLICE_CONDITIONS = 64;
/** So many characters of an action are read in the time of one condition. */
const ACTION_CHARS = 64;

/** The alternatives of all conditions on one path, and what the path can lead to. */
type Place = { readonly alternatives: Alternative[]; readonly path: Path; division: Division | null };

const groupsOf = (conditions: readonly JudgedCondition[]): ReadonlyMap<string, readonly JudgedCondition[]> => {
  const groups = new Map<string, JudgedCondition[]>();
  for (const one of conditions) {
    const group = `${one.path.letter?.name ?? ''} ${placeOf(one.path)}`;
    const known = groups.get(group);
    if (known === undefined) groups.set(group, [one]);
    else known.push(one);
  }
  return groups;
};

/** The rules of a set with their conditions read, in slices. @param numbers paths that always lead to one number */
export function* judgedRules(
  rules: readonly DirectiveRule[],
  numbers: ReadonlySet<string>,
): Sliced<readonly JudgedRule[]> {
  const places = new Map<string, Place>();
  let unpaid = 0;
  for (const { ruleCondition } of rules) {
    for (const pair of ruleCondition) {
      const condition = conditionOf(pair);
      if (condition === null) continue;
      const name = placeOf(condition.path);
      const place = places.get(name) ?? { alternatives: [], path: condition.path, division: null };
      places.set(name, place);
      for (const one of condition.alternatives) place.alternatives.push(one);
      unpaid += 1;
      if (unpaid < SLICE_CONDITIONS) continue;
      yield unpaid;
      unpaid = 0;
    }
  }
  for (const place of places.values()) {
    place.division = divide(place.alternatives, valuesOf(place.path, numbers));
    yield place.alternatives.length;
  }
  const judged: JudgedRule[] = [];
  for (const rule of rules) {
    const conditions = rule.ruleCondition.flatMap((pair): readonly JudgedCondition[] => {
      const condition = conditionOf(pair);
      if (condition === null) return [];
      const [key, value] = pair;
      return [{ key, value, ...condition, division: places.get(placeOf(condition.path))?.division ?? null }];
    });
    judged.push({ rule, effect: strictEffectOf(rule), groups: groupsOf(conditions) });
    unpaid += 1 + rule.ruleCondition.length + Math.floor(rule.ruleAction.length / ACTION_CHARS);
    if (unpaid < SLICE_CONDITIONS) continue;
    yield unpaid;
    unpaid = 0;
  }
  return judged;
}

/** The outcome of its conditions with which a rule matches, and the one with which it does not. */
export const metBy = ({ effect }: Pick<JudgedRule, 'effect'>): WantedOutcome =>
  effect.kind === 'forbid' ? 'not no' : 'yes';
export const unmetBy = ({ effect }: Pick<JudgedRule, 'effect'>): WantedOutcome =>
  effect.kind === 'forbid' ? 'no' : 'not yes';

const made = new WeakMap<JudgedCondition, Map<string, Formula>>();

const nameOf = (outcome: WantedOutcome, isCut: boolean): string => `${outcome} ${isCut}`;

/** How many kinds of a division count for one more set of values, where sets are compared, and where a test becomes one. */
const [COMPARED_KINDS, TESTED_KINDS] = [4_096, 512];

const sizeOf = (division: Division | null): number => division?.size ?? 0;

/** How much work it is to compare some sets of the kinds of a division. */
export const workWith = (sets: number, division: Division | null): number =>
  sets * (1 + Math.floor(sizeOf(division) / COMPARED_KINDS));

/** How much work it is to make what an outcome of a condition needs. */
export const workOfNeeds = (condition: JudgedCondition, outcome: WantedOutcome, isCut: boolean): number =>
  made.get(condition)?.has(nameOf(outcome, isCut)) === true
    ? 1
    : countElementTests(condition.alternatives) * Math.ceil(sizeOf(condition.division) / TESTED_KINDS);

/** What an outcome of a condition needs, made once. */
export const needsOf = (condition: JudgedCondition, outcome: WantedOutcome, isCut: boolean): Formula => {
  const known = made.get(condition) ?? new Map<string, Formula>();
  made.set(condition, known);
  const name = nameOf(outcome, isCut);
  const found = known.get(name);
  if (found !== undefined) return found;
  const { division } = condition;
  const formula = division === null ? null : formulaOf(condition.alternatives, outcome, { division, isCut });
  known.set(name, formula);
  return formula;
};

const madeOfAll = new WeakMap<readonly JudgedCondition[], Map<string, Formula>>();

/** What the same outcome of several conditions needs, made once. */
export const needsOfAll = (conditions: readonly JudgedCondition[], outcome: WantedOutcome, isCut: boolean): Formula => {
  const known = madeOfAll.get(conditions) ?? new Map<string, Formula>();
  madeOfAll.set(conditions, known);
  const name = nameOf(outcome, isCut);
  const found = known.get(name) ?? allOf(conditions.map((one) => needsOf(one, outcome, isCut)));
  known.set(name, found);
  return found;
};
