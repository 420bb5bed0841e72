import type { Alternative, CountComparison, ElementAlternative, Operand, Order } from './alternatives.js';
import { compareQuantities, decidingDouble, isVague } from './numbers.js';
import type { View } from './view.js';

/** Why a condition cannot be decided, as the record shows it. */
export const CONDITION_ERRORS = {
  notNumber: 'an order of numbers met a value that is not a number',
  notText: 'an order of texts met a value that is not a text',
  vagueNumber: 'a whole JSON number of 2^53 or more cannot be compared exactly',
  longList: 'the list has more than 1,000 elements',
  tooMuch: 'the decision would have to look at too many values',
  unreadable: 'the condition cannot be read',
} as const;
export type ConditionError = keyof typeof CONDITION_ERRORS;

/** Whether a condition holds, or why that cannot be decided. */
export type ConditionOutcome = 'yes' | 'no' | ConditionError;

const outcomeOf = (holds: boolean): ConditionOutcome => (holds ? 'yes' : 'no');

/** The outcome of at least one of several: `yes` if one holds, otherwise an error if there is one. */
const either = (one: ConditionOutcome, other: ConditionOutcome): ConditionOutcome =>
  one === 'yes' || (one !== 'no' && other !== 'yes') ? one : other;

const opposite = (outcome: ConditionOutcome): ConditionOutcome => {
  if (outcome === 'yes') return 'no';
  return outcome === 'no' ? 'yes' : outcome;
};

const inOrder = (order: Order, compared: number): boolean => {
  switch (order) {
    case '<':
      return compared < 0;
    case '<=':
      return compared <= 0;
    case '>':
      return compared > 0;
    case '>=':
      return compared >= 0;
  }
};

/** Whether the value at a place equals an operand. */
const equals = (view: View, at: number, { text, isQuoted, quantity }: Operand): ConditionOutcome => {
  const value = view.values[at];
  if (value === text) return 'yes';
  if (isQuoted) return 'no';
  if (typeof value === 'boolean') return outcomeOf(String(value) === text);
  if (quantity === null) return 'no';
  const compared = comparedAt(view, at, quantity);
  if (typeof compared === 'number') return outcomeOf(compared === 0);
  return compared === 'notNumber' ? 'no' : compared;
};

/** Whether the value at a place satisfies an alternative. */
const elementHolds = (view: View, at: number, alternative: ElementAlternative): ConditionOutcome => {
  switch (alternative.is) {
    case 'present':
      return 'yes';
    case 'equal':
      return equals(view, at, alternative.to);
    case 'other':
      return opposite(
        alternative.than.reduce<ConditionOutcome>(
          (found, operand) => (found === 'yes' ? found : either(found, equals(view, at, operand))),
          'no',
        ),
      );
    case 'text-order': {
      const compared = view.comparedText(at, alternative.to);
      return typeof compared === 'number' ? outcomeOf(inOrder(alternative.order, compared)) : compared;
    }
    case 'number-order': {
      const compared = comparedAt(view, at, alternative.to);
      return typeof compared === 'number' ? outcomeOf(inOrder(alternative.order, compared)) : compared;
    }
    case 'range': {
      const low = comparedAt(view, at, alternative.from);
      const high = comparedAt(view, at, alternative.to);
      if (typeof low !== 'number') return low;
      return typeof high === 'number' ? outcomeOf(low >= 0 && high <= 0) : high;
    }
  }
};

const comparedAt = (view: View, at: number, to: Parameters<typeof compareQuantities>[1]): number | ConditionError => {
  const double = view.doubles[at] ?? NaN;
  const toDouble = decidingDouble(to);
  if (double < toDouble) return -1;
  if (double > toDouble) return 1;
  const quantity = view.quantities[at] ?? null;
  if (quantity === null) return 'notNumber';
  const compared = compareQuantities(quantity, to);
  return Number.isNaN(compared) ? 'vagueNumber' : compared;
};

/** Whether the value at a place satisfies one of some alternatives. */
const someHolds = (view: View, at: number, alternatives: readonly ElementAlternative[]): ConditionOutcome => {
  let found: ConditionOutcome = 'no';
  for (const alternative of alternatives) {
    const holds = elementHolds(view, at, alternative);
    if (holds === 'yes') return holds;
    if (found === 'no') found = holds;
  }
  return found;
};

