import type { DirectiveRule } from '../ruleset.js';
import { countElementTests, testCost } from './alternatives.js';
import { namesBehind, placesOf, ROOT_STEPS } from './places.js';
import { isProblem } from './problem.js';
import { type CelCondition, type Condition, isCel, readConditions } from './read-condition.js';

/** What each condition with a letter costs for an element, in addition to its names and tests: the element, and a list that it leads to. */
const ELEMENT = 2;

/**
 * The steps of the paths of a set, its tests with long numbers, and the cost of its conditions with a letter and in CEL (RulesetSize). Conditions that
 * cannot be read cost nothing.
 */
export const sizeOfPaths = (
  rules: readonly DirectiveRule[],
): {
  readonly conditions: number;
  readonly keyParts: number;
  readonly elementTests: number;
  readonly celSteps: number;
} => {
  const all = rules
    .flatMap((rule) => readConditions(rule))
    .flatMap((one): readonly (Condition | CelCondition)[] => (isProblem(one) ? [] : [one]));
  const read = all.flatMap((one): readonly Condition[] => (isCel(one) ? [] : [one]));
  const expressions = all.flatMap((one) => (isCel(one) ? [one.cel] : []));
  const { steps } = placesOf(read.map(({ path }) => path));
  const lettered = read.filter(({ path }) => path.letter !== undefined);
  return {
    conditions: read.reduce((sum, { alternatives }) => sum + testCost(alternatives), expressions.length),
    keyParts: steps.length - ROOT_STEPS,
    elementTests: lettered.reduce(
      (sum, { path, alternatives }) => sum + countElementTests(alternatives) + namesBehind(path).length + ELEMENT,
      0,
    ),
    celSteps: expressions.reduce((sum, expression) => sum + expression.steps, 0),
  };
};
