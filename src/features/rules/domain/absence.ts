import type { Alternative } from './conditions/alternatives.js';
import { isProblem } from './conditions/problem.js';
import { isCel, readCondition } from './conditions/read-condition.js';
import type { RuleCondition } from './ruleset.js';

/** What the game or the model may leave out. The type of an action is always there. */
const MAY_BE_MISSING: readonly string[] = ['state', 'context', 'facts', 'action'];

const isOther = ({ is }: Alternative): boolean => is === 'other';
const isAbsent = ({ is }: Alternative): boolean => is === 'absent';

/**
 * A warning about a condition with `!=` of a rule that forbids: it does not hold while nothing is there, so that the rule forbids nothing. Null if it
 * covers that case, or cannot be read.
 */
export const absenceWarning = ([key, value]: RuleCondition): string | null => {
  const read = readCondition([key, value]);
  if (isProblem(read) || isCel(read)) return null;
  if (!read.alternatives.some(isOther) || read.alternatives.some(isAbsent)) return null;
  const { root, names, letter } = read.path;
  if (letter !== undefined || !MAY_BE_MISSING.includes(root) || (root === 'action' && names[0] === 'type')) return null;
  const listed = value.replace(/^\s*!=\s*/, '');
  return `While ${key} is missing, ${value} does not hold, and the rule forbids nothing. If it should forbid then too, write !|${value}; for a list without such an element, none(${listed}).`;
};
