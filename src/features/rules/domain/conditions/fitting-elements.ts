import type { Alternative } from './alternatives.js';
import { type ConditionOutcome, valueHolds } from './holds.js';
import type { View } from './view.js';

/** An element that satisfies the conditions with one letter so far, and the first error among them; `yes` without one. */
export type FittingElement = { readonly index: number; readonly outcome: Exclude<ConditionOutcome, 'no'> };

/** What each element of a list leads to; null if it was not looked at. */
type Elements = readonly (View | null)[];

/** Every element, before the first condition. */
export const everyElement = (elements: Elements): readonly FittingElement[] =>
  elements.map((_, index) => ({ index, outcome: 'yes' }));

/** How many values one more condition would test. */
export const countTested = (fitting: readonly FittingElement[], elements: Elements): number =>
  fitting.reduce((sum, { index }) => sum + (elements[index]?.values.length ?? 0), 0);

/** The elements that satisfy one more condition. */
export const narrowed = (
  fitting: readonly FittingElement[],
  elements: Elements,
  alternatives: readonly Alternative[],
): readonly FittingElement[] => {
  const left: FittingElement[] = [];
  for (const { index, outcome } of fitting) {
    const view = elements[index] ?? null;
    const holds = view === null ? 'longList' : valueHolds(view, alternatives);
    if (holds !== 'no') left.push({ index, outcome: outcome === 'yes' ? holds : outcome });
  }
  return left;
};

/** Whether one of the elements certainly satisfies all conditions so far. @param isCut whether the list has more elements, which were not looked at */
export const someFits = (fitting: readonly FittingElement[], isCut: boolean): ConditionOutcome => {
  const [first] = fitting;
  if (first === undefined) return isCut ? 'longList' : 'no';
  return fitting.some(({ outcome }) => outcome === 'yes') ? 'yes' : first.outcome;
};