/** Whether some value is in an order. Only numbers that cannot be compared exactly are looked at one by one. */
const anyInOrder = (
  view: View,
  { order, to }: Extract<ElementAlternative, { is: 'number-order' }>,
): ConditionOutcome => {
  const { least, greatest, hasOthers, hasVague } = view.extremes;
  const end = order === '<' || order === '<=' ? least : greatest;
  if (end !== undefined && inOrder(order, compareQuantities(end, to))) return 'yes';
  const others = hasOthers ? 'notNumber' : 'no';
  if (!hasVague) return others;
  return view.quantities.reduce<ConditionOutcome>((found, quantity) => {
    if (quantity === null || !isVague(quantity) || found === 'yes') return found;
    const compared = compareQuantities(quantity, to);
    return either(found, Number.isNaN(compared) ? 'vagueNumber' : outcomeOf(inOrder(order, compared)));
  }, others);
};

/** Whether some value satisfies an alternative. */
const anySatisfies = (view: View, alternative: ElementAlternative): ConditionOutcome => {
  if (alternative.is === 'number-order') return anyInOrder(view, alternative);
  let found: ConditionOutcome = 'no';
  for (let at = 0; at < view.values.length; at += 1) {
    const holds = elementHolds(view, at, alternative);
    if (holds === 'yes') return holds;
    if (found === 'no') found = holds;
  }
  return found;
};

const anyHolds = (view: View, alternatives: readonly ElementAlternative[]): ConditionOutcome =>
  alternatives.reduce<ConditionOutcome>(
    (found, one) => (found === 'yes' ? found : either(found, anySatisfies(view, one))),
    'no',
  );

const allHold = (view: View, alternatives: readonly ElementAlternative[]): ConditionOutcome => {
  if (view.values.length === 0 || view.reached.hasGaps) return 'no';
  let found: ConditionOutcome = 'yes';
  for (let at = 0; at < view.values.length && found !== 'no'; at += 1) {
    const holds = someHolds(view, at, alternatives);
    if (holds === 'no' || found === 'yes') found = holds;
  }
  return found;
};

const countIs = (count: number, comparison: CountComparison, to: number): boolean => {
  if (comparison === '=') return count === to;
  return comparison === '!=' ? count !== to : inOrder(comparison, count - to);
};

/** The first error among elements, and how many elements are certain and possible. */
const countHolds = (view: View, { of, comparison, to }: Extract<Alternative, { is: 'count' }>): ConditionOutcome => {
  let certain = 0;
  let error: ConditionError | null = null;
  let errors = 0;
  for (let at = 0; at < view.values.length; at += 1) {
    const holds = someHolds(view, at, of);
    if (holds === 'yes') certain += 1;
    else if (holds !== 'no') {
      error ??= holds;
      errors += 1;
    }
  }
  const least = countIs(certain, comparison, to);
  if (error === null) return outcomeOf(least);
  for (let more = 1; more <= errors; more += 1) if (countIs(certain + more, comparison, to) !== least) return error;
  return outcomeOf(least);
};

const alternativeHolds = (view: View, alternative: Alternative): ConditionOutcome => {
  switch (alternative.is) {
    case 'absent':
      if (view.values.length > 0) return 'no';
      return view.reached.isCut ? 'longList' : 'yes';
    case 'any':
      return anyHolds(view, alternative.of);
    case 'none':
      return view.reached.isCut ? 'longList' : opposite(anyHolds(view, alternative.of));
    case 'all':
      return view.reached.isCut ? 'longList' : allHold(view, alternative.of);
    case 'count':
      return view.reached.isCut ? 'longList' : countHolds(view, alternative);
    default:
      return anySatisfies(view, alternative);
  }
};

/** Whether what a path led to satisfies one of the alternatives. */
export const valueHolds = (view: View, alternatives: readonly Alternative[]): ConditionOutcome => {
  let found: ConditionOutcome = 'no';
  for (const alternative of alternatives) {
    found = either(found, alternativeHolds(view, alternative));
    if (found === 'yes') break;
  }
  return found;
};
