import type { Sliced } from '../../../../kernel/base/sliced.js';
import { allOf, type Formula, isPossible, type WantedOutcome, workOf } from './needs.js';
import {
  type JudgedCondition,
  type JudgedRule,
  metBy,
  needsOf,
  needsOfAll,
  unmetBy,
  workOfNeeds,
  workWith,
} from './judged-rules.js';

/** How much work the rules of one set are worth, in sets of values that are compared: about a second. */
const MOST_WORK = 1_000_000;
/** How much of it is done between two yields: some milliseconds. */
const SLICE_WORK = 1_024;

/** Counts the work. */
export type Judging = { left: number; unpaid: number };
export const newJudging = (): Judging => ({ left: MOST_WORK, unpaid: 0 });

export const isSpent = ({ left }: Judging): boolean => left <= 0;

/** Counts work, and yields when there was enough of it. */
export function* spend(judging: Judging, work: number): Sliced<void> {
  judging.left -= work;
  judging.unpaid += work;
  if (judging.unpaid < SLICE_WORK) return;
  yield judging.unpaid;
  judging.unpaid = 0;
}

/** Makes what an outcome of each condition needs, so that it is there afterwards. */
function* prepare(
  judging: Judging,
  conditions: readonly JudgedCondition[],
  outcome: WantedOutcome,
  isCut: boolean,
): Sliced<void> {
  for (const one of conditions) {
    yield* spend(judging, 4 + workOfNeeds(one, outcome, isCut));
    needsOf(one, outcome, isCut);
  }
}

const DEPTHS = [false, true];

/** Whether some conditions on one path can have an outcome together. @param isSingle whether the path leads to no list */
export function* canBe(
  judging: Judging,
  conditions: readonly JudgedCondition[],
  outcome: WantedOutcome,
  isSingle = false,
): Sliced<'yes' | 'no' | 'maybe'> {
  const division = conditions[0]?.division ?? null;
  if (division === null) return 'maybe';
  const isOne = isSingle || division.isSingle;
  let found: 'no' | 'maybe' = 'no';
  for (const isCut of isOne ? [false] : DEPTHS) {
    yield* prepare(judging, conditions, outcome, isCut);
    const formula = needsOfAll(conditions, outcome, isCut);
    yield* spend(judging, workWith(workOf(formula), division));
    const one = isPossible(formula, division, isOne);
    if (one === 'yes') return one;
    if (one === 'maybe') found = one;
  }
  return found;
}

/** Whether a condition of one rule is met whenever the other rule matches, as far as is known. */
function* followsFrom(
  judging: Judging,
  one: JudgedRule,
  wanted: JudgedCondition,
  given: readonly JudgedCondition[],
  other: JudgedRule,
): Sliced<boolean> {
  const { division } = wanted;
  if (division === null) return false;
  for (const isCut of division.isSingle ? [false] : DEPTHS) {
    yield* prepare(judging, given, metBy(other), isCut);
    yield* prepare(judging, [wanted], unmetBy(one), isCut);
    const met = needsOfAll(given, metBy(other), isCut);
    const formula: Formula = allOf([met, needsOf(wanted, unmetBy(one), isCut)]);
    yield* spend(judging, workWith(workOf(formula), division));
    if (isPossible(formula, division, division.isSingle) !== 'no') return false;
  }
  return true;
}

const patternOf = ({ rule }: JudgedRule): string => rule.ruleObsPattern ?? '';
const isStrict = ({ effect }: JudgedRule): boolean => effect.kind !== 'forbid';
const pairsOf = (conditions: readonly JudgedCondition[]): readonly string[] =>
  conditions.map(({ key, value }) => JSON.stringify([key, value]));

/** Whether one rule matches whenever the other does. `false` may also mean "unknown". */
export function* matchesWith(judging: Judging, one: JudgedRule, other: JudgedRule): Sliced<boolean> {
  if (!['', patternOf(other)].includes(patternOf(one))) return false;
  for (const [group, conditions] of one.groups) {
    const given = other.groups.get(group) ?? [];
    if (conditions[0]?.path.letter !== undefined) {
      // Conditions with a letter follow only from the same ones, if those do not need less.
      const known = new Set(pairsOf(given));
      yield* spend(judging, conditions.length + given.length);
      if (isStrict(one) && !isStrict(other)) return false;
      if (pairsOf(conditions).every((pair) => known.has(pair))) continue;
      return false;
    }
    for (const wanted of conditions) if (!(yield* followsFrom(judging, one, wanted, given, other))) return false;
  }
  return true;
}

/** Roots that show parts of each other. */
const STATES: readonly string[] = ['state', 'delta', 'after'];
const INDEX = /^\d+$/;

/** Whether conditions on two paths can be met independently. */
const areApart = ({ path: one }: JudgedCondition, { path: other }: JudgedCondition): boolean => {
  if (one.root !== other.root) return !(STATES.includes(one.root) && STATES.includes(other.root));
  const shorter = Math.min(one.names.length, other.names.length);
  return one.names.slice(0, shorter).some((name, at) => name !== other.names[at]);
};

/** Whether it is certain that two rules can match at the same time. */
export function* canMeet(judging: Judging, one: JudgedRule, other: JudgedRule): Sliced<boolean> {
  if (patternOf(one) !== '' && patternOf(other) !== '' && patternOf(one) !== patternOf(other)) return false;
  const groups = new Set([...one.groups.keys(), ...other.groups.keys()]);
  const firsts = [...groups].flatMap((group) => (one.groups.get(group) ?? other.groups.get(group) ?? []).slice(0, 1));
  yield* spend(judging, firsts.length * firsts.length);
  const isPlain = firsts.every(
    ({ path }, at) =>
      path.letter === undefined &&
      path.names.length > 0 &&
      !path.names.some((name) => INDEX.test(name)) &&
      firsts.slice(at + 1).every((next) => areApart(firsts[at] as JudgedCondition, next)),
  );
  if (!isPlain && firsts.length > 0) return false;
  for (const group of groups) {
    const [mine, theirs] = [one.groups.get(group) ?? [], other.groups.get(group) ?? []];
    const [first] = [...mine, ...theirs];
    const division = first?.division ?? null;
    if (division === null) return false;
    yield* prepare(judging, mine, metBy(one), false);
    yield* prepare(judging, theirs, metBy(other), false);
    const formula = allOf([needsOfAll(mine, metBy(one), false), needsOfAll(theirs, metBy(other), false)]);
    yield* spend(judging, workWith(workOf(formula), division));
    if (isPossible(formula, division, division.isSingle) !== 'yes') return false;
  }
  return true;
}
