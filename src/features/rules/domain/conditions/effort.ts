/**
 * What one decision by a set of grammar 2 may still do, so that it does not keep other requests waiting: some 10 ms at worst. A condition that it cannot
 * afford is an error (`tooMuch`), which permits nothing.
 */
export type Effort = {
  /** Values that paths lead to, and lists that they open. */
  looks: number;
  /** Tests of values, one for each alternative. */
  tests: number;
  /** Characters of texts that are compared in an order, in UTF-16 units. */
  characters: number;
};

/** The effort of a decision: 100 paths to lists of 1,000 elements, two conditions on each, and 500 characters of one list. */
export const DECISION_EFFORT: Readonly<Effort> = { looks: 100_000, tests: 200_000, characters: 500_000 };

/** The effort of a decision before it begins. */
export const fullEffort = (): Effort => ({ ...DECISION_EFFORT });

/** Spends some tests. False if the decision cannot afford them; then it spends nothing, so that a cheaper condition is still decided. */
export const affordsTests = (effort: Effort, tests: number): boolean => {
  if (tests > effort.tests) return false;
  effort.tests -= tests;
  return true;
};

/** How many values a decision has looked at and tested. */
export const spentOf = ({ looks, tests }: Effort): number =>
  DECISION_EFFORT.looks - looks + DECISION_EFFORT.tests - tests;
