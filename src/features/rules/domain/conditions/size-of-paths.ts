import type { DirectiveRule } from '../ruleset.js';
import { countElementTests } from './alternatives.js';
import { namesBehind, placesOf, ROOT_STEPS } from './places.js';
import { isProblem } from './problem.js';
import { readConditions } from './read-condition.js';

/** What each condition with a letter costs for an element, in addition to its names and tests: the element, and a list that it leads to. */
const ELEMENT = 2;

/** The steps of the paths of a set, and the cost of its conditions with a letter (RulesetSize). Conditions that cannot be read cost nothing. */
export const sizeOfPaths = (
  rules: readonly DirectiveRule[],
): { readonly keyParts: number; readonly elementTests: number } => {
  const read = rules.flatMap((rule) => readConditions(rule)).flatMap((one) => (isProblem(one) ? [] : [one]));
  const { steps } = placesOf(read.map(({ path }) => path));
  const lettered = read.filter(({ path }) => path.letter !== undefined);
  return {
    keyParts: steps.length - ROOT_STEPS,
    elementTests: lettered.reduce(
      (sum, { path, alternatives }) => sum + countElementTests(alternatives) + namesBehind(path).length + ELEMENT,
      0,
    ),
  };
};
