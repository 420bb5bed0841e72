import type { Alternative, CountComparison, ElementAlternative } from '../conditions/alternatives.js';
import type { Division, Kinds } from './division.js';

/** How many values of some kinds there are. */
type Bound = { readonly of: Kinds; readonly count: number };

/** What some conditions need of the values that a path leads to, all of it. */
export type Needs = {
  /** There is no value of these kinds. */
  readonly without: Kinds;
  readonly least: readonly Bound[];
  /** None of them is 0, which `without` says. */
  readonly most: readonly Bound[];
  /** Whether some element, or the whole path, leads to nothing. Undefined if it does not matter. */
  readonly hasGaps?: boolean;
};

/** One of these is needed: nothing at all is needed if one of them is empty, and none can be fulfilled if there are none. Null is unknown. */
export type Formula = readonly Needs[] | null;

/** The outcomes of a condition for which a formula is made. */
export type WantedOutcome = 'yes' | 'not yes' | 'no' | 'not no';

/** Longer formulas are unknown. */
const MOST_NEEDS = 64;

const NOTHING: Needs = { without: 0n, least: [], most: [] };
const always: Formula = [NOTHING];
const never: Formula = [];

const atLeast = (of: Kinds, count: number): Formula => (count <= 0 ? always : [{ ...NOTHING, least: [{ of, count }] }]);
const atMost = (of: Kinds, count: number): Formula => {
  if (count < 0) return never;
  return count === 0 ? [{ ...NOTHING, without: of }] : [{ ...NOTHING, most: [{ of, count }] }];
};
const gaps = (hasGaps: boolean): Formula => [{ ...NOTHING, hasGaps }];

const both = (one: Needs, other: Needs): Needs | null => {
  const hasGaps = one.hasGaps ?? other.hasGaps;
  if (other.hasGaps !== undefined && hasGaps !== other.hasGaps) return null;
  return {
    without: one.without | other.without,
    least: [...one.least, ...other.least],
    most: [...one.most, ...other.most],
    ...(hasGaps === undefined ? {} : { hasGaps }),
  };
};

const bounded = (formula: readonly Needs[]): Formula => (formula.length > MOST_NEEDS ? null : formula);

/** One of the formulas. */
const anyOf = (formulas: readonly Formula[]): Formula =>
  formulas.includes(null) ? null : bounded(formulas.flatMap((one) => one ?? []));

/** All of the formulas together. */
export const allOf = (formulas: readonly Formula[]): Formula =>
  formulas.reduce<Formula>((found, one) => {
    if (found === null || one === null) return null;
    if (found.length * one.length > MOST_NEEDS) return null;
    return found.flatMap((needs) => one.flatMap((more) => both(needs, more) ?? []));
  }, always);

type Satisfying = ReturnType<Division['satisfying']>;

/** Whether a number of values compares with another: from `yes` values certainly, up to `yes` and `error` together. */
const countIs = ({ yes, error }: Satisfying, comparison: CountComparison, to: number): Formula => {
  const maybe = yes | error;
  switch (comparison) {
    case '>=':
      return atLeast(yes, to);
    case '>':
      return atLeast(yes, to + 1);
    case '<=':
      return atMost(maybe, to);
    case '<':
      return atMost(maybe, to - 1);
    case '=':
      return allOf([atLeast(yes, to), atMost(maybe, to)]);
    case '!=':
      return anyOf([atLeast(yes, to + 1), atMost(maybe, to - 1)]);
  }
};

/** Whether it may compare like that, if what cannot be decided turns out so. */
const countMayBe = ({ yes, error }: Satisfying, comparison: CountComparison, to: number): Formula => {
  const maybe = yes | error;
  switch (comparison) {
    case '>=':
      return atLeast(maybe, to);
    case '>':
      return atLeast(maybe, to + 1);
    case '<=':
      return atMost(yes, to);
    case '<':
      return atMost(yes, to - 1);
    case '=':
      return allOf([atMost(yes, to), atLeast(maybe, to)]);
    case '!=':
      return anyOf([atMost(yes, to - 1), atLeast(maybe, to + 1)]);
  }
};

const OPPOSITE = { '<': '>=', '<=': '>', '>': '<=', '>=': '<', '=': '!=', '!=': '=' } as const;

/** `isCut`: the list is so long that not all of it is looked at. */
type Seeing = { readonly division: Division; readonly isCut: boolean };

/** At least one value satisfies one of the alternatives. */
const someFormula = (of: readonly ElementAlternative[], outcome: WantedOutcome, { division }: Seeing): Formula => {
  const { yes, error } = division.satisfying(of);
  switch (outcome) {
    case 'yes':
      return atLeast(yes, 1);
    case 'not yes':
      return atMost(yes, 0);
    case 'no':
      return atMost(yes | error, 0);
    case 'not no':
      return atLeast(yes | error, 1);
  }
};

const OPPOSITE_OUTCOME = { yes: 'no', 'not yes': 'not no', no: 'yes', 'not no': 'not yes' } as const;

const allFormula = (of: readonly ElementAlternative[], outcome: WantedOutcome, { division }: Seeing): Formula => {
  const { yes, error } = division.satisfying(of);
  const every = (kinds: Kinds): Formula =>
    allOf([gaps(false), atLeast(division.all, 1), atMost(division.all & ~kinds, 0)]);
  const notEvery = (kinds: Kinds): Formula =>
    anyOf([gaps(true), atMost(division.all, 0), atLeast(division.all & ~kinds, 1)]);
  switch (outcome) {
    case 'yes':
      return every(yes);
    case 'not yes':
      return notEvery(yes);
    case 'no':
      return notEvery(yes | error);
    case 'not no':
      return every(yes | error);
  }
};

const absentFormula = (outcome: WantedOutcome, { division, isCut }: Seeing): Formula => {
  const nothing = atMost(division.all, 0);
  const something = atLeast(division.all, 1);
  switch (outcome) {
    case 'yes':
      return isCut ? never : nothing;
    case 'not yes':
      return isCut ? always : something;
    case 'no':
      return something;
    case 'not no':
      return nothing;
  }
};

const countFormula = (
  one: Extract<Alternative, { is: 'count' }>,
  outcome: WantedOutcome,
  { division }: Seeing,
): Formula => {
  const satisfying = division.satisfying(one.of);
  const { comparison, to } = one;
  switch (outcome) {
    case 'yes':
      return countIs(satisfying, comparison, to);
    case 'not yes':
      return countMayBe(satisfying, OPPOSITE[comparison], to);
    case 'no':
      return countIs(satisfying, OPPOSITE[comparison], to);
    case 'not no':
      return countMayBe(satisfying, comparison, to);
  }
};

const formulaOfOne = (one: Alternative, outcome: WantedOutcome, seeing: Seeing): Formula => {
  if (one.is === 'absent') return absentFormula(outcome, seeing);
  if (!('of' in one)) return someFormula([one], outcome, seeing);
  if (one.is === 'any') return someFormula(one.of, outcome, seeing);
  // What is said of all elements cannot be decided if not all are looked at.
  if (seeing.isCut) return outcome === 'yes' || outcome === 'no' ? never : always;
  if (one.is === 'count') return countFormula(one, outcome, seeing);
  return one.is === 'all'
    ? allFormula(one.of, outcome, seeing)
    : someFormula(one.of, OPPOSITE_OUTCOME[outcome], seeing);
};

const isElement = (one: Alternative): one is ElementAlternative => !('of' in one) && one.is !== 'absent';

/** What a condition needs for an outcome. */
export const formulaOf = (alternatives: readonly Alternative[], outcome: WantedOutcome, seeing: Seeing): Formula => {
  const elements = alternatives.filter(isElement);
  const others = alternatives.filter((one) => !isElement(one));
  const parts: readonly Alternative[] = elements.length === 0 ? others : [{ is: 'any', of: elements }, ...others];
  const formulas = parts.map((one) => formulaOfOne(one, outcome, seeing));
  return outcome === 'yes' || outcome === 'not no' ? anyOf(formulas) : allOf(formulas);
};

/** Whether some values fulfil needs; `maybe` if that is not known. */
const fulfilled = (needs: Needs, division: Division, isSingle: boolean): 'yes' | 'no' | 'maybe' => {
  const left = division.all & ~needs.without;
  const required = division.isRequired ? [{ of: left, count: 1 }] : [];
  const least = [...needs.least, ...required].map(({ of, count }) => ({ of: of & left, count }));
  if (least.some(({ of }) => of === 0n)) return 'no';
  if (isSingle && needs.hasGaps === true && least.length > 0) return 'no';
  const most = isSingle ? [...needs.most, { of: division.all, count: 1 }] : needs.most;
  let found: 'yes' | 'maybe' = new Set(most.map(({ of }) => of)).size > 1 ? 'maybe' : 'yes';
  for (const { of, count } of most) {
    const within = least.filter((one) => (one.of & ~of) === 0n);
    if (within.some((one) => one.count > count)) return 'no';
    // One value of a kind that all of them have is enough.
    const common = within.reduce((kinds, one) => kinds & one.of, left);
    if (common !== 0n || within.length === 0) continue;
    if (count === 1) return 'no';
    found = 'maybe';
  }
  return found;
};

/** Whether some values that a path leads to fulfil a formula. @param isSingle whether there is at most one */
export const isPossible = (formula: Formula, division: Division, isSingle: boolean): 'yes' | 'no' | 'maybe' => {
  if (formula === null) return 'maybe';
  let found: 'yes' | 'no' | 'maybe' = 'no';
  for (const needs of formula) {
    const one = fulfilled(needs, division, isSingle);
    if (one === 'yes') return one;
    if (one === 'maybe') found = one;
  }
  return found;
};

/** How much work `isPossible` is. */
export const workOf = (formula: Formula): number =>
  (formula ?? []).reduce((sum, { least, most }) => sum + 1 + least.length * (1 + most.length), 1);
